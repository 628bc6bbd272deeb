"""Reading an archive of a space back in."""

import base64
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO

from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.db.models import BinaryField, CharField, DateTimeField, Max, Model, TextField

from accounts.access import Access
from accounts.schemas import SpaceSettings
from accounts.services import space_update
from actions.models import LIVE as LIVE_ACTIONS
from actions.models import Action, ActionCounter, Status
from api.body import json_decode
from api.errors import ApiError, Invalid
from api.schemas import State, parse
from api.timestamps import timestamp_parse
from context.archive import FORMAT, FORMAT_VERSION, SECTIONS, Section, archive_allowed
from context.archiverows import column_check, memory_check, row_check
from dreams.models import LIVE as LIVE_DREAMS
from dreams.models import DreamRun
from events.models import Event
from events.services import event_record
from memories.importers.zips import zip_read
from memories.indexing import index_memories
from memories.models import Memory
from memories.quota import quota_take
from memories.tiers import CoreRoom

MAX_LINE = 2 * 1024 * 1024
MAX_MANIFEST = 1024 * 1024
MAX_ERRORS = 1_000
BATCH = 500
ROW = State(MAX_LINE)


@dataclass
class Restored:
    """What became of the rows of an archive, by file."""

    imported: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    errors: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    unlisted: int = 0  # errors beyond those that are listed


@transaction.atomic
def archive_import(*, access: Access, file: BinaryIO, with_settings: bool = False) -> Restored:
    """Add everything of an archive to the space and return what became of it.

    What is there already stays: the archive adds. Nothing in it gains power by being imported: live actions and dreams
    are cancelled, and events carry the channel `import`; importing one archive again adds no events. Raises Invalid
    for what is no archive, Forbidden for a limited key, and a change of settings as space_update does.
    """
    archive_allowed(access)
    access.require("space:write")
    try:
        with zip_read(file) as archive:
            manifest = _manifest(archive)
            restored = Restorer(access, archive, manifest).run()
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise Invalid.field("body", f"The file is no complete archive ({type(error).__name__}).") from None
    if with_settings:
        given = parse(SpaceSettings, {k: v for k, v in manifest["space"].items() if k in SpaceSettings.model_fields})
        space_update(access=access, changes=given.model_dump(exclude_unset=True))
    event_record(
        access=access, type="space.imported", object_kind="space", object_ids=[str(access.space_id)],
        details={"archive": manifest["id"], "imported": restored.imported, "skipped": restored.skipped},
    )  # fmt: skip
    return restored


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any]:
    try:
        with archive.open("manifest.json") as file:
            manifest = json_decode(file.read(MAX_MANIFEST))
    except KeyError:
        raise Invalid.field("body", "The archive has no manifest.json: it is no archive of a space.") from None
    known = isinstance(manifest, dict) and manifest.get("format") == FORMAT
    if not known or manifest.get("format_version") != FORMAT_VERSION:
        raise Invalid.field("body", f"The manifest is not of the format {FORMAT}, version {FORMAT_VERSION}.")
    if not isinstance(manifest.get("id"), str) or not isinstance(manifest.get("space"), dict):
        raise Invalid.field("body", "The manifest is incomplete.")
    manifest["id"] = manifest["id"][:64]
    return dict(manifest)


