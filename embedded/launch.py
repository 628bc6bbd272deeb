"""Starting a program so that it ends with the one who started it, and as the right account.

Run as a script, this file is the last step before the program: it changes account and the rest
of its own process in ways that subprocess does only before fork, where threads make it unsafe,
and then becomes the program. It therefore imports the standard library alone.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

# Constants of <linux/prctl.h> and <linux/capability.h>.
PR_SET_PDEATHSIG = 1
PR_SET_KEEPCAPS = 8
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
CAP_DAC_OVERRIDE = 1
CAP_DAC_READ_SEARCH = 2
CAPABILITY_VERSION_3 = 0x20080522

#: Exit status of the launcher when it could not become the program, as a shell's.
CANNOT_START = 127


@dataclass(frozen=True)
class Account:
    """An account of the operating system to run a program as."""

    uid: int
    gid: int
    #: Folders above the program or its data are closed to this account.
    behind_closed_folders: bool = False


def start(
    command: Sequence[str],
    *,
    account: Account | None = None,
    death_signal: signal.Signals | None = None,
    detach: bool = False,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdout: IO[bytes] | int | None = None,
    stderr: IO[bytes] | int | None = None,
) -> subprocess.Popen[bytes]:
    """Start `command` in a session of its own and return its process.

    `account` is honoured when this process is root. `death_signal` reaches the program when this
    process dies, however it dies (Linux only; call from the main thread, whose end counts as the
    process's). With `detach` the program outlives this process and the one returned is only the
    launcher, which ends at once.
    """
    options = ["--parent", str(os.getpid())]
    if account is not None and os.geteuid() == 0:
        options += ["--uid", str(account.uid), "--gid", str(account.gid)]
        if account.behind_closed_folders:
            options.append("--search")
    if death_signal is not None:
        options += ["--death-signal", str(int(death_signal))]
    if detach:
        options.append("--detach")
    return subprocess.Popen(
        [sys.executable, "-IS", __file__, *options, "--", *command],
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        env=env,
        cwd=cwd,
        start_new_session=True,
    )


def become(command: list[str], options: Mapping[str, str]) -> None:
    """Change this process as `options` say and turn it into `command`; return only by an error."""
    uid = int(options["--uid"]) if "--uid" in options else None
    if "--detach" in options:
        # The grandchild's parent is init, so that nobody has to wait for it.
        if os.fork() != 0:
            os._exit(0)
        os.setsid()
    if uid is not None:
        _change_account(uid, int(options["--gid"]), search="--search" in options)
    if "--death-signal" in options:
        # After the change of account, which would clear it again.
        die_with_parent(int(options["--parent"]), signal.Signals(int(options["--death-signal"])))
    os.umask(0o077)
    os.execvp(command[0], command)  # noqa: S606 - there is no shell to be had


def die_with_parent(parent: int, death_signal: signal.Signals) -> None:
    """Have the kernel send `death_signal` to this process when `parent` dies (Linux only)."""
    if not sys.platform.startswith("linux"):
        return
    _prctl(PR_SET_PDEATHSIG, int(death_signal))
    if os.getppid() != parent:
        # The parent died before the kernel was asked.
        os.kill(os.getpid(), death_signal)


def _change_account(uid: int, gid: int, *, search: bool) -> None:
    if search:
        _prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)
    if search and not any(_keep(one) for one in (CAP_DAC_READ_SEARCH, CAP_DAC_OVERRIDE)):
        raise PermissionError("root may not pass closed folders here")


def _keep(capability: int) -> bool:
    """Keep one of root's powers over the change of account and exec; return whether it worked."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    mask = 1 << capability
    # Two blocks of effective, permitted and inheritable; both powers are in the first.
    sets = (ctypes.c_uint32 * 6)(mask, mask, mask, 0, 0, 0)
    if libc.capset(ctypes.byref(header), ctypes.byref(sets)) != 0:
        return False
    return int(libc.prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)) == 0


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _main(arguments: list[str]) -> None:
    end = arguments.index("--")
    words = iter(arguments[:end])
    options = {word: "" if word in ("--search", "--detach") else next(words) for word in words}
    command = arguments[end + 1 :]
    try:
        become(command, options)
    except OSError as error:
        print(f"{command[0]} cannot be started: {error}", file=sys.stderr)
        sys.exit(CANNOT_START)


if __name__ == "__main__":
    _main(sys.argv[1:])
