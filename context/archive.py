"""A whole space as one file: NDJSON files in a zip, streamed, with a manifest that says what is in it."""

import base64
import hashlib
import io
import json
import uuid
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db.models import Model

from accounts.access import Access
from accounts.models import Space
from accounts.schemas import SpaceSettings
from actions.models import Action, ActionStep
from actions.rules import SCOPES as ACTIONS
from api import clock
from api.errors import Forbidden
from api.renderers import json_text
from api.timestamps import timestamp_format
from conversations.models import Conversation
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from events.models import Event
from memories.models import Memory, MemoryVersion
from memories.transfer.export import snapshot
from notebook.models import JournalEntry, KeyValue, Record

FORMAT = "commonplace-space"
FORMAT_VERSION = 1
ROWS = 500
PIECE = 64 * 1024
DREAMS = ("dreams", "actions:decide")


@dataclass(frozen=True)
class Section:
    """One file of the archive: a table, the scopes of which any opens it, and the table that its rows belong to."""

    name: str
    model: type[Model]
    order: tuple[str, ...]
    scopes: tuple[str, ...]
    key: str = ""  # the column that names a row, where one does; else those of `order`
    parent: str = ""  # the section whose rows these belong to
    parent_field: str = ""  # the column that names it


# In the order in which they are imported: what is referred to comes first.
SECTIONS = (
    Section("memories", Memory, ("created_at", "id"), ("export",), "id"),
    Section("memory_versions", MemoryVersion, ("memory_id", "version"), ("export",), "", "memories", "memory_id"),
    Section("journal", JournalEntry, ("date", "kind"), ("journal:read",)),
    Section("records", Record, ("created_at", "id"), ("records:read",), "id"),
    Section("kv", KeyValue, ("ns", "key"), ("kv:read",)),
    Section("actions", Action, ("number",), ACTIONS, "number"),
    Section("action_steps", ActionStep, ("number", "seq"), ACTIONS, "", "actions", "number"),
    Section("dreams", DreamRun, ("created_at", "id"), DREAMS, "id"),
    Section("dream_changes", DreamChange, ("run_id", "seq"), DREAMS, "", "dreams", "run_id"),
    Section("dream_suggestions", DreamSuggestion, ("created_at", "id"), DREAMS, "id", "dreams", "run_id"),
    Section("conversations", Conversation, ("created_at", "id"), ("conversations:read",), "id"),
    Section("events", Event, ("id",), ("events:read",)),
)
# Tables of a space that no archive holds, each with its reason. A test finds every table here or above.
LEFT_OUT = {
    "accounts.Membership": "people join a space anew",
    "accounts.Invitation": "people are invited anew",
    "apikeys.ApiKey": "credentials stay where they were made",
    "grants.Grant": "credentials stay where they were made",
    "api.IdempotentRequest": "answers to repetitions, kept for a day and sealed",
    "memories.ForgetPreview": "kept for a quarter of an hour",
    "memories.Tombstone": "digests with this server's key, of use nowhere else",
    "memories.SearchEntry": "made from the memories",
    "memories.MemoryVector": "made from the memories",
    "memories.EmbeddingPending": "work in progress",
    "memories.SearchSpace": "made from the memories",
    "aiworker.Job": "work in progress",
    "aiworker.JobInput": "work in progress",
    "aiworker.JobTurn": "work in progress",
    "aiworker.AiUsage": "the operator's bookkeeping",
    "actions.ActionCounter": "counted from the actions",
}


class Sink(io.RawIOBase):
    """Where a zip is written to and taken from, piece by piece."""

    def __init__(self) -> None:
        self.held: list[bytes] = []
        self.size = 0

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Keep bytes until they are taken."""
        self.held.append(bytes(data))
        self.size += len(data)
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken = b"".join(self.held)
        self.held, self.size = [], 0
        return taken


def archive_allowed(access: Access) -> None:
    """Raise Forbidden for a key that is limited to some memories: an archive knows no limits."""
    if access.limited or access.quarantine:
        raise Forbidden("This key is limited to some memories; a whole space needs a key without limits.")


def value_plain(value: Any) -> Any:
    """Return a column's value as JSON can hold it."""
    if isinstance(value, datetime):
        return timestamp_format(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return base64.b64encode(bytes(value)).decode()
    return value


def row_plain(row: Model) -> dict[str, Any]:
    """Return a row as JSON can hold it: its columns by name, without the space's number."""
    names = [field.attname for field in row._meta.concrete_fields if field.attname != "space_id"]
    return {name: value_plain(getattr(row, name)) for name in names}


def space_plain(space: Space) -> dict[str, Any]:
    """Return the settings of a space by name."""
    return {name: getattr(space, name) for name in SpaceSettings.model_fields}


def archive_id_generate() -> str:
    """Return a new id of an archive."""
    return str(uuid.uuid4())


def archive_stream(access: Access, archive_id: str) -> Iterator[bytes]:
    """Yield a zip of everything in the space that the access may read, as it is at one moment.

    Constant memory: rows come from a cursor on the server. `manifest.json` comes last: rows and digest of each file.
    """
    sink = Sink()
    files: dict[str, dict[str, Any]] = {}
    with snapshot(access), zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        left_out = []
        for section in SECTIONS:
            if not any(map(access.may, section.scopes)):
                left_out.append(section.name)
                continue
            yield from _section(access, section, archive, sink, files)
        space = Space.objects.get(pk=access.space_id)
        manifest = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "id": archive_id,
            "exported_at": timestamp_format(clock.now()),
            "server": f"commonplace/{settings.VERSION}",
            "space": space_plain(space),
            "files": files,
            "left_out": left_out,
        }
        archive.writestr("manifest.json", json.dumps(manifest, ensure_ascii=False, indent=1))
    yield sink.take()


def _section(
    access: Access, section: Section, archive: zipfile.ZipFile, sink: Sink, files: dict[str, dict[str, Any]]
) -> Iterator[bytes]:
    name, digest, count = f"{section.name}.ndjson", hashlib.sha256(), 0
    rows = section.model._base_manager.filter(space_id=access.space_id).order_by(*section.order)
    with archive.open(name, "w", force_zip64=True) as file:
        for row in rows.iterator(ROWS):
            line = json_text(row_plain(row)).encode() + b"\n"
            digest.update(line)
            file.write(line)
            count += 1
            if sink.size >= PIECE:
                yield sink.take()
    files[name] = {"rows": count, "sha256": digest.hexdigest()}
