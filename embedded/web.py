"""The web server: `python -m embedded.web`, under `make run` and in the container alike."""

from __future__ import annotations

import os
import sys

from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels

from embedded.errors import StartError
from embedded.health import listen_address, whole_number

#: Answers still under way when the server is told to end get this long.
SECONDS_TO_FINISH = 5


def serve() -> None:
    """Serve config.wsgi at OMP_HOST and PORT until told to end."""
    host, port = listen_address()
    Granian(
        "config.wsgi:application",
        address=host,
        port=port,
        interface=Interfaces.WSGI,
        http=HTTPModes.http1,
        websockets=False,
        # Two processes use two cores; the threads of each cover waits for PostgreSQL and slow readers.
        workers=whole_number("OMP_WEB_PROCESSES", max(2, os.cpu_count() or 1)),
        blocking_threads=whole_number("OMP_WEB_THREADS", 16),
        # A thread keeps its connection to PostgreSQL, so it is worth keeping for longer than 30 seconds.
        blocking_threads_idle_timeout=600,
        workers_kill_timeout=SECONDS_TO_FINISH,
        respawn_failed_workers=True,
        # The service logs each request itself, without query strings and bodies.
        log_access=False,
        log_level=LogLevels.error,
    ).serve()


if __name__ == "__main__":
    try:
        serve()
    except StartError as error:
        sys.exit(str(error))
