"""Make an API key, with its person and space when they are absent; print the key and nothing else.

That a person or a space is new goes to the standard error: a misspelt address would make a key that finds nothing.
"""

from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.core.validators import validate_email
from django.db import transaction
from django.utils import timezone

from accounts.access import Access, space_set
from accounts.models import Membership
from accounts.permissions import scopes_parse
from accounts.services import user_with_space
from api.timestamps import timestamp_parse
from apikeys.services import apikey_create
from memories.models import Memory

MAX_NAME = 100
MAX_DAYS = 3650


def comma_list(text: str) -> list[str]:
    """Return the parts of a comma-separated list, blanks left out."""
    return [part.strip() for part in text.split(",") if part.strip()]


def expiry(text: str) -> datetime:
    """Return the moment that a number of days from now, or an RFC 3339 time to come, names; raise CommandError."""
    now = timezone.now()
    try:
        moment = now + timedelta(days=min(int(text), MAX_DAYS + 1)) if text.isdecimal() else timestamp_parse(text)
    except ValueError as error:
        raise CommandError(f"--expires takes a number of days or a time: {error}") from None
    if moment <= now or (text.isdecimal() and moment > now + timedelta(days=MAX_DAYS)):
        raise CommandError(f"--expires takes 1 to {MAX_DAYS} days, or a time to come.")
    return moment


def limits_check(options: dict[str, Any]) -> None:
    """Raise CommandError for a name, a limit or a type that no key can have."""
    for option in ("space", "name", "tool", "read_tools", "namespaces"):
        given = options[option]
        values = given if isinstance(given, list) else [] if given is None else [given]
        if not all(value.strip() and len(value) <= MAX_NAME for value in values):
            raise CommandError(f"--{option.replace('_', '-')} takes 1 to {MAX_NAME} characters for each name.")
    unknown = set(options["types"] or ()) - set(Memory.Type.values)
    if unknown:
        raise CommandError(f"--types takes {', '.join(Memory.Type.values)}; there is no {sorted(unknown)[0]!r}.")


class Command(BaseCommand):
    """createkey --email E --space NAME [--tool T] [--scopes a,b] [--read-tools x,y] [--namespaces p,q]."""

    help = __doc__
    requires_system_checks: list[str] = []  # they would double the time that a key takes

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the options."""
        parser.add_argument("--email", required=True, help="the person whose key it is")
        parser.add_argument("--space", required=True, help="the space's name")
        parser.add_argument("--name", help="how lists show the key; by default the tool's name")
        parser.add_argument("--tool", help="bind the key: it writes this source.tool only")
        parser.add_argument("--scopes", default="full", help="full (default), read, or a comma-separated list")
        parser.add_argument("--read-tools", type=comma_list, help="read the memories of these tools only")
        parser.add_argument("--namespaces", type=comma_list, help="read and write these namespaces only")
        parser.add_argument("--types", type=comma_list, help="read and write memories of these types only")
        parser.add_argument("--expires", help="after so many days, or at an RFC 3339 time; by default never")
        parser.add_argument("--quarantine", action="store_true", help="what it writes waits for the owner")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the key and print it."""
        try:
            validate_email(options["email"])
            scopes = scopes_parse(options["scopes"])
        except ValidationError:
            raise CommandError(f"{options['email']!r} is no e-mail address.") from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        limits_check(options)
        expires_at = None if options["expires"] is None else expiry(options["expires"].strip())
        if not scopes:
            raise CommandError("--scopes must name at least one scope: a key without any could do nothing.")
        with transaction.atomic():
            spaces = Membership.objects.filter(user__email=options["email"].strip().lower())
            known = spaces.filter(space__name=options["space"]).exists()
            user, space, created = user_with_space(email=options["email"], password=None, space_name=options["space"])
            space_set(space.pk)
            _, key = apikey_create(
                access=Access.system(space.pk), space=space, user=user, scopes=scopes,
                name=options["name"] or options["tool"] or "createkey", tool=options["tool"],
                read_tools=options["read_tools"], namespaces=options["namespaces"], types=options["types"],
                quarantine=options["quarantine"], expires_at=expires_at,
            )  # fmt: skip
        self.stdout.write(key)
        if created:
            self.stderr.write(
                f"{user.email} had no account; one is made, with the space {space.name}. "
                "“Forgot your password?” on the sign-in page gives it a password."
            )
        elif not known:
            self.stderr.write(f"{user.email} had no space {space.name}; one is made, and it is empty.")
