"""How the web server runs, under `make run` and in the container alike."""

import os
from pathlib import Path

wsgi_app = "config.wsgi:application"
worker_class = "gthread"
# Two processes use two cores; the threads of each cover waits for PostgreSQL and slow readers.
workers = int(os.environ.get("OMP_WEB_PROCESSES") or max(2, os.cpu_count() or 1))
threads = int(os.environ.get("OMP_WEB_THREADS") or 8)
keepalive = 75
# Long answers such as exports end in time, or are cut when the service stops.
graceful_timeout = 5
# On a disk the heartbeat file can stall a worker for as long as the disk does.
memory_disk = Path("/dev/shm")  # noqa: S108 - gunicorn makes files of its own names there
worker_tmp_dir = str(memory_disk) if memory_disk.is_dir() else None
control_socket_disable = True
loglevel = "warning"
# The service logs each request itself, without addresses' query strings and bodies.
accesslog = None
