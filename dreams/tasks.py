"""Celery tasks of dreams."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from dreams.runs import leases_reap, snapshots_purge


@shared_task(name="dreams.reap")
def reap() -> None:
    """Take back leases that are over."""
    spaces_sweep(leases_reap)


@shared_task(name="dreams.purge")
def purge() -> None:
    """Remove the before-images of dreams that can no longer be undone."""
    spaces_sweep(snapshots_purge)
