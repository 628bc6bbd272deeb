"""The whole service from one command: `python -m embedded.run`, or `make run`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from embedded.errors import StartError
from embedded.folder import DataFolder, Lock
from embedded.health import healthy, listen_address
from embedded.launch import die_with_parent, start
from embedded.programs import GENTLE_STOP, beat, jobs, web, worker
from embedded.server import SECONDS_TO_START, Server
from embedded.servers import data_dir, needed, stop_leftovers, users_lock
from embedded.supervisor import Service, StopRequested, Supervisor

PROJECT = Path(__file__).resolve().parent.parent
#: How long a start waits for a short command that happens to use the data folder.
SECONDS_FOR_OTHERS = 15.0
SECONDS_FOR_HEALTH = 90.0


def main(arguments: list[str]) -> int:
    """Start everything, watch it, stop it; return the exit status."""
    if "--with-parent" in arguments:
        # `make` may be killed without a chance to stop what it has started.
        die_with_parent(os.getppid(), signal.SIGTERM)
    os.chdir(PROJECT)
    folder = DataFolder.at(data_dir())
    try:
        _check_port()
        with _locked(folder), Supervisor(say) as supervisor:
            _check_settings()
            _run(supervisor, folder)
    except (StopRequested, KeyboardInterrupt):
        say("Stopped. The data stays where it is.")
        return 0
    except StartError as error:
        say(str(error))
        return 1
    return 0


def say(sentence: str) -> None:
    """Print a line for the person at the terminal."""
    print(sentence, flush=True)


def _run(supervisor: Supervisor, folder: DataFolder) -> None:
    stop_leftovers(folder)
    servers = needed(folder)
    for server in servers:
        supervisor.add(_server_service(server), seconds=SECONDS_TO_START)
        server.furnish()
    say("Preparing the database and starting the web server and the workers (up to a minute) ...")
    if os.environ.get("OMP_ENV") == "production":
        supervisor.run_to_end(_command_service("Collecting the static files", "collectstatic", "--noinput", "-v", "0"))
    printed = supervisor.run_to_end(_command_service("Preparing database, model and account", "prepare", "-v", "0"))
    *told, made = printed.decode(errors="replace").splitlines()
    account: dict[str, str] = json.loads(made)
    say("\n".join(told))
    try:
        # The web server shares its port with siblings, so it would not notice that another program took it meanwhile.
        _check_port()
        for service in _app_services():
            supervisor.add(service, seconds=SECONDS_FOR_HEALTH)
    except StartError:
        if account:
            # They are told only once, so they must not be lost with a failed first start.
            say("\n".join(_credentials(account)))
        raise
    say(_welcome(folder, servers, account))
    supervisor.watch()


def _check_port() -> None:
    """Raise StartError now, before anything is started, when the web server could not have its port."""
    host, port = listen_address()
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            # Another socket that merely shares the address would let bind() pass.
            probe.listen()
        except OSError as error:
            raise StartError(
                f"Port {port} on {host} cannot be used: {(error.strerror or str(error)).lower()}; "
                "stop the program that has it or choose another port, as in `make run PORT=8001`."
            ) from error


def _check_settings() -> None:
    """Raise StartError now, before anything is started, when a setting cannot be read."""
    read = subprocess.run(
        [sys.executable, "manage.py", "diffsettings"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False
    )
    if read.returncode != 0:
        raise StartError(read.stderr.decode(errors="replace").strip())


@contextmanager
def _locked(folder: DataFolder) -> Iterator[None]:
    """Have the data folder for this process alone."""
    folder.create()
    run, users = Lock(folder.root / "run.lock"), users_lock(folder)
    try:
        if not run.take():
            raise StartError(
                f"Another `make run` is at work on the data folder {folder.root}; stop it, or give "
                "this one a folder and a port of its own with OMP_DATA_DIR and PORT."
            )
        if not users.take(seconds=SECONDS_FOR_OTHERS):
            raise StartError(
                f"Another command (such as `manage.py shell`) uses the data folder {folder.root}; "
                "end it and start again."
            )
        yield
    finally:
        users.release()
        run.release()


def _server_service(server: Server) -> Service:
    return Service(
        name=server.name,
        prepare=server.prepare,
        start=server.start,
        ready=server.answers,
        stop_signal=server.stop_signal,
    )


def _command_service(name: str, *words: str) -> Service:
    command = [sys.executable, "manage.py", *words]
    return Service(
        name=name,
        start=lambda: start(command, death_signal=signal.SIGTERM, stdout=subprocess.PIPE),
        stage=1,
    )


def _app_services() -> list[Service]:
    def service(name: str, command: list[str], ready: Callable[[], bool] | None = None) -> Service:
        environment = os.environ | GENTLE_STOP
        return Service(
            name=name,
            start=lambda: start(command, death_signal=signal.SIGTERM, env=environment),
            ready=ready,
            stage=1,
        )

    return [
        service("The web server", web(), ready=lambda: healthy(*listen_address())),
        service("The Celery worker", worker()),
        service("The Celery worker for jobs", jobs()),
        service("Celery beat", beat()),
    ]


def _credentials(account: dict[str, str]) -> list[str]:
    return [
        f"  Sign in   {account['email']}   password {account['password']}",
        f"  API key   {account['key']}",
        "            (password and key are shown this once)",
    ]


def _welcome(folder: DataFolder, servers: list[Server], account: dict[str, str]) -> str:
    host, port = listen_address()
    shown = f"[{host}]" if ":" in host else host
    embedded = " and ".join(server.name for server in servers)
    lines = ["", "Commonplace is running.", "", f"  Address   http://{shown}:{port}"]
    if account:
        lines += _credentials(account)
    else:
        lines.append("  Sign in   as before; `manage.py createkey` makes another API key")
    lines.append(f"  Data      {folder.root}" + (f" (embedded {embedded})" if embedded else ""))
    lines += ["  Stop      Ctrl-C", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
