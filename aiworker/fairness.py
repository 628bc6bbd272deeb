"""Turns: the spaces that have jobs in a queue are served one after the other, however many jobs each has.

A message says that there is one more job to do in its queue, not which one. So that a space with a thousand jobs keeps
nobody waiting, the worker takes a job of the space with the fewest running ones, and of several the one whose last
turn is longest ago. There are as many messages as jobs, so each job finds its worker; the sweep mends what gets lost.
"""

from django.db import connection
from django.utils import timezone

from accounts.access import Access, space_transaction
from aiworker.jobruns import job_run
from aiworker.jobs import KINDS, OPEN
from aiworker.models import Job, JobTurn

TRIES = 20  # at jobs that another worker takes at the same moment
NEXT = "SELECT space_id, id FROM commonplace_jobs_next(%s, %s)"


def turn_take(*, space_id: int, job_id: str) -> None:
    """Do the job whose turn it is in the queue of a job's message, usually another one."""
    queue = _queue_of(space_id, job_id)
    for _ in range(TRIES if queue else 0):
        chosen = _next(queue)
        if chosen is None:
            break
        _turn_note(chosen[0], queue)
        if job_run(space_id=chosen[0], job_id=chosen[1]):
            return
    job_run(space_id=space_id, job_id=job_id)


def _queue_of(space_id: int, job_id: str) -> str:
    """Return the queue of a job's message, nothing when the message is for a job that is to be taken up again."""
    system = Access.system(space_id)
    with space_transaction(system):
        job = Job.objects.visible_to(system).filter(id=job_id).first()
    if job is None or (job.status in OPEN and job.attempts > 0):
        return ""
    return KINDS[job.kind].queue


def _next(queue: str) -> tuple[int, str] | None:
    kinds = [name for name, kind in KINDS.items() if kind.queue == queue]
    with connection.cursor() as cursor:
        cursor.execute(NEXT, [kinds, queue])
        row: tuple[int, str] | None = cursor.fetchone()
    return row


def _turn_note(space_id: int, queue: str) -> None:
    """Note that a space has its turn."""
    system = Access.system(space_id)
    with space_transaction(system):
        JobTurn.objects.update_or_create(space_id=space_id, queue=queue, defaults={"at": timezone.now()})
