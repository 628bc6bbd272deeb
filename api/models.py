"""Stored answers of requests with an Idempotency-Key: the one table that the API itself keeps."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet


class IdempotentRequest(models.Model):
    """The first answer to a request, kept for 24 hours for its repetitions.

    The answer is sealed with a key that is derived from the client's Idempotency-Key, of which only a digest is
    kept: without the client's repetition nobody can read it, so a deleted text does not live on here.
    """

    pk = models.CompositePrimaryKey("space_id", "actor", "digest")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    actor = models.CharField(max_length=80, help_text="Kind and id of the credential.")
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the Idempotency-Key.")
    fingerprint = models.BinaryField(max_length=32, help_text="SHA-256 of method, address and body.")
    status = models.PositiveSmallIntegerField(null=True, help_text="Null while the first request runs.")
    headers = models.JSONField(default=dict)
    sealed_body = models.BinaryField(default=b"")
    object_ids = ArrayField(models.CharField(max_length=128), default=list)
    created_at = models.DateTimeField(db_default=Now())

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["space", "created_at"], name="api_idempotent_created")]

    def __str__(self) -> str:
        return bytes(self.digest).hex()
