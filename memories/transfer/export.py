"""Export: every visible memory as a stream, in memory that does not grow with their number (OMP 0.1, section 3.3)."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from accounts.access import Access, space_set
from api.renderers import json_text
from api.timestamps import timestamp_format
from memories.filters import filtered
from memories.models import Memory, MemoryQuerySet
from memories.representation import memory_present
from memories.schemas import ExportParams
from memories.transfer.schemas import ImportRecord

OMP_VERSION = "0.1"
SERVER = f"commonplace/{settings.VERSION}"
ROWS = 500
# Columns beyond OMP that an import brings back; what has its default is left out of the file.
EXTENSION: dict[str, Any] = {
    name: ImportRecord.model_fields[name].default
    for name in (
        "tier",
        "subject",
        "origin",
        "pinned",
        "source_ref",
        "version",
        "recall_count",
        "last_recalled_at",
        "evidence_deleted",
    )
}


@contextmanager
def snapshot(access: Access) -> Iterator[None]:
    """Run a block whose statements all see the database as it was at the first one.

    A caller that is in a transaction already keeps that one's isolation.
    """
    nested = connection.in_atomic_block
    with transaction.atomic():
        if not nested:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        space_set(access.space_id)
        yield


def export_stream(access: Access, params: ExportParams) -> Iterator[bytes]:
    """Yield an export file, oldest memory first: the same rows always give the same bytes.

    The rows come from a cursor on the server, in a transaction that lasts as long as the stream.
    """
    write = WRITERS[params.format]
    with snapshot(access):
        visible = Memory.objects.visible_to(access, include_expired=params.include_expired)
        yield from _joined(write(filtered(visible, params).order_by("created_at", "id")))


def _joined(pieces: Iterator[str]) -> Iterator[bytes]:
    """Yield the same text as UTF-8 in pieces of a size that suits a socket."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= 32 * 1024:
            yield "".join(held).encode()
            held, size = [], 0
    yield "".join(held).encode()


def header() -> dict[str, Any]:
    """Return what an export says about itself."""
    return {"omp_version": OMP_VERSION, "exported_at": timestamp_format(timezone.now()), "server": SERVER}


def extension_present(memory: Memory) -> dict[str, Any]:
    """Return the extension fields that differ from their defaults, times formatted."""
    fields = {name: getattr(memory, name) for name, default in EXTENSION.items() if getattr(memory, name) != default}
    if "last_recalled_at" in fields:
        fields["last_recalled_at"] = timestamp_format(fields["last_recalled_at"])
    return fields


def _json(rows: MemoryQuerySet) -> Iterator[str]:
    """Yield one JSON object: the header, the memories, then `extension`, the other fields by id."""
    yield json_text(header())[:-1] + ',"memories":['
    separator = ""
    for memory in rows.iterator(chunk_size=ROWS):
        yield separator + json_text(memory_present(memory))
        separator = ","
    yield '],"extension":{'
    separator = ""
    for memory in rows.only("id", *EXTENSION).iterator(chunk_size=ROWS):
        fields = extension_present(memory)
        if fields:
            yield f"{separator}{json_text(memory.id)}:{json_text(fields)}"
            separator = ","
    yield "}}"


def _ndjson(rows: MemoryQuerySet) -> Iterator[str]:
    """Yield the header and then one memory with its extension fields on each line."""
    yield json_text(header()) + "\n"
    for memory in rows.iterator(chunk_size=ROWS):
        yield json_text(memory_present(memory) | extension_present(memory)) + "\n"


WRITERS: dict[str, Callable[[MemoryQuerySet], Iterator[str]]] = {"json": _json, "ndjson": _ndjson}
