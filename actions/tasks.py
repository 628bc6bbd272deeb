"""Celery tasks of actions."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from actions.services import actions_expire


@shared_task(name="actions.expire")
def expire() -> None:
    """Let actions expire, approvals lapse and executions time out."""
    spaces_sweep(actions_expire)
