"""The notebook of a space: journal entries, records in collections, and key-value state."""

import secrets
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet
from memories.models import ALPHABET


def record_id_generate() -> str:
    """Return a new id: `rec_` and 16 random characters of a-z and 0-9."""
    return "rec_" + "".join(secrets.choice(ALPHABET) for _ in range(16))


class JournalEntry(models.Model):
    """What happened on a day or in a week, named by its Monday."""

    class Kind(models.TextChoices):
        DAY = "day"
        WEEK = "week"

    pk = models.CompositePrimaryKey("space_id", "kind", "date")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    kind = models.CharField(max_length=4, choices=Kind)
    date = models.DateField()
    summary = models.TextField(default="", blank=True)
    decisions = ArrayField(models.TextField(), default=list)
    open_loops = ArrayField(models.TextField(), default=list)
    source_refs = ArrayField(models.TextField(), default=list)
    version = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=["day", "week"]), name="notebook_journal_kind_valid"),
            models.CheckConstraint(
                condition=models.Q(kind="day") | models.Q(date__iso_week_day=1), name="notebook_journal_week_is_monday"
            ),
        ]
        indexes = [models.Index(fields=["space", "-date", "kind"], name="notebook_journal_date")]

    def __str__(self) -> str:
        return self.address

    @property
    def address(self) -> str:
        """Return the name by which events and dreams mean this entry: kind and date."""
        return f"{self.kind}:{self.date.isoformat()}"


class Record(models.Model):
    """A thing with a status and perhaps a due time, in a collection."""

    class Origin(models.TextChoices):
        USER = "user"
        AGENT = "agent"

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    id = models.CharField(max_length=20, default=record_id_generate)
    collection = models.CharField(max_length=100)
    key = models.CharField(max_length=200, null=True)
    status = models.CharField(max_length=50, default="open")
    due_at = models.DateTimeField(null=True)
    data = models.JSONField(default=dict)
    origin = models.CharField(max_length=5, choices=Origin, default=Origin.AGENT)
    version = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "collection", "key"], name="notebook_record_key_unique"),
            models.CheckConstraint(
                condition=models.Q(id__regex=r"^rec_[a-z0-9]{16}$"), name="notebook_record_id_valid"
            ),
            models.CheckConstraint(
                condition=models.Q(origin__in=["user", "agent"]), name="notebook_record_origin_valid"
            ),
        ]
        indexes = [
            models.Index(
                models.F("space"), models.F("collection"), models.F("due_at").asc(nulls_last=True), models.F("id"),
                name="notebook_record_collection",
            ),
            models.Index(
                models.F("space"), models.F("due_at").asc(nulls_last=True), models.F("id"),
                name="notebook_record_due",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return self.id


class KeyValue(models.Model):
    """A value under a namespace and key. A deleted one stays as a row without value, so that its version counts on."""

    pk = models.CompositePrimaryKey("space_id", "ns", "key")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+", db_index=False)
    ns = models.CharField(max_length=100)
    key = models.CharField(max_length=200)
    value: Any = models.JSONField(null=True)
    version = models.PositiveBigIntegerField(default=1)
    deleted = models.BooleanField(default=False, db_default=False)
    updated_at = models.DateTimeField()

    objects: ClassVar = SpaceOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return self.address

    @property
    def address(self) -> str:
        """Return the name by which events mean this value, cut to their length."""
        return f"{self.ns}/{self.key}"[:128]
