"""Running the whole service, and short scripts, as a person would: in processes of their own."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from embedded.launch import Account, start

PROJECT = Path(__file__).resolve().parent.parent.parent
#: Far more than anything here takes; a test that waits this long has failed.
SECONDS = 180
NOBODY = 65534


def clean_environment(**values: str) -> dict[str, str]:
    """Return this environment as on a fresh machine, without what the tests set, and with `values`."""
    ours = ("OMP_", "DATABASE_", "REDIS_URL", "SECRET_KEY", "PORT", "DJANGO_", "PYTEST_", "MAKE", "MFLAGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | values


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(check: Callable[[], Any], what: str) -> Any:
    """Return the first true answer of `check`; fail when none comes."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        found = check()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within {SECONDS} seconds")


def gone(processes: list[psutil.Process]) -> bool:
    """Tell whether all have ended; what init has not collected yet has ended too."""
    for process in processes:
        try:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                return False
        except psutil.NoSuchProcess:
            continue
    return True


class Run:
    """One start of the service on one data folder."""

    def __init__(self, data_dir: Path, log: Path, *, account: Account | None = None, make: bool = False) -> None:
        self.data_dir, self.log, self.account, self.make = data_dir, log, account, make
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self, **values: str) -> Run:
        env = clean_environment(OMP_DATA_DIR=str(self.data_dir), PORT=str(self.port), OMP_EMBEDDED_FAST="1", **values)
        command = ["make", "run"] if self.make else [sys.executable, "-m", "embedded.run"]
        with self.log.open("wb") as log:
            self.process = start(
                command, account=self.account, env=env, cwd=PROJECT, stdout=log, stderr=subprocess.STDOUT
            )
        return self

    def output(self) -> str:
        return self.log.read_text()

    def says(self, text: str, times: int = 1) -> None:
        """Wait until the output holds `text`, at least `times` times."""
        assert self.process is not None

        def check() -> bool:
            if self.output().count(text) >= times:
                return True
            assert self.process is not None
            assert self.process.poll() is None, f"ended without saying {text!r}:\n{self.output()}"
            return False

        eventually(check, f"saying {text!r}")

    def up(self) -> Run:
        self.says("Commonplace is running.")
        return self

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and return the exit status."""
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(SECONDS)

    def processes(self) -> list[psutil.Process]:
        """Return everything that runs below the supervisor."""
        assert self.process is not None
        return psutil.Process(self.process.pid).children(recursive=True)

    def find(self, *words: str) -> list[psutil.Process]:
        """Return the processes whose command line holds all `words`, oldest first."""
        found = []
        for one in self.processes():
            with suppress(psutil.NoSuchProcess):
                if all(word in " ".join(one.cmdline()) for word in words):
                    found.append(one)
        return sorted(found, key=lambda one: (one.create_time(), one.pid))

    def child(self, *words: str) -> psutil.Process:
        """Return the oldest of find()."""
        return self.find(*words)[0]

    def request(self, method: str, path: str, key: str | None = None, body: Any = None) -> tuple[int, Any]:
        """Call the API; (0, None) when nobody answers."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")
        except (OSError, http.client.HTTPException):
            return 0, None
        finally:
            connection.close()

    def healthy(self) -> bool:
        status, body = self.request("GET", "/v1/health")
        return status == 200 and body["status"] == "ok"


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    """Make runs of the service; whatever still runs at the end of the test is killed."""
    with ExitStack() as stack:

        def make_run(name: str = "data", **options: Any) -> Run:
            made = Run(tmp_path / name, tmp_path / f"{name}-{free_port()}.log", **options)
            stack.callback(_kill, made)
            return made

        yield make_run


def _kill(made: Run) -> None:
    if made.process is None or made.process.poll() is not None:
        return
    for process in [*made.processes(), psutil.Process(made.process.pid)]:
        try:
            process.kill()
        except psutil.NoSuchProcess:
            continue
    made.process.wait(SECONDS)


def script(code: str, data_dir: Path, **values: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with the data folder set."""
    env = clean_environment(OMP_DATA_DIR=str(data_dir), PYTHONPATH=str(PROJECT), **values)
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=PROJECT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
