"""What PostgreSQL and Valkey have in common when they run beside the service."""

from __future__ import annotations

import signal
import subprocess
import time
from abc import ABC, abstractmethod
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

import psutil

from embedded.account import server_account
from embedded.errors import StartError
from embedded.folder import DataFolder, private_folder
from embedded.launch import Account, start

#: Recovery after a crash replays the write-ahead log, which can take a while on a slow disk.
SECONDS_TO_START = 120
SECONDS_TO_STOP = 10


class Server(ABC):
    """One embedded server on one data folder. Its methods do not lock: see embedded.servers."""

    name: ClassVar[str]
    #: What it asks the server to stop in good order.
    stop_signal: ClassVar[signal.Signals]
    #: Name of the program file, by which a process is recognised.
    program_name: ClassVar[str]

    def __init__(self, folder: DataFolder) -> None:
        self.folder = folder
        self._account: Account | None = None

    @property
    def account(self) -> Account:
        """Return the account the server runs as; under root this may create it."""
        if self._account is None:
            self._account = server_account(self.folder, [self.program()])
        return self._account

    @property
    def log(self) -> Path:
        return self.folder.logs / f"{self.program_name}.log"

    @property
    @abstractmethod
    def home(self) -> Path:
        """Return the folder of the server's data, which is also its working directory."""

    @abstractmethod
    def program(self) -> Path:
        """Return the program file."""

    @abstractmethod
    def command(self) -> list[str]:
        """Return the command line that runs the server in the foreground."""

    @abstractmethod
    def answers(self) -> bool:
        """Tell whether the server accepts work now."""

    @abstractmethod
    def recorded_pid(self) -> int | None:
        """Return the process number the server wrote down, dead or alive."""

    def prepare(self) -> None:
        """Make the folders ready for a start and clear what a crash left there.

        Raises StartError when the folder belongs to somebody else or is of another version.
        """
        account = self.account
        for path in (self.folder.sockets, self.home):
            try:
                private_folder(path, account.uid, account.gid)
            except OSError as error:
                raise self.folder.unusable(error) from error

    def furnish(self) -> None:
        """Create inside the running server what the service expects there; safe to repeat."""
        return

    def start(self, *, detach: bool = False) -> subprocess.Popen[bytes]:
        """Start the prepared server; see embedded.launch.start for `detach`."""
        with self.log.open("ab") as log:
            return start(
                self.command(),
                account=self.account,
                death_signal=None if detach else self.stop_signal,
                detach=detach,
                cwd=Path("/"),
                stdout=log,
                stderr=log,
            )

    def process(self) -> psutil.Process | None:
        """Return the running server's process, or None.

        A recorded number that now belongs to another program, as after a restart of the machine,
        is not taken for the server.
        """
        pid = self.recorded_pid()
        if pid is None:
            return None
        with suppress(psutil.NoSuchProcess):
            found = psutil.Process(pid)
            if found.name() == self.program_name and _alive(found):
                return found
        return None

    def wait_until_answering(self) -> None:
        """Wait for a detached start; raise StartError when the server ends or stays silent.

        A server may answer before it has written its number down, by which it is stopped later.
        """
        deadline = time.monotonic() + SECONDS_TO_START
        grace = time.monotonic() + 5
        while self.process() is None or not self.answers():
            now = time.monotonic()
            if now > deadline or (now > grace and self.process() is None):
                raise self.failed()
            time.sleep(0.02)

    def failed(self) -> StartError:
        """Return the sentence for a start that came to nothing."""
        return StartError(f"{self.name} did not start; {self.log} tells why{self._last_words()}.")

    def stop(self) -> None:
        """Stop the server wherever it was started, and wait until it is gone."""
        found = self.process()
        if found is None:
            return
        for how in (self.stop_signal, signal.SIGQUIT, signal.SIGKILL):
            with suppress(psutil.NoSuchProcess):
                found.send_signal(how)
            deadline = time.monotonic() + SECONDS_TO_STOP
            while time.monotonic() < deadline:
                if not _alive(found):
                    return
                time.sleep(0.02)

    def _last_words(self) -> str:
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            return ""
        telling = [line for line in lines[-20:] if "FATAL" in line or "cannot" in line.lower()]
        last = (telling or lines[-1:] or [""])[-1].strip().rstrip(".")
        return f" (its last line: {last})" if last else ""


def _alive(process: psutil.Process) -> bool:
    """Tell whether a process runs; one that ended but was not yet collected by init does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
