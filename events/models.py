"""The append-only log of what happened in a space: who, what, which ids, from where, never any text."""

from typing import Any, ClassVar, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from accounts.access import Access
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet

LIMITED_KINDS = ("memory", "conversation", "job", "dream", "suggestion")


class EventQuerySet(SpaceOwnedQuerySet["Event"]):
    """Events, through an access."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the events of the space; of what limits may hide, a limited access sees only its own doings.

        An event names ids, and tells of each that it exists and who works with it.
        """
        rows = super().visible_to(access)
        if access is None or not access.limited:
            return rows
        own = models.Q(actor_kind=access.actor_kind, actor_id=access.actor_id)
        return rows.filter(own | ~models.Q(object_kind__in=LIMITED_KINDS))


class Event(models.Model):
    """One fact of the log. Rows are only ever added; retention removes the oldest."""

    pk = models.CompositePrimaryKey("space_id", "id")
    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="+")
    id = models.BigIntegerField(db_default=models.Func(function="nextval", template="nextval('events_event_id_seq')"))
    type = models.CharField(max_length=40)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_name = models.CharField(max_length=100, blank=True)
    object_kind = models.CharField(max_length=20, blank=True)
    object_ids = ArrayField(models.CharField(max_length=128), default=list)
    at = models.DateTimeField(db_default=Now())
    ip = models.GenericIPAddressField(null=True)
    channel = models.CharField(max_length=10)
    request_id = models.CharField(max_length=64, blank=True)
    details = models.JSONField(default=dict)

    objects: ClassVar[Any] = EventQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["space", "at"], name="events_event_space_at")]

    def __str__(self) -> str:
        return f"{self.type} {self.id}"
