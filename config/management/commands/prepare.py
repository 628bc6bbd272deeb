"""manage.py prepare: all that a release needs before it serves; safe to repeat. It ends with the line of bootstrap."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Migrate, make the model ready and the first account, in one process: each would take seconds to begin."""

    help = "Migrate the database, make the embedding model ready, make the first account, space and key."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, verbosity: int, **options: Any) -> None:
        """Do all three; without a model words still find, so a failure there is told and ends nothing."""
        call_command("migrate", verbosity=verbosity, skip_checks=True)
        call_command("preparemodel", soft=True)
        call_command("bootstrap", skip_checks=True)
