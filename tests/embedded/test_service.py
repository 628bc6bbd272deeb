"""`make run`: the whole service, started, hurt, stopped and started again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from embedded.launch import Account
from tests.embedded.conftest import NOBODY, PROJECT, SECONDS, Run, clean_environment, eventually, gone

pytestmark = pytest.mark.slow
Runs = Callable[..., Run]


def shown_key(run: Run) -> str:
    found = re.search(r"API key +(\S+)", run.output())
    assert found, run.output()
    return found[1]


def memory(content: str) -> dict[str, Any]:
    return {"content": content, "type": "semantic", "source": {"tool": "test"}}


def test_life_of_a_service(run: Runs, tmp_path: Path) -> None:
    """One service, since each start takes seconds: first use, a second command, the end, the data afterwards."""
    first = run().begin().up()

    key = shown_key(first)
    status, made = first.request("POST", "/v1/memories", key, memory("The kettle is blue."))
    assert status == 201, made
    question = {"q": "which colour has the vessel that water is boiled in?"}
    status, found = first.request("POST", "/v1/memories/search", key, question)
    assert (status, found["mode_used"]) == (200, "hybrid"), "the first search after the first memory knows its meaning"
    assert [one["id"] for one in found["memories"]] == [made["id"]]

    # Another start on the same data folder, and one on the same port, say why they cannot.
    env = clean_environment(OMP_DATA_DIR=str(first.data_dir), PORT=str(run().port))
    same_folder = subprocess.run(
        [sys.executable, "-m", "embedded.run"], env=env, cwd=PROJECT, capture_output=True, text=True, timeout=SECONDS
    )
    assert same_folder.returncode == 1
    assert same_folder.stdout.startswith(f"Another `make run` is at work on the data folder {first.data_dir};")
    assert same_folder.stdout.count("\n") == 1
    env = clean_environment(OMP_DATA_DIR=str(tmp_path / "other"), PORT=str(first.port))
    same_port = subprocess.run(
        [sys.executable, "-m", "embedded.run"], env=env, cwd=PROJECT, capture_output=True, text=True, timeout=SECONDS
    )
    assert same_port.returncode == 1
    assert same_port.stdout.startswith(f"Port {first.port} on 127.0.0.1 cannot be used:")
    assert same_port.stdout.count("\n") == 1
    assert not (tmp_path / "other").exists(), "nothing is made before the port is known to be free"

    # A command uses the servers that run, and leaves them running.
    env = clean_environment(OMP_DATA_DIR=str(first.data_dir))
    count = "from accounts.models import User; print('users:', User.objects.count())"
    command = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", count],
        env=env,
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert command.stdout.strip() == "users: 1", command.stderr
    eventually(first.healthy, "health after another command has ended")

    before_the_end = first.processes()
    assert first.end(signal.SIGTERM) == 0
    eventually(lambda: gone(before_the_end), "the end of every process")
    assert first.output().rstrip().endswith("Stopped. The data stays where it is.")
    assert not [path for path in (first.data_dir / "run").iterdir() if path.is_socket()]

    again = run(make=True).begin().up()
    assert "API key  " not in again.output(), "the key is told once"
    status, found = again.request("GET", f"/v1/memories/{made['id']}", key)
    assert (status, found["content"]) == (200, "The kettle is blue.")

    # Ctrl-C reaches the whole foreground group, make included.
    before_the_end = again.processes()
    assert again.process is not None
    os.killpg(again.process.pid, signal.SIGINT)
    again.process.wait(SECONDS)
    eventually(lambda: gone(before_the_end), "the end of every process")


def test_killed_parts_are_noticed_and_restarted(run: Runs) -> None:
    service = run().begin().up()

    for words, sentence in (
        (("postgres", "-D"), "PostgreSQL has ended: it was killed by SIGKILL. It is started again in 0.5 s."),
        (("valkey-server",), "Valkey has ended: it was killed by SIGKILL. It is started again in 0.5 s."),
        (("embedded.web",), "The web server has ended: it was killed by SIGKILL. It is started again in 0.5 s."),
        (("celery", "embed"), "The Celery worker has ended: it was killed by SIGKILL. It is started again in 0.5 s."),
        (
            ("celery", "ai,import"),
            "The Celery worker for jobs has ended: it was killed by SIGKILL. It is started again in 0.5 s.",
        ),
        (("celery", "beat"), "Celery beat has ended: it was killed by SIGKILL. It is started again in 0.5 s."),
    ):
        victim = service.child(*words)
        descendants = [] if words[0] == "postgres" else victim.children(recursive=True)
        victim.kill()
        service.says(sentence)
        eventually(lambda gone_ones=descendants: gone(gone_ones), f"the end of what {words} had started")
        eventually(lambda the_words=words: service.find(*the_words), f"the restart of {words}")
        eventually(service.healthy, f"health after the end of {words}")

    # One of several web processes: its parent replaces it.
    web = service.child("embedded.web")
    part = max(web.children(), key=lambda one: one.memory_info().rss)
    part.kill()
    service.says("Unexpected exit from worker")
    eventually(service.healthy, "health after the end of one web process")

    # The supervisor itself: the kernel tells its children.
    below = service.processes()
    assert service.process is not None
    service.process.kill()
    eventually(lambda: gone(below), "the end of every process after the supervisor's")


def test_two_side_by_side_one_as_an_ordinary_user(run: Runs, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        # Allowed through closed folders only because the interpreter may lie in one of root's.
        account: Account | None = Account(NOBODY, NOBODY, behind_closed_folders=True)
        home = tmp_path / "home"
        home.mkdir()
        os.chown(home, NOBODY, NOBODY)
    else:
        account, home = None, tmp_path
    ordinary = run("home/data", account=account).begin(HOME=str(home), OMP_API_KEY="k" * 40)
    other = run("other").begin()
    ordinary.up()
    other.up()

    status, _ = ordinary.request("POST", "/v1/memories", "k" * 40, memory("Only in the one."))
    assert status == 201
    status, listed = other.request("GET", "/v1/memories", shown_key(other))
    assert (status, listed["memories"]) == (200, [])
    assert other.request("GET", "/v1/memories", "k" * 40)[0] == 401

    database = ordinary.child("postgres", "-D")
    assert psutil.Process(database.pid).uids().real == (NOBODY if account else os.geteuid())
    assert ordinary.end() == 0
    eventually(other.healthy, "health of the one after the end of the other")
    assert other.end() == 0
