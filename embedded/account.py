"""Which account of the operating system runs the embedded servers."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from embedded.folder import DataFolder
from embedded.launch import Account

#: Made as a system account the first time root starts the servers.
ACCOUNT_NAME = "commonplace"


def server_account(folder: DataFolder, programs: list[Path]) -> Account:
    """Return the account for the servers of `folder`.

    An ordinary user runs them as itself. PostgreSQL refuses to run as root, so under root they run
    as the account that already owns the data, or else as the system account `commonplace`, or
    `nobody` where no account can be made. `programs` are the files it must be able to execute.
    """
    if os.geteuid() != 0:
        return Account(os.geteuid(), os.getegid())
    uid, gid = _owner(folder.postgres) or _owner(folder.valkey) or _system_account()
    closed = not all(_may_pass(path, uid, gid) for path in (folder.postgres, folder.sockets, *programs))
    return Account(uid, gid, behind_closed_folders=closed)


def _owner(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return (found.st_uid, found.st_gid) if found.st_uid != 0 else None


def _system_account() -> tuple[int, int]:
    useradd = shutil.which("useradd")
    if useradd is not None and not _exists(ACCOUNT_NAME):
        subprocess.run(
            [useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT_NAME],
            check=False,  # a read-only /etc, or another start that was quicker
            capture_output=True,
        )
    entry = pwd.getpwnam(ACCOUNT_NAME if _exists(ACCOUNT_NAME) else "nobody")
    return entry.pw_uid, entry.pw_gid


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _may_pass(path: Path, uid: int, gid: int) -> bool:
    """Tell whether the account may search every folder above `path`, and execute a file there."""
    steps = [*path.parents, path] if path.is_file() else list(path.parents)
    for step in steps:
        if not step.exists():
            continue
        found = step.stat()
        shift = 6 if found.st_uid == uid else 3 if found.st_gid == gid else 0
        if not found.st_mode >> shift & 0o1:
            return False
    return True
