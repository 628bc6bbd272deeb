"""What gets lost is found, and what ended long ago goes."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from accounts.access import Access, space_transaction
from aiworker.jobruns import SILENT_SECONDS
from aiworker.jobs import KINDS, OPEN, job_enqueue
from aiworker.models import Job

WAITING_SECONDS = 300  # queued for so long, a job's message is taken for lost; a second one does no harm
ENDED_KEPT = timedelta(days=30)


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
