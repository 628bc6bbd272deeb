"""Keeping a set of processes alive: started in order, watched, restarted, stopped in reverse."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType

from embedded.errors import StartError

#: Waits before the restarts of a process that keeps failing, in seconds.
BACKOFF = (0.5, 1.0, 2.0, 4.0)
#: A process that has run this long is taken to be well again.
STEADY_SECONDS = 60.0
#: How long a process may take to end after it was asked, before it is killed.
GRACE_SECONDS = 8.0


class StopRequested(Exception):
    """Somebody asked the supervisor to stop, with Ctrl-C or SIGTERM."""


@dataclass
class Service:
    """One process to keep alive, with its own process group."""

    #: How sentences name it, as in "The web server".
    name: str
    start: Callable[[], subprocess.Popen[bytes]]
    #: Whether it does its work now. None: as long as it lives.
    ready: Callable[[], bool] | None = None
    #: Readies the ground before each start.
    prepare: Callable[[], None] = field(default=lambda: None)
    stop_signal: signal.Signals = signal.SIGTERM
    #: Stages are ended from the highest down: those who use a server before the server.
    stage: int = 0

    process: subprocess.Popen[bytes] | None = field(default=None, init=False)
    started_at: float = field(default=0.0, init=False)
    failures: int = field(default=0, init=False)
    restart_at: float = field(default=0.0, init=False)

    def launch(self) -> None:
        self.prepare()
        self.process = self.start()
        self.started_at = time.monotonic()

    def signal_group(self, number: signal.Signals) -> None:
        """Send a signal to the process and everything it has started."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


class Supervisor:
    """Runs services until it is asked to stop; use it as a context manager in the main thread."""

    def __init__(self, say: Callable[[str], None], backoff: Sequence[float] = BACKOFF) -> None:
        self._say = say
        self._backoff = backoff
        self._services: list[Service] = []
        self._stop_requested = False
        self._wake_read, self._wake_write = socket.socketpair()
        for end in (self._wake_read, self._wake_write):
            end.setblocking(False)

    def __enter__(self) -> Supervisor:
        signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # Under nohup the hang-up is ignored, and stays so.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._request_stop)
        # With a handler the wake-up descriptor tells of children that end.
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop_all()

    def add(self, service: Service, *, seconds: float) -> None:
        """Start a service and wait until it is ready.

        Raises StartError when it ends or is not ready within `seconds`.
        """
        self._services.append(service)
        service.launch()
        deadline = time.monotonic() + seconds
        while not (service.ready is None or service.ready()):
            assert service.process is not None
            status = service.process.poll()
            if status is not None:
                raise StartError(f"{service.name} ended at once: {describe(status)}.")
            if time.monotonic() > deadline:
                raise StartError(f"{service.name} was not ready within {seconds:.0f} seconds.")
            self._sleep(0.05)

    def run_to_end(self, service: Service) -> bytes:
        """Run a service that ends by itself and return what it printed to a pipe.

        Raises StartError when it fails.
        """
        self._services.append(service)
        service.launch()
        process = service.process
        assert process is not None
        assert process.stdout is not None
        output = b""
        with process.stdout as pipe:
            while True:
                self._sleep(60.0, pipe.fileno())
                if select.select([pipe], [], [], 0)[0]:
                    block = os.read(pipe.fileno(), 65536)
                    if not block:
                        break
                    output += block
        status = process.wait()
        if status != 0:
            raise StartError(f"{service.name} failed: {describe(status)}.")
        self._services.remove(service)
        return output

    def watch(self) -> None:
        """Keep every service alive until a stop is requested.

        Raises StopRequested then, and StartError when a service keeps failing.
        """
        while True:
            now = time.monotonic()
            waits = [60.0]
            for service in self._services:
                if service.process is not None:
                    status = service.process.poll()
                    if status is not None:
                        self._mourn(service, status, now)
                if service.process is None:
                    if now >= service.restart_at:
                        self._restart(service)
                    else:
                        waits.append(service.restart_at - now)
            self._sleep(min(waits))

    def _mourn(self, service: Service, status: int, now: float) -> None:
        # Whatever it had started must not work on beside the next one.
        service.signal_group(signal.SIGKILL)
        service.process = None
        service.failures = 0 if now - service.started_at > STEADY_SECONDS else service.failures
        self._fail(service, describe(status))

    def _fail(self, service: Service, reason: str) -> None:
        service.failures += 1
        if service.failures > len(self._backoff):
            raise StartError(
                f"{service.name} failed {service.failures} times in a row, the last time because: "
                f"{reason}. Everything is stopped; the lines above tell more."
            )
        delay = self._backoff[service.failures - 1]
        service.restart_at = time.monotonic() + delay
        self._say(f"{service.name} has ended: {reason}. It is started again in {delay:g} s.")

    def _restart(self, service: Service) -> None:
        try:
            service.launch()
        except StartError as error:
            self._fail(service, str(error).rstrip("."))

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self._stop_requested = True

    def _sleep(self, seconds: float, *descriptors: int) -> None:
        """Wait for a signal, for one of `descriptors` or for the time to pass."""
        if not self._stop_requested:
            select.select([self._wake_read.fileno(), *descriptors], [], [], seconds)
        with suppress(BlockingIOError):
            self._wake_read.recv(4096)
        if self._stop_requested:
            raise StopRequested

    def _stop_all(self) -> None:
        """End every service, stage by stage, and all that they started."""
        for stage in sorted({service.stage for service in self._services}, reverse=True):
            ending = [service for service in self._services if service.stage == stage]
            for service in ending:
                # The process alone: it is the one that ends its own in good order.
                if service.process is not None and service.process.poll() is None:
                    service.process.send_signal(service.stop_signal)
            deadline = time.monotonic() + GRACE_SECONDS
            for service in ending:
                self._see_off(service, deadline)

    def _see_off(self, service: Service, deadline: float) -> None:
        if service.process is None:
            return
        try:
            service.process.wait(max(deadline - time.monotonic(), 0))
        except subprocess.TimeoutExpired:
            self._say(f"{service.name} did not end within {GRACE_SECONDS:g} s and is killed.")
        service.signal_group(signal.SIGKILL)
        service.process.wait()


def describe(status: int) -> str:
    """Return in words how a process ended, from its return code."""
    if status >= 0:
        return f"it ended with exit code {status}"
    try:
        return f"it was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was killed by signal {-status}"
