"""Reading a large ChatGPT export: seconds and peak memory for 200 MB of JSON, bare and in a zip."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import tempfile
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, service, table


def conversation(number: int) -> bytes:
    """Return a conversation of about 20 kB as ChatGPT exports it."""
    mapping: dict[str, object] = {"root": {"id": "root", "parent": None, "children": ["m0"], "message": None}}
    for n in range(20):
        role = "user" if n % 2 == 0 else "assistant"
        mapping[f"m{n}"] = {
            "id": f"m{n}", "parent": "root" if n == 0 else f"m{n - 1}", "children": [f"m{n + 1}"] if n < 19 else [],
            "message": {
                "id": f"m{n}", "author": {"role": role}, "create_time": 1_700_000_000.0 + n, "recipient": "all",
                "content": {"content_type": "text", "parts": [f"Message {n} of {number}. " + "Words and words. " * 45]},
            },
        }  # fmt: skip
    return json.dumps(
        {
            "id": f"conversation-{number}", "title": f"Conversation {number}", "create_time": 1_700_000_000.0,
            "current_node": "m19", "mapping": mapping,
        }
    ).encode()  # fmt: skip


def make(path: Path, megabytes: int) -> int:
    """Write an export of that size and return how many conversations it has."""
    count = 0
    with path.open("wb") as file:
        while file.tell() < megabytes * 1024 * 1024:
            file.write(b"[" if count == 0 else b",")
            file.write(conversation(count))
            count += 1
        file.write(b"]")
    return count


def read(path: Path, expected: int, results: multiprocessing.SimpleQueue[tuple[float, float]]) -> None:
    """Read a file in a process of its own, whose peak of memory is then the reader's."""
    from memories.importers import Report, format_of, read_foreign
    from memories.importers.records import Talk

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    with path.open("rb") as file:
        found = sum(isinstance(record, Talk) for record in read_foreign(file, format_of(file), Report()))
    seconds = time.perf_counter() - started
    assert found == expected, f"{found} of {expected} conversations were read"
    results.put((seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main() -> None:
    """Write the file, read it bare and zipped, print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=200)
    megabytes = parser.parse_args().megabytes
    rows = []
    with service("importers"), tempfile.TemporaryDirectory() as folder:
        plain, packed = Path(folder) / "conversations.json", Path(folder) / "export.zip"
        count = make(plain, megabytes)
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.write(plain, "conversations.json")
        for path in (plain, packed):
            results: multiprocessing.SimpleQueue[tuple[float, float]] = multiprocessing.SimpleQueue()
            process = multiprocessing.get_context("fork").Process(target=read, args=(path, count, results))
            process.start()
            process.join()
            seconds, memory = results.get()
            rows.append([path.name, f"{count:,}", f"{seconds:.1f}", f"{megabytes / seconds:.0f}", f"{memory:.0f}"])
    table(["file", "conversations", "seconds", "MB/s", "memory MB"], rows)
    finish("importers", {"megabytes": megabytes, "rows": rows})


if __name__ == "__main__":
    main()
