"""Doing jobs, each exactly once however often workers die.

A worker claims the row, and each attempt has a number: what an attempt writes about the job holds only while it is the
latest. A job's function commits its work piece by piece together with its progress, so that the next attempt goes on
where the last one was killed. A worker that works gives signs of life; after its last attempt a job is a dead letter.
"""

import logging
import time
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.access import Access, space_transaction
from aiworker.jobaccess import access_load
from aiworker.jobs import GAVE_UP, KINDS, OPEN, job_end, job_enqueue
from aiworker.models import Job
from api.errors import ApiError

logger = logging.getLogger(__name__)

SILENT_SECONDS = 30  # without a sign of life for so long, a running job's worker is taken for dead
TURN_SECONDS = 30.0
CATCH_UP = 4.0  # a turn is at least so many times as long as it takes to come to where the last one ended


class JobStopped(Exception):
    """The job was cancelled, deleted or taken over by a later attempt: the function ends without a word."""


class JobPaused(Exception):
    """The job has had its turn: it goes to the end of its queue and goes on from its state when it is called again."""


class Turn:
    """How long a job may go on before others have theirs; a job that can go on from its state asks between its steps.

    To read a file again up to where the last turn ended takes time as well, so a turn lasts a multiple of that.
    """

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.ends: float | None = None

    def check(self) -> None:
        """Raise JobPaused when the turn is over; the first step is always taken."""
        now = time.monotonic()
        if self.ends is None:
            self.ends = now + max(TURN_SECONDS, CATCH_UP * (now - self.began))
        elif now > self.ends:
            raise JobPaused


def attempt(access: Access, job: Job) -> Any:
    """Return the row of a job while this attempt at it is the latest and it has not ended, else none."""
    return Job.objects.visible_to(access).filter(id=job.id, status=Job.Status.RUNNING, attempts=job.attempts)


@dataclass
class Progress:
    """How a job's function tells how far it is and learns that it should stop."""

    access: Access
    job: Job
    stop: Event = field(default_factory=Event)

    def advance(self, done: int, total: int | None = None, state: Any = None) -> None:
        """Record how far the job is; inside the caller's transaction, so that work and progress are one.

        `state` is what the next attempt needs to go on from here; it finds it in job.params["state"].
        Raises JobStopped.
        """
        if not connection.in_atomic_block:
            with space_transaction(self.access):
                return self.advance(done, total, state)
        changes: dict[str, Any] = {"done": done, "alive_at": timezone.now()}
        if total is not None:
            changes["total"] = total
        if state is not None:
            changes["params"] = self.job.params | {"state": state}
        self._update(**changes)
        for name, value in changes.items():
            setattr(self.job, name, value)
        return None

    def check_cancelled(self) -> None:
        """Raise JobStopped when the job is to stop; costs nothing, so call it between any two steps."""
        if self.stop.is_set():
            raise JobStopped

    def sign_of_life(self) -> None:
        """Tell that the worker lives, and note a cancellation for check_cancelled."""
        try:
            with space_transaction(self.access):
                self._update(alive_at=timezone.now())
        except JobStopped:
            self.stop.set()

    def _update(self, **changes: Any) -> None:
        if not attempt(self.access, self.job).update(**changes):
            raise JobStopped


class Heartbeat(Thread):
    """Gives signs of life for a job while its function works or waits."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(daemon=True, name=f"heartbeat {progress.job.id}")
        self.progress, self.over = progress, Event()

    def __enter__(self) -> "Heartbeat":
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.over.set()
        self.join()

    def run(self) -> None:
        """Give a sign of life a few times within the span after which the job would be taken for lost."""
        while not self.over.wait(SILENT_SECONDS / 4):
            try:
                self.progress.sign_of_life()
            except DatabaseError as error:
                logger.warning("no sign of life for %s: %s", self.progress.job.id, type(error).__name__)
            finally:
                connection.close()


def job_run(*, space_id: int, job_id: str) -> bool:
    """Do a job, or go on with one whose worker died; return False when it has ended or is in other hands."""
    job = _claim(space_id, job_id)
    if job is None:
        return False
    try:
        result = _result(job)
    except JobStopped:
        return True
    except JobPaused:
        _requeue(job, params=job.params | {"pauses": job.params.get("pauses", 0) + 1})
    except ApiError as error:
        _end_attempt(job, Job.Status.FAILED, error=error.envelope())
    except Exception as error:
        # The exception's text may quote what the job works on: its type alone is written.
        logger.error("job %s of kind %s: %s", job.id, job.kind, type(error).__name__)
        if _tries(job) < KINDS[job.kind].attempts:
            _requeue(job, countdown=2**job.attempts)
        else:
            _end_attempt(job, Job.Status.FAILED, error=_gave_up(f"It failed {_tries(job)} times."))
    else:
        _end_attempt(job, Job.Status.SUCCEEDED, result=result)
    return True


def _result(job: Job) -> dict[str, Any]:
    """Run a job's function as its credential may run it now and return what it answers."""
    kind = KINDS[job.kind]
    with transaction.atomic():
        access = access_load(job.access)
        access.require(kind.scope)
    progress = Progress(access, job)
    with Heartbeat(progress):
        result: dict[str, Any] = import_string(kind.run)(access, job, progress)
    return result


def _gave_up(sentence: str) -> dict[str, Any]:
    return {"error": GAVE_UP, "message": sentence, "details": {}}


def _claim(space_id: int, job_id: str) -> Job | None:
    """Return the job as this worker's next attempt, None when there is nothing to do."""
    system = Access.system(space_id)
    with space_transaction(system):
        job = Job.objects.visible_to(system).select_for_update(skip_locked=True).filter(id=job_id).first()
        if job is None or job.status not in OPEN:
            return None
        silent = (timezone.now() - (job.alive_at or job.created_at)).total_seconds()
        if job.status == Job.Status.RUNNING and silent < SILENT_SECONDS:
            return None
        if _tries(job) >= KINDS[job.kind].attempts:
            job_end(system, job, Job.Status.FAILED, error=_gave_up(f"Its worker died {_tries(job)} times."))
            return None
        job.status, job.attempts, job.alive_at = Job.Status.RUNNING, job.attempts + 1, timezone.now()
        job.save(update_fields=["status", "attempts", "alive_at"])
    return job


def _tries(job: Job) -> int:
    """Return how often a job has been begun without getting to its end or to a pause."""
    return job.attempts - int(job.params.get("pauses", 0))


def _requeue(job: Job, *, countdown: float = 0, **changes: Any) -> None:
    """Put a job at the end of its queue, after so many seconds, unless a later attempt has it or it was cancelled."""
    system = Access.system(job.space_id)
    with space_transaction(system):
        if attempt(system, job).update(status=Job.Status.QUEUED, alive_at=timezone.now(), **changes):
            job_enqueue(job, countdown=countdown)


def _end_attempt(job: Job, status: str, **outcome: Any) -> None:
    """End a job unless a later attempt has it or it was cancelled."""
    system = Access.system(job.space_id)
    with space_transaction(system):
        locked = attempt(system, job).select_for_update().first()
        if locked is not None:
            job_end(system, locked, status, **outcome)
