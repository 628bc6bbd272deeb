"""Actions that wait for the owner's approval, and every step that they took."""

from typing import ClassVar

from django.db import models

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet


class Status(models.TextChoices):
    """Where an action is; actions.rules holds the table of moves."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    EXECUTING = "executing"
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


LIVE = (Status.PENDING, Status.APPROVED, Status.EXECUTING)


class Action(models.Model):
    """Something that a tool wants to do and only the owner may allow.

    A trigger in the database keeps what was proposed from ever changing.
    """

    pk = models.CompositePrimaryKey("space_id", "number")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveBigIntegerField()
    action_class = models.CharField(max_length=100)
    summary = models.CharField(max_length=1_000)
    payload = models.JSONField()
    preconditions = models.JSONField(default=list)
    meta = models.JSONField(default=dict)
    idempotency_key = models.CharField(max_length=255)
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of the canonical class, payload and preconditions.")
    status = models.CharField(max_length=9, choices=Status, default=Status.PENDING)
    proposer_kind = models.CharField(max_length=10)
    proposer_id = models.CharField(max_length=64, blank=True)
    proposer_name = models.CharField(max_length=100, blank=True)
    executor_kind = models.CharField(max_length=10, blank=True, default="")
    executor_id = models.CharField(max_length=64, blank=True, default="")
    receipt = models.JSONField(null=True)
    expires_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True, help_text="When the system moves it on; null once it has ended.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "idempotency_key"], name="actions_action_idempotency_unique"),
            models.CheckConstraint(
                condition=models.Q(
                    status__in=[
                        "pending", "approved", "rejected", "cancelled", "executing", "done", "failed", "expired",
                    ]
                ),
                name="actions_action_status_valid",
            ),
            models.CheckConstraint(
                condition=models.Q(deadline__isnull=False, status__in=["pending", "approved", "executing"])
                | models.Q(deadline__isnull=True, status__in=["rejected", "cancelled", "done", "failed", "expired"]),
                name="actions_action_deadline_while_live",
            ),
        ]  # fmt: skip
        indexes = [
            models.Index(
                fields=["space", "deadline"], condition=models.Q(deadline__isnull=False), name="actions_action_live"
            )
        ]

    def __str__(self) -> str:
        return self.short_id

    @property
    def short_id(self) -> str:
        """Return the id that people and tools use: A and the number."""
        return f"A{self.number}"

    def proposed_by(self, access: Access) -> bool:
        """Return whether this credential proposed it."""
        return (access.actor_kind, access.actor_id) == (self.proposer_kind, self.proposer_id)

    def taken_by(self, access: Access) -> bool:
        """Return whether this credential took it for execution."""
        return (access.actor_kind, access.actor_id) == (self.executor_kind, self.executor_id)


class ActionStep(models.Model):
    """One move of an action: who, from what to what, when, with which receipt."""

    pk = models.CompositePrimaryKey("space_id", "number", "seq")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveBigIntegerField()
    seq = models.PositiveSmallIntegerField()
    from_status = models.CharField(max_length=9)
    to_status = models.CharField(max_length=9)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=100, blank=True)
    receipt = models.JSONField(null=True)
    at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"A{self.number}: {self.from_status} -> {self.to_status}"


class ActionCounter(models.Model):
    """The last number that a space has given. Whoever proposes holds its row until the commit."""

    space = models.OneToOneField(Space, on_delete=models.CASCADE, related_name="+", primary_key=True)
    last = models.PositiveBigIntegerField(default=0)

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.space_id}: {self.last}"
