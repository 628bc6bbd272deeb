"""Celery tasks of what every JSON endpoint shares."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from api.idempotency import answers_purge


@shared_task(name="api.purge")
def purge() -> None:
    """Drop stored answers whose repetitions are no longer recognised."""
    spaces_sweep(answers_purge)
