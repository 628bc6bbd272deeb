"""Celery tasks: each takes ids, re-reads and calls one function."""

from celery import shared_task

from accounts.sweeping import spaces_sweep
from aiworker import fairness, sweeping
from aiworker.embedding import tasks as embedding_tasks

__all__ = ["embedding_tasks", "jobs_run", "jobs_sweep"]


@shared_task(name="jobs.run")
def jobs_run(space_id: int, job_id: str) -> None:
    """Do a job of the queue that this message came by: the one whose space has waited longest."""
    fairness.turn_take(space_id=space_id, job_id=job_id)


@shared_task(name="jobs.sweep")
def jobs_sweep() -> None:
    """Send the messages of lost jobs again."""
    sweeping.jobs_sweep()


@shared_task(name="jobs.purge")
def jobs_purge() -> None:
    """Delete jobs that ended long ago."""
    spaces_sweep(sweeping.jobs_purge)
