"""The one door to the broker: a message names a task and carries ids, never text or secrets."""

import logging

from django.db import transaction
from kombu.exceptions import OperationalError

from config.celery import app

logger = logging.getLogger(__name__)


def enqueue(task_name: str, queue: str, *, countdown: float = 0, **ids: int | str) -> None:
    """Send a task to a queue once the caller's transaction has committed; at once outside of one.

    A broker that is away loses the message and costs one log line: PostgreSQL holds the work, and the periodic
    sweep sends the message again.
    """

    def send() -> None:
        try:
            app.send_task(task_name, kwargs=ids, queue=queue, countdown=countdown or None)
        except (OperationalError, OSError):
            logger.warning("the broker is away; the sweep will send %s again", task_name)

    transaction.on_commit(send)
