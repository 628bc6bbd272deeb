"""Reading the files of other products: encodings as they come, JSON item by item, zips without their dangers."""

import codecs
import json
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol, cast

from django.conf import settings

from api.errors import Invalid, PayloadTooLarge
from api.jsonstream import Piece, json_pieces
from memories.importers.records import Report

READ = 256 * 1024
MAX_MEMBERS = 20_000
MAX_UNPACKED = 20  # times what an import may have as a file
MAX_RATIO = 200  # of a member's size to its packed size; text packs about ten to one
RATIO_FROM = 10 * 1024 * 1024
MAX_ITEM_BYTES = 64 * 1024 * 1024


class Readable(Protocol):
    """What bytes come from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes."""
        ...


class Utf8:
    """A file's bytes as valid UTF-8 without a byte order mark; what is not text becomes U+FFFD and is counted.

    Windows programs write UTF-16 with a mark; everything else is taken for UTF-8.
    """

    def __init__(self, file: Readable, report: Report) -> None:
        head = file.read(4)
        encoding = "utf-16" if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig"
        self.file, self.report, self.held = file, report, b""
        self.decoder = codecs.getincrementaldecoder(encoding)("replace")
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
        for piece in json_pieces(cast(BinaryIO, Utf8(file, report))):
            if piece.raw is not None:
                yield piece.key, piece.name, _decoded(piece)
    except Invalid:
        yield None, None, Invalid.field("", "The file stops being JSON here; what comes after this point is not read.")


def _decoded(piece: Piece) -> Any:
    assert piece.raw is not None
    if len(piece.raw) > MAX_ITEM_BYTES:
        return Invalid.field("", f"It has {len(piece.raw)} bytes; at most {MAX_ITEM_BYTES} are read.")
    try:
        return json.loads(piece.raw, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        return Invalid.field("", "It is no valid JSON.")


def text_all(file: Readable, report: Report) -> str:
    """Return a whole text file."""
    return Utf8(file, report).read().decode().replace("\r\n", "\n").replace("\r", "\n")


def text_lines(file: Readable, report: Report) -> Iterator[str]:
    """Yield a text file's lines, each with one line feed at its end."""
    source, held = Utf8(file, report), b""
    while piece := source.read(READ):
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            yield line.decode().rstrip("\r") + "\n"
    if held:
        yield held.decode().rstrip("\r") + "\n"


class Member:
    """A zip's member, which may not unpack to more than the zip has said and all members together may."""

    def __init__(self, file: Any, size: int) -> None:
        self.file, self.left = file, size

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.file.close()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes. Raises Invalid for a damaged member, PayloadTooLarge beyond its size."""
        try:
            piece: bytes = self.file.read(size if size >= 0 else self.left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
            raise Invalid.field("body", "The zip is damaged.") from None
        self.left -= len(piece)
        if self.left < 0:
            raise PayloadTooLarge("A file in the zip unpacks to more than the zip says.")
        return piece


def zip_open(file: BinaryIO) -> zipfile.ZipFile:
    """Return a zip whose directory holds no danger: nothing leads out of it, is encrypted or unpacks to too much.

    Nothing is ever unpacked to disk. Raises Invalid and PayloadTooLarge.
    """
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Invalid.field("body", "The zip is damaged or no zip.") from None
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise PayloadTooLarge(f"The zip has {len(members)} files; at most {MAX_MEMBERS} are allowed.")
    limit = MAX_UNPACKED * settings.MAX_IMPORT_BYTES
    if sum(member.file_size for member in members) > limit:
        raise PayloadTooLarge(f"The zip unpacks to more than {limit} bytes.", {"limit": limit})
    for member in members:
        parts = member.filename.replace("\\", "/").split("/")
        if member.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise Invalid.field("body", "The zip holds a path that leads out of it, so it is refused.")
        if member.flag_bits & 1:
            raise Invalid.field("body", "The zip is encrypted. Unpack it and send what is in it.")
        if member.file_size > RATIO_FROM and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise PayloadTooLarge("A file in the zip is packed so tightly that it is taken for a zip bomb.")
    return archive


def member_open(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Member:
    """Return a member as a file to read from its beginning. Raises Invalid for a damaged one."""
    try:
        return Member(archive.open(member), member.file_size)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        raise Invalid.field("body", "The zip is damaged.") from None