class Restorer:
    """Adds the sections of one archive to one space, in their order."""

    def __init__(self, access: Access, archive: zipfile.ZipFile, manifest: dict[str, Any]) -> None:
        self.access, self.archive, self.manifest = access, archive, manifest
        self.restored = Restored()
        self.added: dict[str, set[Any]] = {}
        self.merged: dict[str, str] = {}
        self.core: CoreRoom | None = None

    def run(self) -> Restored:
        """Add every section that the archive has."""
        names = set(self.archive.namelist())
        for section in SECTIONS:
            if f"{section.name}.ndjson" not in names or (section.model is Event and self._known()):
                self.restored.left_out.append(section.name)
                continue
            self._section(section)
        self._supersede()
        if self.restored.unlisted:
            problems = f"{self.restored.unlisted} more rows do not fit."
            self.restored.errors.append({"file": "", "index": None, "problems": problems})
        highest = Action.objects.visible_to(self.access).aggregate(last=Max("number"))["last"] or 0
        ActionCounter.objects.get_or_create(space_id=self.access.space_id)
        ActionCounter.objects.visible_to(self.access).filter(last__lt=highest).update(last=highest)
        return self.restored

    def _known(self) -> bool:
        """Return whether this very archive was made here or imported before."""
        before = Event.objects.visible_to(self.access).filter(type__in=["space.exported", "space.imported"])
        return bool(before.filter(details__archive=self.manifest["id"]).exists())

    def _section(self, section: Section) -> None:
        self.restored.imported[section.name] = self.restored.skipped[section.name] = 0
        self.added[section.name] = set()
        lines = enumerate(self._lines(section))
        while batch := list(islice(lines, BATCH)):
            rows = [row for index, line in batch if (row := self._row(section, index, line)) is not None]
            self._store(section, rows)

    def _lines(self, section: Section) -> Iterator[bytes]:
        with self.archive.open(f"{section.name}.ndjson") as file:
            while line := file.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise Invalid.field("body", f"{section.name}.ndjson has a line that is too long.")
                yield line

    def _row(self, section: Section, index: int, line: bytes) -> Model | None:
        """Return the row that a line stands for, None, with an error noted, for one that does not fit."""
        try:
            values = json_decode(line)
            if not isinstance(values, dict):
                raise Invalid.field("", "It must be an object.")
            row = self._build(section, ROW.check(values))
        except ApiError as error:
            problems: Any = error.details.get("fields") or error.message
        except (ValidationError, ValueError, TypeError, KeyError, AttributeError):
            problems = "It does not fit."
        else:
            return row
        if len(self.restored.errors) < MAX_ERRORS:
            self.restored.errors.append({"file": section.name, "index": index, "problems": problems})
        else:
            self.restored.unlisted += 1
        return None

    def _build(self, section: Section, values: dict[str, Any]) -> Model:
        row = section.model(space_id=self.access.space_id)
        left = {"space_id", "id"} if section.model is Event else {"space_id"}  # events are numbered anew
        for column in section.model._meta.concrete_fields:
            if column.attname in values and column.attname not in left:
                setattr(row, column.attname, _value(column, values[column.attname]))
        if isinstance(row, Memory):
            self._memory(row)
        elif isinstance(row, Action) and row.status in LIVE_ACTIONS:
            row.status, row.deadline = Status.CANCELLED, None
        elif isinstance(row, DreamRun) and row.status in LIVE_DREAMS:
            row.status, row.lease_until = DreamRun.Status.CANCELLED, None
        elif isinstance(row, Event):
            row.channel = "import"
        row_check(row)
        return row

    def _memory(self, row: Memory) -> None:
        """Hold a memory to the rules of a create; leave out what only its old server knew."""
        memory_check(row)
        row.apikey_id, row.remembered = None, False
        if row.superseded_by is not None:
            self.merged[row.id] = row.superseded_by
            row.superseded_by = None
        if row.tier == Memory.Tier.CORE and row.status == Memory.Status.ACTIVE:
            self.core = self.core or CoreRoom(self.access)
            self.core.take(row.content)

    def _store(self, section: Section, rows: list[Any]) -> None:
        if section.parent:
            # Of things that were there already, and stayed, the past stays as well.
            parents = self.added.get(section.parent, set())
            rows = [row for row in rows if getattr(row, section.parent_field) in parents]
        fresh = _absent(self.access, section, rows)
        if section.model is Memory:
            quota_take(self.access, len(fresh))
        try:
            with transaction.atomic():
                section.model._base_manager.bulk_create(fresh)
                stored = fresh
        except DatabaseError:
            stored = [row for row in fresh if self._store_one(section, row)]
        self.restored.imported[section.name] += len(stored)
        self.restored.skipped[section.name] += len(rows) - len(stored)
        if section.key:
            self.added[section.name] |= {getattr(row, section.key) for row in stored}
        if section.model is Memory:
            index_memories(stored)

    def _store_one(self, section: Section, row: Any) -> bool:
        """Store one row of a batch that did not go in as a whole; return whether this one did."""
        try:
            with transaction.atomic():
                section.model._base_manager.bulk_create([row])
        except DatabaseError:
            return False  # it breaks a rule of the table, such as one key for one record
        return True

    def _supersede(self) -> None:
        """Say of each added memory what it was merged into, now that both are there."""
        rows = Memory.objects.any_status(Access.system(self.access.space_id))
        added = self.added.get("memories", set())
        targets = set(rows.filter(id__in=set(self.merged.values())).values_list("id", flat=True))
        for id, target in self.merged.items():
            if id in added and target in targets:
                rows.filter(id=id).update(superseded_by=target)


def _value(column: Any, value: Any) -> Any:
    """Return a column's value from its JSON form. Raises ValueError, ValidationError for one that does not fit."""
    if value is None:
        if not column.null:
            raise ValueError("null")
        return None
    if isinstance(column, BinaryField):
        return base64.b64decode(value, validate=True)
    if isinstance(column, DateTimeField):
        return timestamp_parse(value)
    if isinstance(column, ArrayField) and not isinstance(value, list):
        raise ValueError("no list")
    if isinstance(column, CharField | TextField) and not isinstance(value, str):
        raise ValueError("no text")
    value = column.to_python(value)
    column_check(column, value)
    column.run_validators(value)
    if column.choices and value not in {choice for choice, _ in column.flatchoices}:
        raise ValueError("no choice")
    return value


def _absent(access: Access, section: Section, rows: list[Any]) -> list[Any]:
    """Return the rows whose key is not in the space yet, of each key the first."""
    if section.model is Event:
        return rows
    keys = section.order if not section.key else (section.key,)
    first = keys[0]
    found = section.model._base_manager.filter(space_id=access.space_id)
    taken = set(found.filter(**{f"{first}__in": {getattr(row, first) for row in rows}}).values_list(*keys))
    absent: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        key = tuple(getattr(row, name) for name in keys)
        if key not in taken:
            absent.setdefault(key, row)
    return list(absent.values())
