"""Celery tasks of memories: each calls one function in every space."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from memories.purging import memories_purge, previews_purge


@shared_task(name="memories.purge")
def purge() -> None:
    """Delete memories that expired a week ago."""
    spaces_sweep(memories_purge, previews_purge)
