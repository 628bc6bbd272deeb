"""Which database login does what."""

from typing import Any


class OwnerMigrates:
    """Send schema changes to the owner's login and everything else to the application's."""

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        """Return True for the alias `owner` only: the application's role owns nothing."""
        return db == "owner"

    def allow_relation(self, obj1: Any, obj2: Any, **hints: Any) -> bool:
        """Return True: both aliases are one database."""
        return True
