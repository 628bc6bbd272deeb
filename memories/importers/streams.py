"""Reading the files of other products: encodings as they come, JSON item by item, text line by line."""

import codecs
import json
from collections.abc import Iterator
from io import IncrementalNewlineDecoder
from math import isfinite
from typing import Any, BinaryIO, Protocol, cast

from api.errors import Invalid
from api.jsonstream import Piece, json_pieces
from memories.importers.records import Report

READ = 256 * 1024
MAX_ITEM_BYTES = 16 * 1024 * 1024  # as long as a conversation may be that a client stores
MAX_LINE = 16 * 1024 * 1024


class Readable(Protocol):
    """What bytes come from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes."""
        ...


class Utf8:
    """A file's bytes as valid UTF-8 without a byte order mark; what is not text becomes U+FFFD and is counted.

    Windows programs write UTF-16 with a mark; everything else is taken for UTF-8. Every line ends with a line feed.
    """

    def __init__(self, file: Readable, report: Report) -> None:
        head = file.read(4)
        encoding = "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        self.file, self.report, self.held = file, report, b""
        self.decoder = IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)("replace"), translate=True)
        self.begin, self.over = head, False

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, all that are left without a size; nothing at the end."""
        while not self.over and (size < 0 or len(self.held) < size):
            raw, self.begin = self.begin + self.file.read(READ), b""
            self.over = not raw
            text = self.decoder.decode(raw, self.over)
            self.report.repaired += text.count("\ufffd")
            self.held += text.encode("utf-8", "replace")
        size = len(self.held) if size < 0 else size
        piece, self.held = self.held[:size], self.held[size:]
        return piece


def json_items(file: Readable, report: Report) -> Iterator[tuple[str | None, str | None, Any]]:
    """Yield (key, name, value) for each item of the lists and members of the objects at the top of a JSON file.

    A value that is no JSON by itself is yielded as an Invalid; where the file stops being JSON, an Invalid is the last.
    """
    try:
        for piece in json_pieces(cast(BinaryIO, Utf8(file, report)), MAX_ITEM_BYTES):
            if piece.raw is not None:
                yield piece.key, piece.name, _decoded(piece)
    except Invalid:
        yield None, None, Invalid.field("", "The file stops being JSON here; what comes after this point is not read.")


def _decoded(piece: Piece) -> Any:
    if piece.size > MAX_ITEM_BYTES:
        return Invalid.field("", f"It has {piece.size} bytes; at most {MAX_ITEM_BYTES} are read.")
    try:
        return json_value(piece.raw or b"")
    except ValueError:
        return Invalid.field("", "It is no valid JSON.")


def json_value(raw: bytes | str) -> Any:
    """Return the value of a JSON text; what is no number of JSON is null. Raises ValueError for what is no JSON."""
    try:
        return json.loads(raw, parse_constant=lambda name: None, parse_float=_number)
    except RecursionError:
        raise ValueError("too deep") from None


def _number(text: str) -> float | None:
    """Return a number with a fraction or an exponent; one beyond what a float holds is null."""
    number = float(text)
    return number if isfinite(number) else None


def text_lines(file: Readable, report: Report, longest: int = MAX_LINE) -> Iterator[str]:
    """Yield a text file's lines, each with one line feed at its end.

    A line of more than about `longest` bytes comes in pieces of which only the last has one.
    """
    source, held = Utf8(file, report), b""
    while piece := source.read(READ):
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            yield line.decode() + "\n"
        while len(held) > longest:
            text = held[:longest].decode("utf-8", "ignore")  # of a character that is cut the rest comes next
            held = held[len(text.encode()) :]
            yield text
    if held:
        yield held.decode() + "\n"
