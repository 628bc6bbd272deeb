"""Reading a long JSON document piece by piece, in memory that does not grow with the document or its nesting.

The document is an object or a list. Its pieces are what is one level below a list or an object at the top: the items
of each list, the members of each object, the plain values beside them. The caller decodes each piece by itself, with
the same decoder as any request body, so that a piece that is no valid text spoils no other.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from api.body import json_decode
from api.errors import Invalid

READ = 64 * 1024
LONGEST = 64 * 1024 * 1024  # of a piece whose text is given
BOM = b"\xef\xbb\xbf"
SPACE = re.compile(rb"[ \t\r\n]*")
# A bracket or a whole string, whose closing quote is the group: without it the string goes on beyond the buffer.
NESTED = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(")?|[\[\]{}]', re.DOTALL)
STRING_REST = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+(")?', re.DOTALL)
PLAIN = re.compile(rb"[^ \t\r\n,\[\]{}:\"]*")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document.

    `key` is the member of the top-level object in which it lies, None in a top-level list. `name` is its own name
    when it is a member of an object. `raw` is its JSON text; None announces the beginning of a list or an object.
    Of a piece that is longer than the limit only its `size` in bytes is known: its `raw` is empty.
    """

    key: str | None
    name: str | None
    raw: bytes | None
    opens: str = ""
    size: int = 0


def json_pieces(stream: BinaryIO, limit: int = LONGEST) -> Iterator[Piece]:
    """Yield the pieces of the JSON document in a stream, none with a text of more than `limit` bytes.

    Raises Invalid where it is no JSON.
    """
    reader = _Reader(stream, limit)
    opening = reader.peek()
    if opening == b"[":
        yield from _container(reader, None)
    elif opening == b"{":
        for key in _keys(reader):
            if reader.peek() in (b"[", b"{"):
                yield from _container(reader, key)
            else:
                yield _piece(key, None, reader)
    else:
        raise reader.malformed()
    if reader.peek():
        raise reader.malformed()


def _piece(key: str | None, name: str | None, reader: "_Reader") -> Piece:
    raw, size = reader.value()
    return Piece(key, name, raw, size=size)


def _container(reader: "_Reader", key: str | None) -> Iterator[Piece]:
    opening = reader.peek()
    yield Piece(key, None, None, opening.decode())
    if opening == b"{":
        for name in _keys(reader):
            yield _piece(key, name, reader)
        return
    reader.take(b"[")
    if reader.peek() == b"]":
        reader.take(b"]")
        return
    while True:
        yield _piece(key, None, reader)
        if reader.take(b",", b"]") == b"]":
            return


def _keys(reader: "_Reader") -> Iterator[str]:
    """Yield the keys of the object that begins here; the caller takes each value before the next key."""
    reader.take(b"{")
    if reader.peek() == b"}":
        reader.take(b"}")
        return
    while True:
        if reader.peek() != b'"':
            raise reader.malformed()
        key = str(json_decode(reader.value()[0]))
        reader.take(b":")
        yield key
        if reader.take(b",", b"}") == b"}":
            return


class _Reader:
    """A window on the stream that moves over one piece at a time."""

    def __init__(self, stream: BinaryIO, limit: int) -> None:
        self.stream, self.limit, self.position, self.before = stream, limit, 0, 0
        self.buffer = stream.read(READ).removeprefix(BOM)

    def malformed(self) -> Invalid:
        """Return the error for what is no JSON, with its place and without its text."""
        place = self.before + self.position
        return Invalid.field("body", f"The body is no valid JSON (near byte {place}).")

    def fill(self) -> bool:
        """Make the window at least twice as long, so that a long piece is scanned in linear time; False at the end."""
        held = self.buffer[self.position :]
        self.before += self.position
        more = self.stream.read(max(READ, len(held)))
        self.buffer, self.position = held + more, 0
        return bool(more)

    def peek(self) -> bytes:
        """Return the next byte that is no white space, nothing at the end."""
        while True:
            found = SPACE.match(self.buffer, self.position)
            self.position = found.end() if found else self.position
            if self.position < len(self.buffer):
                return self.buffer[self.position : self.position + 1]
            if not self.fill():
                return b""

    def take(self, *expected: bytes) -> bytes:
        """Move over the next byte and return it. Raises Invalid for another than the expected."""
        byte = self.peek()
        if byte not in expected:
            raise self.malformed()
        self.position += 1
        return byte

    def value(self) -> tuple[bytes, int]:
        """Move over one value; return its text and its bytes. It is not checked further than its brackets and quotes.

        Of a value that is longer than the limit the text is not held: an empty one is returned.
        """
        opening = self.peek()
        if opening in (b"{", b"[", b'"'):
            return self._nested()
        while True:
            found = PLAIN.match(self.buffer, self.position)
            end = found.end() if found else self.position
            if end < len(self.buffer) or end - self.position > READ or not self.fill():
                break
        size = end - self.position
        if not 0 < size <= READ:
            raise self.malformed()
        raw, self.position = self.buffer[self.position : end], end
        return raw, size

    def _nested(self) -> tuple[bytes, int]:
        begun, scanned = self.before + self.position, self.position
        depth, in_string = 0, False
        while True:
            found = (STRING_REST.match if in_string else NESTED.search)(self.buffer, scanned)
            if found is not None:
                token, scanned = found.group(), found.end()
                depth += (token in (b"{", b"[")) - (token in (b"}", b"]")) if not in_string else 0
                in_string = found.lastindex is None and (in_string or token[:1] == b'"')
                if depth == 0 and not in_string:
                    break
            if found is None or in_string:
                scanned = scanned if found else len(self.buffer)
                if self.before + scanned - begun > self.limit:
                    self.position = scanned  # too long to be held
                scanned -= self.position
                if not self.fill():
                    raise self.malformed()
        size = self.before + scanned - begun
        raw = self.buffer[self.position : scanned] if size <= self.limit else b""
        self.position = scanned
        return raw, size
