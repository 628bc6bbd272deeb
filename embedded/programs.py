"""The programs of the service and their options, the same under `make run` and in containers.

As a script, `python -m embedded.programs worker` becomes the program.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from embedded.errors import StartError
from embedded.health import whole_number
from embedded.servers import data_dir

#: Asked to end, the worker does not wait for long jobs: it hands them back to the queue.
GENTLE_STOP = {"REMAP_SIGTERM": "SIGQUIT"}


def web() -> list[str]:
    """Return the command line of the web server."""
    return [sys.executable, "-m", "embedded.web"]


def worker() -> list[str]:
    """Return the command line of the Celery worker for short work: embedding and what is done periodically.

    It has OMP_WORKER_PROCESSES slots, by default as many as there are cores.
    """
    return _worker("default,embed", whole_number("OMP_WORKER_PROCESSES", os.cpu_count() or 1))


def jobs() -> list[str]:
    """Return the command line of the Celery worker for jobs, which take long: imports and calls of AI providers.

    It has OMP_JOB_PROCESSES slots. They are apart from the other worker's, so that no job keeps an embedding waiting.
    """
    return _worker("ai,import", whole_number("OMP_JOB_PROCESSES", 4))


def _worker(queues: str, slots: int) -> list[str]:
    return [
        *(*_celery(), "worker", "--queues", queues, "--concurrency", str(slots), "--hostname", f"{queues}@%h"),
        *("-O", "fair", "--loglevel", "WARNING"),
        # Chatter between workers, which would wait at the end for a broker that has gone.
        *("--without-mingle", "--without-gossip", "--without-heartbeat"),
    ]


def beat() -> list[str]:
    """Return the command line of the scheduler, of which there must be one only."""
    schedule = str(data_dir() / "celerybeat-schedule")
    return [*_celery(), "beat", "--loglevel", "WARNING", "--pidfile", "", "--schedule", schedule]


def _celery() -> list[str]:
    # A container's root is as good a user as any here; the messages carry nothing that is executed.
    quiet = "ignore:You're running the worker with superuser privileges"
    return [sys.executable, "-W", quiet, "-m", "celery", "--quiet", "--app", "config.celery:app"]


PROGRAMS: dict[str, Callable[[], list[str]]] = {"web": web, "worker": worker, "jobs": jobs, "beat": beat}


def main(arguments: list[str]) -> None:
    """Become the program that the only argument names."""
    if len(arguments) != 1 or arguments[0] not in PROGRAMS:
        raise StartError(f"Name one program: {', '.join(PROGRAMS)}.")
    os.environ.update(GENTLE_STOP)
    command = PROGRAMS[arguments[0]]()
    os.execv(command[0], command)  # noqa: S606 - there is no shell to be had


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except StartError as error:
        sys.exit(str(error))
