"""Jobs: work that outlives a request, done by a worker exactly once however often workers die.

A job is a row; its message carries the row's id. A worker claims the row, and each attempt has a number: what an
attempt writes about the job holds only while it is the latest. A job's function commits its work piece by piece
together with its progress, so that the next attempt goes on where the last one was killed. A worker that works gives
signs of life; the sweep sends the message of a silent job again. After its last attempt a job is a dead letter.
"""

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Event, Thread
from typing import Any

from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.access import Access, space_set, space_transaction
from aiworker.jobaccess import access_load, access_save
from aiworker.models import Job, JobInput
from aiworker.queue import enqueue
from api.errors import ApiError, Conflict, NotFound
from events.services import event_record

logger = logging.getLogger(__name__)

SILENT_SECONDS = 30  # without a sign of life for so long, a running job's worker is taken for dead
WAITING_SECONDS = 300  # queued for so long, a job's message is taken for lost; a second one does no harm
ENDED_KEPT = timedelta(days=30)
PIECE_BYTES = 1024 * 1024
KEPT_FROM = 1_000_000  # inputs from this number on are what a job's function keeps for its next attempt
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


class JobStopped(Exception):
    """The job was cancelled, deleted or taken over by a later attempt: the function ends without a word."""


class JobPaused(Exception):
    """The job has had its turn: it goes to the end of its queue and goes on from its state when it is called again."""


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
        mine = Job.objects.visible_to(self.access).filter(
            id=self.job.id, status=Job.Status.RUNNING, attempts=self.job.attempts
        )
        if not mine.update(**changes):
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


@transaction.atomic
def job_create(*, access: Access, kind: str, params: dict[str, Any], inputs: Iterable[bytes] = ()) -> Job:
    """Store a job with the bytes it works on, which may be long, and queue it when the transaction commits.

    `params` is JSON without secrets; `inputs` are pieces of any size.
    """
    space_set(access.space_id)
    job = Job.objects.create(space_id=access.space_id, kind=kind, access=access_save(access), params=params)
    for seq, piece in enumerate(_pieces(inputs)):
        JobInput.objects.create(space_id=access.space_id, job_id=job.id, seq=seq, data=piece)
    job.refresh_from_db(fields=["created_at"])
    event_record(access=access, type="job.created", object_kind="job", object_ids=[job.id], details={"kind": kind})
    job_enqueue(job)
    return job


