"""Dreams: runs in which a client's model tidies the memory up, what each changed, and what it suggests.

No text of a fact is kept here: a change names the versions before and after, and the memory's own history holds them.
Deleting a memory therefore leaves nothing to bring it back; a trigger also takes away what a model wrote about it.
"""

import secrets
from datetime import datetime, timedelta
from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet
from memories.models import ALPHABET

UNDO_FOR = timedelta(days=7)


def _random() -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(16))


def run_id_generate() -> str:
    """Return a new id: `dream_` and 16 random characters of a-z and 0-9."""
    return f"dream_{_random()}"


def suggestion_id_generate() -> str:
    """Return a new id: `sug_` and 16 random characters of a-z and 0-9."""
    return f"sug_{_random()}"


class DreamRun(models.Model):
    """One dream: who has it, what it was shown, and how it ended."""

    class Status(models.TextChoices):
        PENDING = "pending"
        LEASED = "leased"
        APPLIED = "applied"
        NO_CHANGES = "no_changes"
        FAILED = "failed"
        CANCELLED = "cancelled"
        UNDONE = "undone"

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=22, default=run_id_generate)
    status = models.CharField(max_length=10, choices=Status, default=Status.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_kind = models.CharField(max_length=10, blank=True, default="")
    lease_id = models.CharField(max_length=64, blank=True, default="")
    lease_until = models.DateTimeField(null=True)
    snapshot = models.JSONField(default=list, help_text="[id, version] of each fact shown, in their order.")
    journal = ArrayField(models.CharField(max_length=20), default=list, help_text="The journal entries shown.")
    max_changes = models.PositiveSmallIntegerField(default=0)
    max_leaving = models.PositiveSmallIntegerField(default=0)
    result_digest = models.BinaryField(max_length=32, null=True)
    applied = models.PositiveSmallIntegerField(default=0)
    rejected = models.JSONField(default=list, help_text="[{index, code, message}], without text of the submission.")
    summary = models.TextField(default="", blank=True)
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    status__in=["pending", "leased", "applied", "no_changes", "failed", "cancelled", "undone"]
                ),
                name="dreams_run_status_valid",
            ),
            models.UniqueConstraint(
                fields=["space"],
                condition=models.Q(status__in=["pending", "leased"]),
                name="dreams_run_one_live",
            ),
        ]
        indexes = [models.Index(fields=["space", "created_at", "id"], name="dreams_run_created")]

    def __str__(self) -> str:
        return self.id

    @property
    def versions(self) -> dict[str, int]:
        """Return the version at which each fact was shown, by id, in their order."""
        return dict(self.snapshot)

    @property
    def undo_until(self) -> datetime | None:
        """Return until when this run can be undone."""
        return self.applied_at + UNDO_FOR if self.applied_at else None

    def leased_by(self, access: Access) -> bool:
        """Return whether this credential holds, or last held, the lease."""
        return (access.actor_kind, access.actor_id) == (self.lease_kind, self.lease_id)


LIVE = (DreamRun.Status.PENDING, DreamRun.Status.LEASED)


class DreamChange(models.Model):
    """What a dream did to some facts: the version that each had before and after."""

    class Status(models.TextChoices):
        APPLIED = "applied"
        UNDONE = "undone"
        SKIPPED = "skipped"

    pk = models.CompositePrimaryKey("space_id", "run_id", "seq")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    run_id = models.CharField(max_length=22)
    seq = models.PositiveSmallIntegerField()
    op = models.CharField(max_length=10)
    memory_ids = ArrayField(models.CharField(max_length=20))
    before = models.JSONField(default=dict, help_text="Memory id -> version; purged when undo is over.")
    after = models.JSONField(default=dict, help_text="Memory id -> version; purged when undo is over.")
    evidence = ArrayField(models.CharField(max_length=40), default=list)
    reason = models.CharField(max_length=500, blank=True, default="")
    status = models.CharField(max_length=10, choices=Status, default=Status.APPLIED)

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.run_id} {self.seq}: {self.op}"


class DreamSuggestion(models.Model):
    """Something about facts that a dream may not do and the owner may."""

    class Kind(models.TextChoices):
        CORE = "core"
        CONTRADICTION = "contradiction"
        DELETE = "delete"

    class Status(models.TextChoices):
        OPEN = "open"
        ACCEPTED = "accepted"
        DISMISSED = "dismissed"

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=20, default=suggestion_id_generate)
    run_id = models.CharField(max_length=22)
    kind = models.CharField(max_length=13, choices=Kind)
    memory_ids = ArrayField(models.CharField(max_length=20))
    text = models.CharField(max_length=500)
    status = models.CharField(max_length=9, choices=Status, default=Status.OPEN)
    created_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    decided_kind = models.CharField(max_length=10, blank=True, default="")
    decided_id = models.CharField(max_length=64, blank=True, default="")
    decided_name = models.CharField(max_length=100, blank=True, default="")

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["space", "status", "created_at", "id"], name="dreams_suggestion_status")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["open", "accepted", "dismissed"]), name="dreams_suggestion_status_valid"
            )
        ]

    def __str__(self) -> str:
        return self.id
