"""Jobs: work that outlives a request. What they are, how they begin, and how one waits for them or stops them.

A job is a row; its message carries the row's id. Workers do it (aiworker.jobruns), spaces take turns
(aiworker.fairness), what gets lost is found (aiworker.sweeping).
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from accounts.access import Access, space_set, space_transaction
from aiworker.jobaccess import access_save
from aiworker.jobinputs import inputs_drop, inputs_store
from aiworker.models import Job
from aiworker.queue import enqueue
from api.errors import Conflict, NotFound
from events.services import event_record

OPEN = (Job.Status.QUEUED, Job.Status.RUNNING)
GAVE_UP = "gave_up"


@dataclass(frozen=True)
class Kind:
    """What a kind of job runs, in which queue, and which scope its credential must still hold.

    `run` is the dotted path of a function (access, job, progress) -> result; it opens its own transactions.
    """

    run: str
    queue: str
    scope: str
    attempts: int = 5


KINDS: dict[str, Kind] = {"import": Kind("memories.transfer.jobs.import_run", "import", "import")}


@transaction.atomic
def job_create(*, access: Access, kind: str, params: dict[str, Any], inputs: Iterable[bytes] = ()) -> Job:
    """Store a job with the bytes it works on, which may be long, and queue it when the transaction commits.

    `params` is JSON without secrets; `inputs` are pieces of any size.
    """
    space_set(access.space_id)
    job = Job.objects.create(space_id=access.space_id, kind=kind, access=access_save(access), params=params)
    inputs_store(access, job, inputs)
    job.refresh_from_db(fields=["created_at"])
    event_record(access=access, type="job.created", object_kind="job", object_ids=[job.id], details={"kind": kind})
    job_enqueue(job)
    return job


def job_enqueue(job: Job, *, countdown: float = 0) -> None:
    """Send a job's message on commit."""
    enqueue("jobs.run", KINDS[job.kind].queue, countdown=countdown, space_id=job.space_id, job_id=job.id)


def job_get(access: Access, job_id: str) -> Job:
    """Return a job that the access may see. Raises NotFound."""
    job = Job.objects.visible_to(access).filter(id=job_id).first()
    if job is None:
        raise NotFound("No job with this id is visible to this key.")
    return job


def job_wait(access: Access, job_id: str, seconds: float) -> Job:
    """Return a job once it has ended, or as it is after so many seconds. Call it outside of any transaction."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while True:
        with space_transaction(access):
            job = job_get(access, job_id)
        if job.status not in OPEN or time.monotonic() >= deadline:
            return job
        if pause > 0.2:
            connection.close()  # a long wait holds no connection (docs/adr/0003)
        time.sleep(min(pause, max(0.0, deadline - time.monotonic())))
        pause = min(pause * 1.5, 0.5)


@transaction.atomic
def job_cancel(*, access: Access, job_id: str) -> Job:
    """Stop a job; what it has committed stays. Raises NotFound, Forbidden, Conflict {current_status} when it ended."""
    space_set(access.space_id)
    job_get(access, job_id)
    job = Job.objects.visible_to(access).select_for_update().get(id=job_id)
    access.require(KINDS[job.kind].scope)
    if job.status not in OPEN:
        raise Conflict("The job has ended already.", {"current_status": job.status})
    job_end(access, job, Job.Status.CANCELLED)
    return job


def job_end(access: Access, job: Job, status: str, *, result: Any = None, error: dict[str, Any] | None = None) -> None:
    """Note how a locked job ended and drop its bytes; a dead letter keeps them, to be tried again."""
    job.status, job.result, job.error, job.finished_at = status, result, error, timezone.now()
    dead = error is not None and error["error"] == GAVE_UP
    if not dead:
        job.params.pop("state", None)
    job.save(update_fields=["status", "result", "error", "finished_at", "params"])
    if not dead:
        inputs_drop(access, job)
    event_record(
        access=access, type=f"job.{status}", object_kind="job", object_ids=[job.id],
        details={"kind": job.kind} | ({"error": error["error"]} if error else {}),
    )  # fmt: skip