def _pieces(inputs: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of about a mebibyte."""
    held = bytearray()
    for piece in inputs:
        held += piece
        if len(held) >= PIECE_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def job_enqueue(job: Job, *, countdown: float = 0) -> None:
    """Send a job's message on commit."""
    enqueue("jobs.run", KINDS[job.kind].queue, countdown=countdown, space_id=job.space_id, job_id=job.id)


def job_inputs(access: Access, job: Job) -> Iterator[bytes]:
    """Yield the bytes that a job works on, piece by piece, each read in a short transaction of its own."""
    seq = 0
    while True:
        with space_transaction(access):
            piece = JobInput.objects.visible_to(access).filter(job_id=job.id, seq=seq).first()
        if piece is None:
            return
        yield bytes(piece.data)
        seq += 1


def job_keep(access: Access, job: Job, piece: bytes) -> None:
    """Keep bytes for the job's next attempt until the job ends; in the transaction of the work that they are about."""
    kept = JobInput.objects.visible_to(access).filter(job_id=job.id, seq__gte=KEPT_FROM).count()
    JobInput.objects.create(space_id=job.space_id, job_id=job.id, seq=KEPT_FROM + kept, data=piece)


def job_kept(access: Access, job: Job) -> list[bytes]:
    """Return what earlier attempts have kept, in order."""
    with space_transaction(access):
        rows = JobInput.objects.visible_to(access).filter(job_id=job.id, seq__gte=KEPT_FROM).order_by("seq")
        return [bytes(row.data) for row in rows]


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
    _end(access, job, Job.Status.CANCELLED)
    return job


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
        _pause(job)
    except ApiError as error:
        _end_attempt(job, Job.Status.FAILED, error=error.envelope())
    except Exception as error:
        # The exception's text may quote what the job works on: its type alone is written.
        logger.error("job %s of kind %s: %s", job.id, job.kind, type(error).__name__)
        if _tries(job) < KINDS[job.kind].attempts:
            _retry(job)
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
            _end(system, job, Job.Status.FAILED, error=_gave_up(f"Its worker died {_tries(job)} times."))
            return None
        job.status, job.attempts, job.alive_at = Job.Status.RUNNING, job.attempts + 1, timezone.now()
        job.save(update_fields=["status", "attempts", "alive_at"])
    return job


def _tries(job: Job) -> int:
    """Return how often a job has been begun without getting to its end or to a pause."""
    return job.attempts - int(job.params.get("pauses", 0))


def _pause(job: Job) -> None:
    """Put a job that has had its turn at the end of its queue."""
    system = Access.system(job.space_id)
    with space_transaction(system):
        mine = Job.objects.visible_to(system).filter(id=job.id, status=Job.Status.RUNNING, attempts=job.attempts)
        locked = mine.select_for_update().first()
        if locked is not None:
            locked.params["pauses"] = locked.params.get("pauses", 0) + 1
            locked.status, locked.alive_at = Job.Status.QUEUED, timezone.now()
            locked.save(update_fields=["params", "status", "alive_at"])
            job_enqueue(locked)


def _retry(job: Job) -> None:
    """Put a job whose attempt failed back into its queue, later each time."""
    system = Access.system(job.space_id)
    with space_transaction(system):
        mine = Job.objects.visible_to(system).filter(id=job.id, status=Job.Status.RUNNING, attempts=job.attempts)
        if mine.update(status=Job.Status.QUEUED, alive_at=timezone.now()):
            job_enqueue(job, countdown=2**job.attempts)


def _end_attempt(job: Job, status: str, **outcome: Any) -> None:
    """End a job unless a later attempt has it or it was cancelled."""
    system = Access.system(job.space_id)
    with space_transaction(system):
        mine = Job.objects.visible_to(system).filter(id=job.id, status=Job.Status.RUNNING, attempts=job.attempts)
        locked = mine.select_for_update().first()
        if locked is not None:
            _end(system, locked, status, **outcome)


def _end(access: Access, job: Job, status: str, *, result: Any = None, error: dict[str, Any] | None = None) -> None:
    """Note how a job ended and drop the bytes that it worked on; a dead letter keeps them, to be tried again."""
    job.status, job.result, job.error, job.finished_at = status, result, error, timezone.now()
    dead = error is not None and error["error"] == GAVE_UP
    if not dead:
        job.params.pop("state", None)
    job.save(update_fields=["status", "result", "error", "finished_at", "params"])
    if not dead:
        JobInput.objects.visible_to(access).filter(job_id=job.id).delete()
    event_record(
        access=access, type=f"job.{status}", object_kind="job", object_ids=[job.id],
        details={"kind": job.kind} | ({"error": error["error"]} if error else {}),
    )  # fmt: skip


def jobs_sweep() -> int:
    """Send the messages of jobs again whose worker or message is lost; return how many."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT space_id, id FROM commonplace_jobs_lost(%s, %s)", [WAITING_SECONDS, SILENT_SECONDS])
        lost: Sequence[tuple[int, str]] = cursor.fetchall()
    for space_id, job_id in lost:
        system = Access.system(space_id)
        with space_transaction(system):
            rows = Job.objects.visible_to(system).filter(id=job_id, status__in=OPEN)
            rows.filter(status=Job.Status.QUEUED).update(alive_at=timezone.now())
            job = rows.first()
            if job is not None and job.kind in KINDS:
                job_enqueue(job)
    return len(lost)


def jobs_purge(access: Access) -> int:
    """Delete the jobs of a space that ended long ago; return how many."""
    ended = Job.objects.visible_to(access).filter(finished_at__lt=timezone.now() - ENDED_KEPT)
    return int(ended.delete()[0])


def jobs_dead() -> list[tuple[int, str, str, int, Any]]:
    """Return the dead letters of all spaces, for the operator: space, id, kind, attempts, when they were given up."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT space_id, id, kind, attempts, finished_at FROM commonplace_jobs_dead()")
        return list(cursor.fetchall())
