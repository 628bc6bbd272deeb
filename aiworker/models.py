"""Jobs: work that outlives a request."""

import secrets
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models.functions import Now

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet
from memories.models import ALPHABET


def job_id_generate() -> str:
    """Return a new id: `job_` and 16 random characters of a-z and 0-9."""
    return "job_" + "".join(secrets.choice(ALPHABET) for _ in range(16))


class JobQuerySet(SpaceOwnedQuerySet["Job"]):
    """Jobs, through an access."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the space's jobs; to an access that may not read every memory, only the jobs it asked for.

        A job's result may show memories.
        """
        rows = super().visible_to(access)
        if access is None or (access.may("memories:read") and not access.limited):
            return rows
        return rows.filter(access__actor_kind=access.actor_kind, access__actor_id=access.actor_id)


class Job(models.Model):
    """A piece of work of one space, done by a worker: what it is, how far it is, how it ended."""

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        SUCCEEDED = "succeeded"
        FAILED = "failed"
        CANCELLED = "cancelled"

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=20, default=job_id_generate)
    kind = models.CharField(max_length=20)
    status = models.CharField(max_length=9, choices=Status, default=Status.QUEUED)
    access = models.JSONField(help_text="Who asked: ids and limits from which a worker rebuilds the access.")
    params = models.JSONField(default=dict)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True)
    result = models.JSONField(null=True)
    error = models.JSONField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    alive_at = models.DateTimeField(null=True, help_text="The worker's last sign of life.")
    finished_at = models.DateTimeField(null=True)

    objects: ClassVar[Any] = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["queued", "running", "succeeded", "failed", "cancelled"]),
                name="aiworker_job_status_valid",
            )
        ]
        indexes = [
            models.Index(fields=["space", "created_at"], name="aiworker_job_space"),
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["queued", "running"]),
                name="aiworker_job_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class JobInput(models.Model):
    """A piece of the bytes that a job works on, removed when the job ends."""

    pk = models.CompositePrimaryKey("space_id", "job_id", "seq")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    job_id = models.CharField(max_length=20)
    seq = models.PositiveIntegerField()
    data = models.BinaryField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.job_id} {self.seq}"


class AiUsage(models.Model):
    """What a space's calls of one model came to on one day (UTC)."""

    pk = models.CompositePrimaryKey("space_id", "day", "provider", "model", "purpose")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=100)
    purpose = models.CharField(max_length=20)
    calls = models.PositiveBigIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    cost_micros = models.BigIntegerField(null=True, help_text="Millionths of a US dollar; null: price not known.")

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.day} {self.provider} {self.model} {self.purpose}"


class JobTurn(models.Model):
    """When a space last had its turn in a queue, so that the next free worker serves another one first."""

    pk = models.CompositePrimaryKey("space_id", "queue")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    queue = models.CharField(max_length=20)
    at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.queue} {self.at}"
