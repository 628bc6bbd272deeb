"""Grants: what a person has let an assistant do in one of their spaces, by OAuth."""

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from oauth2_provider.models import Application

from accounts.models import Space, User


class GrantQuerySet(models.QuerySet["Grant"]):
    """Grants of all spaces; pages filter by space and person."""

    def usable(self) -> Self:
        """Return the grants that are not revoked."""
        return self.filter(revoked_at=None)

    def connected(self) -> Self:
        """Return the usable grants whose assistant has come for its tokens."""
        return self.usable().filter(connected_at__isnull=False)


class Grant(models.Model):
    """A person's consent, as limited as a key. Its tokens are django-oauth-toolkit's rows, found by their family."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="grants")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="grants")
    application = models.ForeignKey(Application, on_delete=models.CASCADE, related_name="grants")
    name = models.CharField(max_length=100, help_text="What lists call the assistant.")
    tool = models.CharField(max_length=100, help_text="The only source.tool that it writes.")
    scopes = ArrayField(models.CharField(max_length=10), help_text="Of read, write and propose.")
    family = models.UUIDField(unique=True, default=uuid.uuid4, help_text="The family of its refresh tokens.")
    code = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the authorization code, in hexadecimal.")
    created_at = models.DateTimeField(db_default=Now())
    connected_at = models.DateTimeField(null=True, help_text="When the code was exchanged.")
    last_used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = GrantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=["read", "write", "propose"]), name="grants_grant_scopes_valid"
            )
        ]
        indexes = [models.Index(fields=["space", "created_at"], name="grants_grant_space")]

    def __str__(self) -> str:
        return f"{self.name} ({self.pk})"

    def revoke(self) -> bool:
        """Refuse this grant from now on; return whether it was usable until now."""
        changed = type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
        self.refresh_from_db(fields=["revoked_at"])
        return bool(changed)
