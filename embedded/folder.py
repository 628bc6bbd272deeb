"""The data folder: where everything a service keeps lies, and who may use it at the moment."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from embedded.errors import StartError

#: A fresh PostgreSQL cluster takes 40 MB and its write-ahead log 80 MB more.
MEGABYTES_TO_CREATE = 200
#: Below this PostgreSQL could start but not finish the recovery after a crash.
MEGABYTES_TO_START = 48

#: sun_path holds 104 bytes on macOS and 108 on Linux, with the final NUL.
SOCKET_PATH_BYTES = 103
_LONGEST_SOCKET_NAME = ".s.PGSQL.5432"


@dataclass(frozen=True)
class DataFolder:
    """Paths below one data folder; `root` is absolute and free of symbolic links."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> DataFolder:
        """Return the folder at `path`, which need not exist yet."""
        return cls(Path(os.path.realpath(path)))

    @property
    def postgres(self) -> Path:
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def sockets(self) -> Path:
        """Return the folder of the Unix sockets, the same for every process that asks.

        It is inside the data folder unless that path is too long for a socket address.
        """
        inside = self.root / "run"
        if len(os.fsencode(inside / _LONGEST_SOCKET_NAME)) <= SOCKET_PATH_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.root)).hexdigest()[:16]
        return Path("/tmp") / f"commonplace-{digest}"  # noqa: S108 - checked by private_folder()

    def create(self) -> None:
        """Create the folder and its logs folder, and check that it can be written.

        Raises StartError when it cannot be created or written, or the disk is full.
        """
        # As root the servers run as another account, which must be able to pass through.
        mode = 0o711 if os.geteuid() == 0 else 0o700
        try:
            if not self.root.exists():
                self.root.mkdir(parents=True)
                self.root.chmod(mode)
            self.logs.mkdir(mode=0o700, exist_ok=True)
            probe = self.root / f".probe-{os.getpid()}"
            try:
                probe.write_bytes(b"\0" * 8192)
            finally:
                probe.unlink(missing_ok=True)
        except OSError as error:
            raise self.unusable(error) from error
        fresh = not (self.postgres / "PG_VERSION").exists()
        wanted = MEGABYTES_TO_CREATE if fresh else MEGABYTES_TO_START
        free = shutil.disk_usage(self.root).free // 2**20
        if free < wanted:
            raise StartError(
                f"The disk of the data folder {self.root} is full: {free} MB are free and "
                f"{wanted} MB are needed; make room or set OMP_DATA_DIR to another folder."
            )

    def unusable(self, error: OSError) -> StartError:
        """Return the sentence for an error met while writing in the folder."""
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = "its disk is full"
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            reason = "it is read-only for this user"
        elif error.errno in (errno.EEXIST, errno.ENOTDIR, errno.ENOTEMPTY):
            reason = "a file is in the way"
        else:
            reason = os.strerror(error.errno or 0).lower()
        return StartError(
            f"The data folder {self.root} cannot be used because {reason}; "
            "set OMP_DATA_DIR to a folder that can be written."
        )


def private_folder(path: Path, uid: int, gid: int) -> None:
    """Create `path` for one account alone, or check that it is so.

    Raises StartError when somebody else owns it: in a shared temporary folder another user
    could have put it there to listen in.
    """
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        if os.geteuid() == 0:
            os.chown(path, uid, gid)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise StartError(f"{path} is in the way of a folder that the service needs; move it.")
    if found.st_uid != uid:
        raise StartError(
            f"The folder {path} belongs to another user (number {found.st_uid}), so the service "
            "leaves it alone; start as that user or set OMP_DATA_DIR to another folder."
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)


class Lock:
    """A lock file: held by this process while open, and let go by the system if it dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def take(self, *, shared: bool = False, seconds: float = 0) -> bool:
        """Take the lock, waiting at most `seconds`; return whether it is held now.

        Taking it again changes it between shared and exclusive.
        """
        if self._descriptor is None:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(self._descriptor, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.05)
            else:
                return True

    def release(self) -> None:
        """Let the lock go; harmless when it is not held."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock for a block, waiting for it as long as it takes."""
        self.take(seconds=float("inf"))
        try:
            yield
        finally:
            self.release()
