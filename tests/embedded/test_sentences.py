"""What cannot work is said in one clear sentence, with an exit status that tells."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from embedded.launch import Account, start
from tests.embedded.conftest import NOBODY, PROJECT, SECONDS, clean_environment, free_port, script


def attempt(data_dir: Path, account: Account | None = None, **values: str) -> tuple[int, str]:
    """Start the service; return exit status and all it said."""
    env = clean_environment(OMP_DATA_DIR=str(data_dir), **({"PORT": str(free_port())} | values))
    process = start(
        [sys.executable, "-m", "embedded.run"],
        account=account,
        env=env,
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    output, _ = process.communicate(timeout=SECONDS)
    return process.returncode, output.decode()


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1", "٣"])
def test_port_that_is_none(tmp_path: Path, port: str) -> None:
    assert attempt(tmp_path, PORT=port) == (1, f"PORT must be a number from 1 to 65535, not {port!r}.\n")


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("OMP_API_KEY", "k" * 31, "OMP_API_KEY must have at least 32 characters (OMP 0.1, section 7)."),
        ("OMP_RATE_LIMIT", "no", "OMP_RATE_LIMIT must be one of: on, off."),
        ("DATABASE_URL", "mysql://host/name", "DATABASE_URL must be a postgresql:// address."),
    ],
)
def test_setting_that_cannot_be_read(tmp_path: Path, name: str, value: str, sentence: str) -> None:
    assert attempt(tmp_path, **{name: value}) == (1, f"{sentence}\n")


def test_data_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")

    status, said = attempt(tmp_path / "file")

    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"The data folder {tmp_path / 'file'} cannot be used because a file is in the way;")


def test_data_folder_that_is_read_only(tmp_path: Path) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir(mode=0o555)
    account = Account(NOBODY, NOBODY, behind_closed_folders=True) if os.geteuid() == 0 else None

    status, said = attempt(folder, account)

    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"The data folder {folder} cannot be used because it is read-only for this user;")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of 16 MB."""
    path = tmp_path / "small"
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode != 0:
        pytest.skip("file systems cannot be mounted here")
    yield path
    subprocess.run(["umount", str(path)], check=True)


def test_disk_that_is_small_and_then_full(small_disk: Path) -> None:
    status, said = attempt(small_disk / "data")

    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"The disk of the data folder {small_disk / 'data'} is full: 16 MB are free and 200 MB")

    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(b"\0" * free.f_bavail * free.f_frsize)
    status, said = attempt(small_disk / "data")

    assert (status, said.count("\n")) == (1, 1)
    assert said.startswith(f"The data folder {small_disk / 'data'} cannot be used because its disk is full;")


def test_python_that_is_too_old(tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.1 && exit\nexit 1\n')
    old.chmod(0o755)

    done = subprocess.run(
        ["make", f"PYTHON={old}", f"VENV={tmp_path}/venv", "run"],
        cwd=PROJECT,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 2
    sentence = done.stderr.splitlines()[0]
    assert sentence.startswith(f"Commonplace needs Python 3.11 or newer, and {old} is Python 3.9.1; install one")
    assert not (tmp_path / "venv").exists()


def test_part_that_fails_again_and_again(tmp_path: Path) -> None:
    code = """if True:
        import subprocess, sys
        from embedded.errors import StartError
        from embedded.supervisor import Service, Supervisor
        steady = Service('The steady one', lambda: subprocess.Popen(['sleep', '1000'], start_new_session=True))
        failing = Service('The failing one', lambda: subprocess.Popen(['sh', '-c', 'exit 3'], start_new_session=True))
        try:
            with Supervisor(print, backoff=(0.01, 0.02)) as supervisor:
                supervisor.add(steady, seconds=1)
                supervisor.add(failing, seconds=1)
                supervisor.watch()
        except StartError as error:
            print(error)
            print('steady one:', steady.process.returncode)
        """

    assert script(code, tmp_path).stdout.splitlines() == [
        "The failing one has ended: it ended with exit code 3. It is started again in 0.01 s.",
        "The failing one has ended: it ended with exit code 3. It is started again in 0.02 s.",
        "The failing one failed 3 times in a row, the last time because: it ended with exit code 3. "
        "Everything is stopped; the lines above tell more.",
        "steady one: -15",
    ]


def test_command_that_cannot_have_its_servers(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("something else")
    env = clean_environment(OMP_DATA_DIR=str(tmp_path / "file"), SECRET_KEY="s" * 50)

    done = subprocess.run(
        [sys.executable, "manage.py", "createkey"], cwd=PROJECT, env=env, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1
    assert done.stderr.startswith("The data folder")
    assert done.stderr.count("\n") == 1
