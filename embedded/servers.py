"""The embedded servers of a data folder, shared by all commands that work on it.

Whoever needs the servers holds a shared lock on the folder while it works. The first to come starts
what is not running, the last to go stops it. The supervisor holds the lock alone: its servers
are its children, and commands that come meanwhile only use them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded.errors import StartError
from embedded.folder import DataFolder, Lock
from embedded.postgres import APP, OWNER, Postgres, database_url
from embedded.server import SECONDS_TO_START, Server
from embedded.valkey import Valkey, redis_url


@dataclass(frozen=True)
class Addresses:
    """Where the servers of a data folder listen."""

    #: For the service itself: the login that owns nothing.
    database_url: str
    #: For migrations: the login that owns the tables.
    database_owner_url: str
    #: In the form that redis-py reads: unix://PATH?db=N.
    redis_url: str


def addresses(data_dir: Path) -> Addresses:
    """Return where the servers of `data_dir` listen, whether or not they run."""
    folder = DataFolder.at(data_dir)
    return Addresses(
        database_url=database_url(folder, APP),
        database_owner_url=database_url(folder, OWNER),
        redis_url=redis_url(folder),
    )


def data_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the data folder that OMP_DATA_DIR names, by default `.data` beside manage.py."""
    named = environ.get("OMP_DATA_DIR")
    return Path(named).absolute() if named else Path(__file__).resolve().parent.parent / ".data"


def needed(folder: DataFolder, environ: Mapping[str, str] = os.environ) -> list[Server]:
    """Return the servers that `environ` leaves to this package, in the order of their start.

    DATABASE_URL and REDIS_URL, or a file named by DATABASE_URL_FILE and REDIS_URL_FILE, each
    replace one. In production (OMP_ENV=production) none is embedded.
    """
    if environ.get("OMP_ENV") == "production":
        return []
    found: list[Server] = []
    for variable, kind in (("DATABASE_URL", Postgres), ("REDIS_URL", Valkey)):
        if not (environ.get(variable) or environ.get(f"{variable}_FILE")):
            found.append(kind(folder))
    return found


def is_running(data_dir: Path) -> bool:
    """Tell whether both servers of `data_dir` accept work now."""
    folder = DataFolder.at(data_dir)
    return Postgres(folder).answers() and Valkey(folder).answers()


@contextmanager
def running(data_dir: Path, *, wanted: list[Server] | None = None) -> Iterator[Addresses]:
    """Have the servers of `data_dir` run during a block; both unless `wanted` names them.

    Servers that run already are used. The last block to end, in whatever process, stops what
    blocks have started; what the supervisor has started is left to it.
    Raises StartError when a server cannot be started.
    """
    folder = DataFolder.at(data_dir)
    servers = [Postgres(folder), Valkey(folder)] if wanted is None else wanted
    if not servers:
        yield addresses(data_dir)
        return
    folder.create()
    users, transition = Lock(folder.root / "users.lock"), Lock(folder.root / "start.lock")
    try:
        with transition.held():
            shared = users.take(shared=True)
            if shared:
                for server in servers:
                    _ensure_running(server)
        if not shared:
            _wait_for_supervisor(servers)
        yield addresses(data_dir)
    finally:
        _leave(folder, users, transition)


def _ensure_running(server: Server) -> None:
    if not server.answers():
        server.prepare()
        if server.process() is None:
            server.start(detach=True).wait()
        server.wait_until_answering()
    server.furnish()


def _wait_for_supervisor(servers: list[Server]) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    for server in servers:
        while not server.answers():
            if time.monotonic() > deadline:
                raise server.failed()
            time.sleep(0.05)


def _leave(folder: DataFolder, users: Lock, transition: Lock) -> None:
    with transition.held():
        # Nobody else holds it: this was the last block, and no supervisor is at work.
        if users.take():
            for server in (Valkey(folder), Postgres(folder)):
                server.stop()
        users.release()


def stop_leftovers(folder: DataFolder) -> None:
    """Stop servers whose starter was killed. Only for who holds the users lock alone."""
    for server in (Valkey(folder), Postgres(folder)):
        server.stop()


def users_lock(folder: DataFolder) -> Lock:
    """Return the lock that a supervisor holds alone and commands share."""
    return Lock(folder.root / "users.lock")


__all__ = [
    "Addresses",
    "StartError",
    "addresses",
    "data_dir",
    "is_running",
    "needed",
    "running",
    "stop_leftovers",
    "users_lock",
]
