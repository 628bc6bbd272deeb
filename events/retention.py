"""How long the event log is kept: as long as each space says."""

from datetime import timedelta

from accounts.access import Access
from accounts.models import Space
from api import clock
from events.models import Event

BATCH = 10_000


def events_purge(access: Access) -> int:
    """Delete the events of a space that are older than its `events_kept_days`; return how many."""
    days = Space.objects.values_list("events_kept_days", flat=True).get(pk=access.space_id)
    rows = Event.objects.visible_to(access).filter(at__lt=clock.now() - timedelta(days=days))
    old = list(rows.order_by("id").values_list("id", flat=True)[:BATCH])
    count: int = Event.objects.visible_to(access).filter(id__in=old).delete()[0]
    return count
