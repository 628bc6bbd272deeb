"""How many memories a space may hold."""

from django.conf import settings
from django.db.models import Count, OuterRef, Subquery

from accounts.access import Access
from accounts.models import Space
from api.errors import Forbidden
from config.valkey import breaker, client
from memories.models import Memory

KEPT_SECONDS = 600


class QuotaFull(Forbidden):
    """403: the space holds as many memories as it may; there is `room` for fewer than were to be added."""

    def __init__(self, limit: int, room: int) -> None:
        self.room = room
        super().__init__(
            f"The space is full: it may hold {limit} memories. Delete some, or ask the operator.", {"limit": limit}
        )


def quota_take(access: Access, adding: int) -> None:
    """Count `adding` memories against the space's quota. Raises QuotaFull when they do not fit, and counts none.

    A running count in Redis keeps the database from counting on every write; it is only ever too high (deletes are
    not subtracted), and whenever it says no, the rows are counted. While Redis is away nothing is refused.
    """
    _admit(access, adding, counted=adding)


def quota_check(access: Access) -> None:
    """Raise QuotaFull when there is no room for even one memory more; this counts nothing."""
    _admit(access, 1, counted=0)


def _admit(access: Access, adding: int, *, counted: int) -> None:
    """Raise QuotaFull unless there is room for `adding`, of which `counted` are counted from now on."""
    if not settings.QUOTAS_ON:
        return
    key, limit_key = _keys(access.space_id)
    reading = client().pipeline(transaction=False)
    reading.incrby(key, counted)
    reading.get(limit_key)
    answer = breaker.call(reading.execute)
    if answer is None:
        return
    known, kept = answer
    absent = known == counted
    if not absent and known - counted + adding <= (settings.QUOTA_MEMORIES if kept is None else int(kept)):
        return
    held, limit = _counted(access.space_id)
    fits = held + adding <= limit
    writing = client().pipeline(transaction=False)
    writing.set(key, held + counted if fits else held, ex=KEPT_SECONDS)
    if limit != settings.QUOTA_MEMORIES:
        writing.set(limit_key, limit, ex=2 * KEPT_SECONDS)
    breaker.call(writing.execute)
    if not fits:
        raise QuotaFull(limit, max(0, limit - held))


def quota_forget(space_id: int) -> None:
    """Count and look the space's plan up anew at its next write."""
    breaker.call(lambda: client().delete(*_keys(space_id)))


def _keys(space_id: int) -> tuple[str, str]:
    return f"quota:memories:{space_id}", f"quota:limit:{space_id}"


def _counted(space_id: int) -> tuple[int, int]:
    """Return how many memories a space holds and how many it may hold: its plan says, or the settings."""
    held = Memory.objects.filter(space_id=OuterRef("pk")).order_by().values("space_id").annotate(n=Count("*"))
    row = Space.objects.filter(pk=space_id).annotate(held=Subquery(held.values("n")))
    found, planned = row.values_list("held", "plan__memories").get()
    return found or 0, settings.QUOTA_MEMORIES if planned is None else planned
