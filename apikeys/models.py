"""API keys: what a tool shows to be let in."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Space, User


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    """API keys of all spaces; pages filter by space."""

    def usable(self) -> Self:
        """Return the keys that are neither revoked nor expired."""
        return self.filter(models.Q(expires_at=None) | models.Q(expires_at__gt=timezone.now()), revoked_at=None)


class ApiKey(models.Model):
    """A person's key to one space, as wide as its scopes and limits; only a digest of it is stored."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="api_keys")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=100)
    digest = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=16)
    scopes = ArrayField(models.CharField(max_length=32))
    tool = models.CharField(max_length=100, null=True, help_text="The only source.tool that it writes.")
    read_tools = ArrayField(models.CharField(max_length=100), null=True, help_text="Null: memories of every tool.")
    namespaces = ArrayField(models.CharField(max_length=100), null=True, help_text="Null: every namespace and none.")
    types = ArrayField(models.CharField(max_length=10), null=True, help_text="Null: memories of every type.")
    quarantine = models.BooleanField(default=False, help_text="What it writes waits for the owner.")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(scopes__contains=["actions:propose", "actions:decide"]),
                name="apikeys_apikey_not_propose_and_decide",
            )
        ]
        indexes = [models.Index(fields=["space", "created_at"], name="apikeys_apikey_space")]

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name})"

    def revoke(self) -> None:
        """Refuse this key from now on."""
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=timezone.now())
        self.refresh_from_db(fields=["revoked_at"])
