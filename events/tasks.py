"""Celery tasks of the event log."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from events.retention import events_purge


@shared_task(name="events.purge")
def purge() -> None:
    """Delete events that are older than their space keeps them."""
    spaces_sweep(events_purge)
