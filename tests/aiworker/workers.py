"""Real Celery workers, which can be killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from accounts.access import Access, space_transaction
from aiworker.models import Job
from tests.factories import People

PROJECT = Path(__file__).resolve().parent.parent.parent


@contextmanager
def celery_worker(
    queue: str, output: IO[bytes] | None = None, slots: int = 0, tasks: str = "", **env: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker on a queue in its own process group; it is killed with the block at the latest.

    All its work is done in one process, by so many threads, without slots by none; `tasks` names a module with more.
    """
    command = [
        *(sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "--app", "config.celery:app", "worker"),
        *("--queues", queue, "--without-mingle", "--without-gossip", "--without-heartbeat"),
        *(("--pool", "threads", "--concurrency", str(slots)) if slots else ("--pool", "solo")),
        *(("--include", tasks) if tasks else ()),
        *("--loglevel", "DEBUG" if output else "ERROR"),
    ]
    sink = output or subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=PROJECT, env=os.environ | {"PYTHONWARNINGS": "ignore"} | env, start_new_session=True, stdout=sink,
        stderr=sink,
    )  # fmt: skip
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker as the kernel would, with no chance to tidy up."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
        process.wait()


def job_now(people: People, job_id: str) -> Job:
    """Return a job of the owner's space as it stands."""
    access = Access.system(people.space.pk)
    with space_transaction(access):
        job: Job = Job.objects.visible_to(access).get(id=job_id)
    return job


def job_silent(people: People, job_id: str) -> None:
    """Let a running job look as if its worker had been silent for years."""
    access = Access.system(people.space.pk)
    with space_transaction(access):
        Job.objects.visible_to(access).filter(id=job_id).update(alive_at=None, created_at="2020-01-01T00:00:00Z")


def wait_for(condition: Callable[[], Any], what: str, seconds: float = 60) -> None:
    """Return once a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)
