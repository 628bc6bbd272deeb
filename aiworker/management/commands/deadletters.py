"""List the jobs that were given up after their last attempt: space, id, kind, attempts, when."""

from typing import Any

from django.core.management.base import BaseCommand

from aiworker.deadletters import jobs_dead


class Command(BaseCommand):
    """deadletters: one line for each job that no attempt could finish, newest first."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the list."""
        for space_id, job_id, kind, attempts, finished_at in jobs_dead():
            self.stdout.write(f"{space_id}\t{job_id}\t{kind}\t{attempts}\t{finished_at:%Y-%m-%dT%H:%M:%SZ}")
