"""Make the first account, space and key; safe to repeat. Prints one JSON line: what was made, or {}."""

import json
import secrets
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import transaction

from accounts.access import Access, space_set
from accounts.models import Membership, Role, Space, User
from accounts.services import space_create
from apikeys.keys import key_digest
from apikeys.models import ApiKey
from apikeys.services import apikey_create, apikey_revoke

GLOBAL_KEY = "global"
FIRST_SPACE = "Personal"


class Command(BaseCommand):
    """bootstrap: the first account from OMP_OWNER_EMAIL, OMP_OWNER_PASSWORD and OMP_API_KEY, or generated."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing and print it."""
        with transaction.atomic():
            made = self.first_account() if not User.objects.exists() else {}
            if settings.OMP_API_KEY:
                self.global_key()
        self.stdout.write(json.dumps(made))

    def first_account(self) -> dict[str, str]:
        """Return e-mail, password, space and key of the first account, which may use the admin console."""
        email = settings.OMP_OWNER_EMAIL or "owner@localhost.localdomain"
        password = settings.OMP_OWNER_PASSWORD or secrets.token_urlsafe(12)
        user = User.objects.create_superuser(email, password)
        # The operator's own account has nobody to verify its address for it.
        EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
        space = space_create(owner=user, name=FIRST_SPACE)
        made = {"email": email, "password": password, "space": space.name, "key": settings.OMP_API_KEY}
        if not settings.OMP_API_KEY:
            space_set(space.pk)
            _, made["key"] = apikey_create(access=Access.system(space.pk), space=space, user=user, name="first key")
        return made

    def global_key(self) -> None:
        """Make OMP_API_KEY the one global key of the first space, in place of an earlier one."""
        space = Space.objects.order_by("pk").first()
        if space is None:
            return
        owner = Membership.objects.select_related("user").get(space=space, role=Role.OWNER).user
        space_set(space.pk)
        access = Access.system(space.pk)
        digest = key_digest(settings.OMP_API_KEY)
        for old in ApiKey.objects.usable().filter(space=space, name=GLOBAL_KEY).exclude(digest=digest):
            apikey_revoke(access=access, apikey=old)
        if not ApiKey.objects.filter(digest=digest).exists():
            apikey_create(access=access, space=space, user=owner, name=GLOBAL_KEY, key=settings.OMP_API_KEY)
