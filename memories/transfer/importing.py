"""Import: records become memories, chunk by chunk, and each chunk is one atomic change (OMP 0.1, section 3.3)."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from django.db import connection, transaction
from django.utils import timezone

from accounts.access import Access
from api.errors import ApiError, Conflict, Invalid
from api.schemas import parse
from api.text import text_problem
from conversations.importing import conversations_import
from events.services import event_record
from memories.importers.records import Broken, Talk, id_letters
from memories.indexing import index_memories
from memories.models import VERSIONED, Memory, MemoryVersion, memory_id_generate
from memories.quota import quota_take
from memories.representation import memory_present
from memories.services import memory_build, writable
from memories.tiers import CoreRoom
from memories.transfer.schemas import ImportRecord

CHUNK = 500
CHUNK_CHARS = 4_000_000  # of conversations, which are much longer than memories
MAX_ERRORS = 100_000
OMP_ID = re.compile(r"mem_[a-z0-9]{16}")
LOCK = int.from_bytes(hashlib.sha256(b"import").digest()[:4], signed=True)
WRITTEN = (*VERSIONED, "created_at", "updated_at", "version", "recall_count", "last_recalled_at", "status",
           "evidence_deleted")  # fmt: skip


@dataclass(slots=True)
class Outcome:
    """What became of the records so far: imported + skipped + len(errors) is their number."""

    imported: int = 0
    skipped: int = 0
    errors: list[dict[str, Any]] = field(default_factory=list)
    conversations: int = 0  # of those imported

    def add(self, other: "Outcome") -> None:
        """Add another outcome. Raises Invalid when so much fails that the file cannot be an export."""
        self.imported += other.imported
        self.skipped += other.skipped
        self.errors += other.errors
        self.conversations += other.conversations
        if len(self.errors) > MAX_ERRORS:
            raise Invalid.field("memories", f"More than {MAX_ERRORS} records fail; this is no export of memories.")


def chunks(records: Iterable[Any], start: int = 0) -> Iterator[list[tuple[int, Any]]]:
    """Yield the records from the start-th on with their index, in chunks."""
    chunk: list[tuple[int, Any]] = []
    weight = 0
    for index, record in islice(enumerate(records), start, None):
        chunk.append((index, record))
        weight += sum(len(message["content"]) for message in record.messages) if isinstance(record, Talk) else 0
        if len(chunk) == CHUNK or weight > CHUNK_CHARS:
            yield chunk
            chunk, weight = [], 0
    if chunk:
        yield chunk


def import_id(given: Any) -> str:
    """Return the id for a record: its own; for one of another shape, one derived from it; for none, a new one."""
    if given is None:
        return memory_id_generate()
    if isinstance(given, str) and OMP_ID.fullmatch(given):
        return given
    return f"mem_{id_letters(json.dumps(given, sort_keys=True))}"


def import_error(index: int, record: Any, error: ApiError) -> dict[str, Any]:
    """Return {index, id, error, message} for a record that failed; the message names the fields."""
    given = record.get("id") if isinstance(record, dict) else record.id if isinstance(record, Broken | Talk) else None
    shown = isinstance(given, str) and len(given) <= 100 and not text_problem(given)
    sentences = [
        f"{name}: {sentence}" if name else sentence
        for name, found in error.details.get("fields", {}).items()
        for sentence in found
    ]
    return {
        "index": index,
        "id": given if shown else None,
        "error": error.code,
        "message": " ".join(sentences)[:1000] or error.message,
    }


def memory_from(access: Access, record: Any, now: datetime) -> Memory:
    """Return the memory of a record, not yet stored. Raises Invalid and Forbidden like a create."""
    if isinstance(record, Broken):
        raise record.error
    if not isinstance(record, dict):
        raise Invalid(details={"fields": {"": ["It must be an object."]}})
    data = parse(ImportRecord, record)
    memory = memory_build(access=access, data=data)
    memory.id = import_id(data.id)
    memory.created_at, memory.updated_at = data.times(now)
    if data.source.timestamp is None:
        memory.source_timestamp = memory.created_at
    memory.version, memory.recall_count = data.version, data.recall_count
    memory.last_recalled_at = data.last_recalled_at
    memory.channel = "import"
    return memory


class _Chunk:
    """One chunk on its way into the database."""

    def __init__(self, access: Access, conflict: str) -> None:
        self.access, self.conflict = access, conflict
        self.everything = Access.system(access.space_id)
        self.outcome = Outcome()
        self.new: dict[str, Memory] = {}
        self.changed: list[Memory] = []
        self.versions: list[MemoryVersion] = []
        self.taken: set[str] = set()
        self.existing: dict[str, Memory] = {}
        self._core: CoreRoom | None = None

    def core(self) -> CoreRoom:
        """Return the room in the core of the space, counted when the first core fact comes."""
        self._core = self._core or CoreRoom(self.access)
        return self._core

    def look_up(self, memories: Sequence[Memory]) -> None:
        """Find which ids are taken, whoever may see them, and lock those that may be overwritten."""
        ids = [memory.id for memory in memories]
        self.taken = set(Memory.objects.any_status(self.everything).filter(id__in=ids).values_list("id", flat=True))
        if self.taken and self.conflict == "overwrite":
            rows = Memory.objects.any_status(self.access).filter(id__in=self.taken).order_by("id").select_for_update()
            self.existing = {memory.id: memory for memory in rows}

    def place(self, memory: Memory) -> None:
        """Decide what becomes of one memory. Raises Conflict and Forbidden."""
        if self.conflict == "duplicate":
            memory.id = memory_id_generate()
        if memory.id not in self.taken and memory.id not in self.new:
            if memory.tier == Memory.Tier.CORE:
                self.core().admit(memory)
            self.new[memory.id] = memory
            self.outcome.imported += 1
        elif self.conflict == "skip":
            self.outcome.skipped += 1
        else:
            self.overwrite(memory)
            self.outcome.imported += 1

    def overwrite(self, memory: Memory) -> None:
        """Change the memory that has this id; what changes nothing leaves no version."""
        old = self.new.get(memory.id) or self.existing.get(memory.id)
        if old is None:
            raise Conflict("This id is taken by a memory that this key may not see.")
        writable(self.access, old)
        memory.recall_count = max(memory.recall_count, old.recall_count)
        names = [name for name in WRITTEN if name != "version" and getattr(old, name) != getattr(memory, name)]
        if not names:
            return
        if old.tier == Memory.Tier.CORE and old.status == Memory.Status.ACTIVE:
            self.core().replace(old, memory)
        elif memory.tier == Memory.Tier.CORE:
            self.core().admit(memory)
        if {"content", "subject", "status"} & set(names):
            old.remembered, old.superseded_by = False, None  # it is no longer what it was to the facts
        self.versions.append(
            MemoryVersion(
                space_id=old.space_id, memory_id=old.id, version=old.version,
                fields=memory_present(old, full=True), actor_kind=self.access.actor_kind,
                actor_id=self.access.actor_id, actor_name=self.access.actor_name,
            )
        )  # fmt: skip
        for name in names:
            setattr(old, name, getattr(memory, name))
        old.version += 1
        if old.id not in self.new and old not in self.changed:
            self.changed.append(old)

    def store(self) -> None:
        """Write the rows, their versions, search entries and the event."""
        if self.new:
            quota_take(self.access, len(self.new))
            Memory.objects.insert(self.new.values())
        if self.changed:
            Memory.objects.bulk_create(
                self.changed,
                update_conflicts=True,
                unique_fields=["space", "id"],
                update_fields=[*WRITTEN, "remembered", "superseded_by"],
            )
        if self.versions:
            MemoryVersion.objects.insert(self.versions)
        written = [*self.new.values(), *self.changed]
        if written:
            index_memories(written)
            event_record(
                access=self.access, type="memory.imported", object_kind="memory",
                object_ids=[memory.id for memory in written],
            )  # fmt: skip


@transaction.atomic
def import_chunk(*, access: Access, conflict: str, chunk: Sequence[tuple[int, Any]]) -> Outcome:
    """Store a chunk of records and return what became of each; a faulty record stops no other.

    Imports into one space wait for each other, since each looks for taken ids before it writes.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, access.space_id % 2**31])
    now = timezone.now()
    work = _Chunk(access, conflict)
    built: list[tuple[int, Any, Memory]] = []
    talks: list[tuple[int, Talk]] = []
    for index, record in chunk:
        if isinstance(record, Talk):
            talks.append((index, record))
            continue
        try:
            built.append((index, record, memory_from(access, record, now)))
        except ApiError as error:
            work.outcome.errors.append(import_error(index, record, error))
    work.look_up([memory for _, _, memory in built])
    for index, record, memory in built:
        try:
            work.place(memory)
        except ApiError as error:
            work.outcome.errors.append(import_error(index, record, error))
    work.store()
    if talks:
        taken = conversations_import(access=access, conflict=conflict, talks=talks)
        errors = [import_error(index, talk, error) for index, talk, error in taken.failed]
        work.outcome.add(Outcome(taken.imported, taken.skipped, errors, taken.imported))
    work.outcome.errors.sort(key=lambda error: error["index"])
    return work.outcome
