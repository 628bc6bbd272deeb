"""Every format is read as it comes: no further than what was asked for, and nothing of it is held."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Iterator
from itertools import islice

import pytest

from api import jsonstream
from bench._large import LARGE
from memories.importers import FORMATS, detect, format_of, records, streams
from memories.importers.records import Talk
from memories.transfer.readers import READERS, source_open

READ = 8 * 1024  # bytes of a piece here; readers take larger ones
SIZE = 600_000
HELD = 450_000  # bytes that a reader may hold while the file goes by; a file that is held needs more than it has
AHEAD = 50_000  # bytes that it may have read beyond what it has given


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "READ", READ)
    monkeypatch.setattr(jsonstream, "READ", READ)


class Made(io.RawIOBase):
    """A file that is made while it is read, from its beginning each time; it counts what was read of it."""

    def __init__(self, kind: str, size: int = SIZE) -> None:
        self.kind, self.size = kind, size
        self.seek(0)

    def seek(self, place: int, whence: int = 0, /) -> int:
        assert place == 0, "a stream is read from its beginning"
        self.pieces: Iterator[bytes] = LARGE[self.kind].pieces(self.size)
        self.left, self.given = b"", 0
        return 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        parts, held = [self.left], len(self.left)
        while held < size and (more := next(self.pieces, b"")):
            parts.append(more)
            held += len(more)
        made = b"".join(parts)
        piece, self.left = made[:size], made[size:]
        self.given += len(piece)
        return piece

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return a line as a file does."""
        line = next(self.pieces, b"")
        self.given += len(line)
        return line


def format_named(kind: str) -> str:
    return kind.partition(" ")[0]


def test_there_is_a_large_file_of_every_format() -> None:
    assert {format_named(kind) for kind in LARGE} == {*FORMATS, *READERS}


@pytest.mark.parametrize("kind", LARGE)
def test_reads_no_further_than_it_must_and_holds_nothing(kind: str) -> None:
    file = Made(kind)
    tracemalloc.start()
    try:
        source = source_open(file, format_named(kind))  # type: ignore[arg-type]
        beginning = file.given
        count = sum(1 for _ in islice(source.records, 1))
        early = file.given
        count += sum(1 for _ in source.records)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert count >= (1 if kind.endswith("messages") else 20)
    assert file.given >= SIZE
    if not kind.endswith("messages"):
        # The protocol's own file is looked through once before anything of it is stored.
        assert early - (beginning if kind in READERS else 0) < AHEAD
        assert peak < HELD, f"{peak:,} bytes"


@pytest.mark.parametrize("kind", ["letta messages", "zep messages"])
def test_messages_without_an_end_become_several_conversations(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "TALK_CHARS", 200_000)
    file = Made(kind, 650_000)

    talks = list(source_open(file, format_named(kind)).records)  # type: ignore[arg-type]

    assert len(talks) == 3
    assert all(isinstance(talk, Talk) for talk in talks)
    assert len({talk.id for talk in talks}) == 3
    assert max(sum(len(message["content"]) for message in talk.messages) for talk in talks) < 201_000


class Counted(io.BytesIO):
    """A file that counts what is read of it."""

    taken = 0

    def read(self, size: int | None = -1, /) -> bytes:
        piece = super().read(size)
        self.taken += len(piece)
        return piece


def test_a_look_at_the_format_goes_no_further_than_a_first_item(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detect, "LOOKED_BYTES", 20_000)
    file = Counted(b"[" * 1_000_000)

    format_of(file)

    assert file.taken < 200_000


@pytest.mark.parametrize("kind", LARGE)
def test_the_format_of_a_large_file_is_found_out(kind: str) -> None:
    content = io.BytesIO(b"".join(LARGE[kind].pieces(200_000)))

    assert format_of(content) == format_named(kind)
