"""From the bytes of an import file to its records, one at a time; one reader for each format."""

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from api.body import json_decode
from api.errors import Invalid
from api.jsonstream import json_pieces
from api.schemas import parse
from memories.importers import FORMATS, TEXTS, format_of, one_object, read_foreign, text_check
from memories.importers.records import Broken, Report
from memories.importers.zips import zip_is
from memories.transfer.schemas import Conflict, ConflictInBody

MAX_RECORD_BYTES = 1024 * 1024
MAX_STRAY_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Source:
    """A file that has been looked through: how many records it has, which strategy it asks for, the records.

    A record is a JSON object in the shape of ImportRecord, or any other JSON value, or Broken, or, from another
    product, a Talk. The same file always gives the same records, so that a second reading can go on at the n-th.
    `total` is None when only reading all of it would tell. `report` fills while the records are read.
    """

    total: int | None
    conflict: Conflict | None
    records: Iterator[Any]
    report: Report | None = None
    format: str = "omp"


def record_decode(raw: bytes, size: int) -> Any:
    """Return the JSON value of a record of `size` bytes, or Broken; of one that is too long no text is needed."""
    if size > MAX_RECORD_BYTES:
        return Broken(Invalid.field("", f"It has {size} bytes; a record has at most {MAX_RECORD_BYTES}."))
    try:
        return json_decode(raw)
    except Invalid as error:
        return Broken(Invalid(details={"fields": {"": error.details["fields"]["body"]}}))


class Extension:
    """The extension fields of an export by the ids of its memories: on disk, since there can be as many as memories."""

    def __init__(self) -> None:
        self.table = sqlite3.connect("")  # a file that has no name and goes with the connection
        self.table.execute("CREATE TABLE extension (id TEXT PRIMARY KEY, size INTEGER, raw BLOB) WITHOUT ROWID")

    def put(self, id: str, raw: bytes, size: int) -> None:
        """Keep the fields of a memory."""
        key = id.encode("utf-8", "replace")
        self.table.execute("INSERT OR REPLACE INTO extension VALUES (?, ?, ?)", [key, size, raw])

    def get(self, id: str) -> tuple[bytes, int] | None:
        """Return the fields of a memory and their length, None when it has none."""
        key = id.encode("utf-8", "replace")
        row: tuple[bytes, int] | None = self.table.execute(
            "SELECT raw, size FROM extension WHERE id = ?", [key]
        ).fetchone()
        return row


def read_omp(file: BinaryIO) -> Source:
    """Read an OMP export file: {"memories": [...]} with, from this software, {"extension": {id: {...}}}.

    The first reading finds out whether the file is whole before anything is stored. Raises Invalid.
    """
    extension = Extension()
    total, found, conflict = 0, False, None
    for piece in json_pieces(file, MAX_RECORD_BYTES):
        if piece.key is None:
            raise Invalid.field("body", 'It must be an object {"memories": [...]}.')
        if piece.key == "memories":
            found = found or piece.opens == "["
            if not found or piece.name is not None:
                raise Invalid.field("memories", "It must be a list.")
            total += piece.raw is not None
        elif piece.key == "extension" and piece.name is not None and piece.raw is not None:
            extension.put(piece.name, piece.raw, piece.size)
        elif piece.key == "conflict" and piece.raw is not None:
            if piece.size > MAX_STRAY_BYTES:
                raise Invalid.field("conflict", "It is too long.")
            conflict = parse(ConflictInBody, {"conflict": json_decode(piece.raw)}).conflict
    if not found:
        raise Invalid.field("memories", "It is required: the list of memories of an OMP export.")
    return Source(total, conflict, _omp_records(file, extension))


def _omp_records(file: BinaryIO, extension: Extension) -> Iterator[Any]:
    file.seek(0)
    for piece in json_pieces(file, MAX_RECORD_BYTES):
        if piece.key != "memories" or piece.raw is None:
            continue
        record = record_decode(piece.raw, piece.size)
        known = extension.get(record["id"]) if isinstance(record, dict) and isinstance(record.get("id"), str) else None
        if known is None:
            yield record
            continue
        fields = record_decode(*known)
        yield fields if isinstance(fields, Broken) else (fields if isinstance(fields, dict) else {}) | record


def read_ndjson(file: BinaryIO) -> Source:
    """Read one memory a line; a first line without content that says `omp_version` is the header of our export."""
    total = sum(1 for _ in _lines(file))
    return Source(total, None, (record_decode(*line) for line in _lines(file)))


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield the text and the length of each line that is not blank; of one that is too long its beginning."""
    file.seek(0)
    first = True
    while raw := file.readline(MAX_RECORD_BYTES + 2):
        text, size = raw.strip(), len(raw)
        while not raw.endswith(b"\n") and (raw := file.readline(MAX_RECORD_BYTES)):
            size += len(raw)
        if not text:
            continue
        header = first and b'"omp_version"' in text[:MAX_STRAY_BYTES] and b'"content"' not in text
        first = False
        if not header:
            yield text, size if size > MAX_RECORD_BYTES + 2 else len(text)


READERS: dict[str, Callable[[BinaryIO], Source]] = {"omp": read_omp, "ndjson": read_ndjson}
AUTO = "auto"
NAMES = (AUTO, *READERS, *FORMATS)
NOT_JSON = TEXTS | {"csv", "zip"}


def format_found(file: BinaryIO, format: str | None, content_type: str) -> str:
    """Return the format of a file, found out when its sender has not named it; it is left at its beginning.

    What is sent as JSON is never read as text. Raises Invalid for a text that is none.
    """
    if format in (None, AUTO):
        format = _format_found(file, content_type.lower())
    if format in TEXTS and not zip_is(file):
        text_check(file)
    return str(format)


def _format_found(file: BinaryIO, content_type: str) -> str:
    if "ndjson" in content_type:
        return "ndjson"
    found = format_of(file, ".jsonl" if "jsonl" in content_type else "")
    file.seek(0)
    if content_type.endswith("json") or not content_type:
        return "omp" if found in NOT_JSON else found
    return "jsonl" if found == "omp" and one_object(file) else found


def source_open(file: BinaryIO, format: str | None, content_type: str = "application/octet-stream") -> Source:
    """Return what a file holds; its format is found out when it is not named.

    Raises Invalid for an unknown format and for a file that is not of its format.
    """
    if format is not None and format not in NAMES:
        raise Invalid.field("format", f"It must be one of: {', '.join(NAMES)}.")
    format = format_found(file, format, content_type)
    file.seek(0)
    if format in READERS:
        return replace(READERS[format](file), format=format)
    report = Report()
    return Source(None, None, iter(read_foreign(file, format, report)), report, format)
