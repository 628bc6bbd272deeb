"""Clients that pip and npm bring, each installed once below the test data folder or beside its package.json."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from embedded.folder import Lock
from tests import environment

HERE = Path(__file__).resolve().parent
TYPESCRIPT = HERE / "typescript"
NODE = TYPESCRIPT / "node_modules" / "node" / "bin" / "node"
CONFORMANCE = TYPESCRIPT / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
PYTHON1 = environment.DATA_DIR / "mcp-1.x"


def _run(command: list[str], cwd: Path, given: str | None = None) -> str:
    done = subprocess.run(command, cwd=cwd, input=given, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, f"{command[:4]}:\n{done.stdout[-3_000:]}\n{done.stderr[-3_000:]}"
    return done.stdout


def node_install() -> None:
    """Install what package-lock.json pins, unless that has been done since it changed.

    Skips the test where there is no npm; in CI, which installs it, that is a failure.
    """
    if shutil.which("npm") is None:
        sentence = "npm is not installed; on Debian, apt-get install npm brings it"
        pytest.fail(sentence) if os.environ.get("CI") else pytest.skip(sentence)
    stamp, lockfile = TYPESCRIPT / "node_modules" / ".installed", TYPESCRIPT / "package-lock.json"
    with Lock(environment.DATA_DIR / "npm.lock").held():
        if stamp.is_file() and stamp.read_bytes() == lockfile.read_bytes() and NODE.is_file():
            return
        _run(["npm", "ci", "--no-audit", "--no-fund"], TYPESCRIPT)
        stamp.write_bytes(lockfile.read_bytes())


def python1_install() -> Path:
    """Return the Python of a virtual environment with the first generation of the SDK."""
    wanted = (HERE / "clients" / "requirements.txt").read_bytes()
    stamp, python = PYTHON1 / ".installed", PYTHON1 / "bin" / "python"
    with Lock(environment.DATA_DIR / "mcp-1.x.lock").held():
        if not (stamp.is_file() and stamp.read_bytes() == wanted):
            _run([sys.executable, "-m", "venv", "--clear", str(PYTHON1)], HERE)
            requirements = str(HERE / "clients" / "requirements.txt")
            _run([str(python), "-m", "pip", "install", "--quiet", "--requirement", requirements], HERE)
            stamp.write_bytes(wanted)
    return python


def client_run(command: list[str], cwd: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Return what a client in a process of its own saw."""
    seen: dict[str, Any] = json.loads(_run(command, cwd, json.dumps(task)))
    return seen
