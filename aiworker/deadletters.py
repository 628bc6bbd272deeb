"""Dead letters: jobs that were given up, which the operator tries again or throws away without seeing their content."""

from typing import Any

from django.db import connection

from accounts.access import Access, space_transaction
from aiworker.jobinputs import inputs_drop
from aiworker.jobs import GAVE_UP, job_enqueue
from aiworker.models import Job
from events.services import event_record


def jobs_dead() -> list[tuple[int, str, str, int, Any]]:
    """Return the dead letters of all spaces, for the operator: space, id, kind, attempts, when they were given up."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT space_id, id, kind, attempts, finished_at FROM commonplace_jobs_dead()")
        return list(cursor.fetchall())


def jobs_open() -> list[tuple[str, str, int, Any]]:
    """Return the jobs of all spaces that wait or run: kind, status, how many, and since when the oldest is there."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT kind, status, count, oldest FROM commonplace_jobs_open()")
        return list(cursor.fetchall())


def _dead(system: Access, job_id: str) -> Job | None:
    rows = Job.objects.visible_to(system).filter(id=job_id, status=Job.Status.FAILED, error__error=GAVE_UP)
    job: Job | None = rows.select_for_update().first()
    return job


def dead_letter_retry(*, space_id: int, job_id: str, operator: str) -> bool:
    """Put a job that was given up back into its queue, as if new; return whether there was one."""
    system = Access.system(space_id)
    with space_transaction(system):
        job = _dead(system, job_id)
        if job is None:
            return False
        job.status, job.attempts, job.error, job.finished_at, job.alive_at = Job.Status.QUEUED, 0, None, None, None
        job.params.pop("pauses", None)  # they are counted against the attempts
        job.save(update_fields=["status", "attempts", "error", "finished_at", "alive_at", "params"])
        job_enqueue(job)
        _record(system, "job.retried", job, operator)
    return True


def dead_letter_discard(*, space_id: int, job_id: str, operator: str) -> bool:
    """Throw a job that was given up away, with what it worked on; return whether there was one."""
    system = Access.system(space_id)
    with space_transaction(system):
        job = _dead(system, job_id)
        if job is None:
            return False
        inputs_drop(system, job)
        job.error = {"error": "discarded", "message": "The operator discarded it.", "details": {}}
        job.save(update_fields=["error"])
        _record(system, "job.discarded", job, operator)
    return True


def _record(system: Access, type: str, job: Job, operator: str) -> None:
    event_record(
        access=system, type=type, object_kind="job", object_ids=[job.id],
        details={"kind": job.kind, "operator": operator},
    )  # fmt: skip
