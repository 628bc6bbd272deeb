"""Reading large files of every format: megabytes a second, and the most memory that reading one takes.

A chunk of an import is stored in between; `make bench-transfer` measures that.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.queues
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._large import LARGE, vault_write, zip_write
from bench._support import finish, service, table

Results: TypeAlias = "multiprocessing.queues.SimpleQueue[tuple[str, int, float, float]]"
MIB = 1024 * 1024


def plain_write(path: Path, kind: str, size: int) -> None:
    """Write a file of a kind."""
    with path.open("wb") as file:
        for piece in LARGE[kind].pieces(size):
            file.write(piece)


def packed_write(path: Path, kind: str, size: int) -> None:
    """Write a zip of a kind, "vault" for one of many notes."""
    with path.open("wb") as file:
        if kind == "vault":
            vault_write(file, size)
        else:
            zip_write(file, kind, size)


def held_mib(name: str) -> float:
    """Return this process's memory in MiB: VmRSS for what it holds, VmHWM for the most that it has held."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{name}:")[1].split()[0]) / 1024


def read(path: Path, results: Results) -> None:
    """Read a file in a process of its own, whose peak of memory is then the reader's."""
    from memories.importers.records import Broken
    from memories.transfer.readers import source_open

    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, started, records = held_mib("VmRSS"), time.perf_counter(), 0
    with path.open("rb") as file:
        source = source_open(file, None)
        for record in source.records:
            assert not isinstance(record, Broken), record.error.envelope()
            records += 1
    results.put((source.format, records, time.perf_counter() - started, held_mib("VmHWM") - before))


def measure(path: Path) -> tuple[str, int, float, float]:
    """Return (format, records, seconds, MiB) of reading a file."""
    results: Results = multiprocessing.SimpleQueue()
    process = multiprocessing.get_context("fork").Process(target=read, args=(path, results))
    process.start()
    process.join()
    assert process.exitcode == 0, path.name
    return results.get()


def main() -> None:
    """Write each file, read it, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=20, help="of each file; of a zip, unpacked")
    parser.add_argument("--only", default="", help="the name of one file")
    options = parser.parse_args()
    size = options.megabytes * MIB
    files: dict[str, Callable[[Path], None]] = {
        kind: lambda path, kind=kind: plain_write(path, kind, size)  # type: ignore[misc]
        for kind in LARGE
    }
    files |= {
        f"{kind}, zipped": lambda path, kind=kind: packed_write(path, kind, size)  # type: ignore[misc]
        for kind in ("chatgpt", "claude", "vault")
    }
    rows = []
    with service("importers"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "import"
        for name, write in files.items():
            if options.only in ("", name):
                write(path)
                format, records, seconds, memory = measure(path)
                rows.append([name, format, f"{records:,}", f"{options.megabytes / seconds:.1f}", f"{memory:.0f}"])
                path.unlink()
    table([f"{options.megabytes} MB of", "found out", "records", "MB/s", "memory MiB"], rows)
    finish("importers", {"megabytes": options.megabytes, "rows": rows})


if __name__ == "__main__":
    main()
