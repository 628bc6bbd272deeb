"""Django's migrate, run with the login that owns the tables, and what the application's login may do with them."""

from typing import Any

from django.core.management.base import CommandParser
from django.core.management.commands import migrate
from django.db import connections

ROLE = """
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'commonplace_app') THEN
    CREATE ROLE commonplace_app NOLOGIN;
  END IF;
  IF NOT pg_has_role(current_user, 'commonplace_app', 'MEMBER') THEN
    GRANT commonplace_app TO CURRENT_USER;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'the role commonplace_app must be made by an administrator';
END $$
"""
GRANTS = """
GRANT USAGE ON SCHEMA public TO commonplace_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO commonplace_app;
GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO commonplace_app;
REVOKE UPDATE ON events_event FROM commonplace_app; -- what happened is not changed afterwards
"""


class Command(migrate.Command):
    """Apply migrations on the alias `owner`, since the application's role owns nothing."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add migrate's own arguments with `owner` as the default database."""
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, then let the application's role use the tables."""
        connection = connections[options["database"]]
        changes = not (options["plan"] or options["check_unapplied"])
        if changes:
            with connection.cursor() as cursor:
                cursor.execute(ROLE)
        super().handle(*args, **options)
        if changes:
            with connection.cursor() as cursor:
                cursor.execute(GRANTS)
