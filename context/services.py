"""get_context: what a tool should know at the start of a task, within a budget of characters."""

import json
from collections.abc import Iterable
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q, Value, Window
from django.db.models.functions import Lower

from accounts.access import Access
from accounts.models import Space
from actions.models import Action, Status
from actions.representation import action_summary
from actions.rules import SCOPES
from api import clock
from api.text import NOTICE
from api.timestamps import timestamp_format, timestamp_parse
from dreams.due import dream_due
from events.services import event_record
from memories.models import Memory
from notebook.journal import space_today
from notebook.models import JournalEntry, KeyValue, Record
from notebook.representation import entry_present, record_present

BUDGET = 24_000
# Core is always whole; what it leaves, and each section leaves, flows on to the next.
CORE = 8_000
SHARES = {"records": 5_000, "actions": 2_500, "journal": 5_500, "kv": 3_000}
JOURNAL_DAYS = 14
JOURNAL_WEEKS = 4
ROWS = 100  # more of one section can never fit
CLOSED = ("archived", "cancelled", "canceled", "closed", "completed", "done", "resolved")  # a record's end, in any case
TOTAL = Window(Count(Value(1)))


def context_get(*, access: Access) -> dict[str, Any]:
    """Return the context of a space: every section that the access may read, by one query each.

    The whole is at most 24,000 characters of JSON. Whole items are dropped where a section is full; `truncated` says
    how many of each section. Only an unusually wordy core, which is never cut, can make it longer.
    """
    space = Space.objects.get(pk=access.space_id)
    now, today = clock.now(), space_today(space)
    core = _core(access) if access.may("memories:read") else []
    context: dict[str, Any] = {
        "notice": NOTICE,
        "today": today.isoformat(),
        "generated_at": timestamp_format(now),
        "space": {"id": str(space.pk), "name": space.name, "timezone": space.timezone, "language": space.language},
        "core": core,
        "records": {"due": [], "open": []},
        "actions": [],
        "journal": [],
        "kv": {},
        "dream": {"due": access.may("dreams") and dream_due(access, space).due},
        "truncated": {},
    }
    room = Room(BUDGET - size(context) - 100)  # the counts in `truncated` need some
    tomorrow = datetime.combine(today + timedelta(days=1), time(), ZoneInfo(space.timezone))
    if access.may("records:read"):
        for record in room.fitting("records", *_records(access)):
            due = record["due_at"] is not None and timestamp_parse(record["due_at"]) < tomorrow
            context["records"]["due" if due else "open"].append(record)
    if any(access.may(scope) for scope in SCOPES):
        context["actions"] = room.fitting("actions", *_actions(access, now))
    if access.may("journal:read"):
        context["journal"] = room.fitting("journal", *_journal(access, today))
    if access.may("kv:read"):
        for value in room.fitting("kv", *_kv(access, space)):
            context["kv"].setdefault(value["ns"], {})[value["key"]] = value["value"]
    context["truncated"] = room.dropped
    event_record(access=access, type="context.read", object_kind="memory", object_ids=[fact["id"] for fact in core])
    return context


def size(value: Any) -> int:
    """Return the characters of a value as JSON with a comma behind it, in the wider of the usual ways to write it."""
    return len(json.dumps(value, ensure_ascii=False)) + 2


class Room:
    """The characters that are left, and how many items of each section did not fit."""

    def __init__(self, characters: int) -> None:
        wanted = sum(SHARES.values())
        # A core above its own share leaves less to everybody, in proportion; below it, the rest flows on.
        self.scale = min(1.0, max(characters, 0) / wanted)
        self.carried = max(0, characters - wanted)
        self.dropped: dict[str, int] = {}

    def fitting(self, section: str, items: Iterable[dict[str, Any]], total: int) -> list[dict[str, Any]]:
        """Return the items that fit into the section, whole ones only, in their order."""
        left = int(SHARES[section] * self.scale) + self.carried
        kept = []
        for item in items:
            needed = size(item)
            if needed <= left:
                kept.append(item)
                left -= needed
        self.carried = left
        if total > len(kept):
            self.dropped[section] = total - len(kept)
        return kept


def _core(access: Access) -> list[dict[str, Any]]:
    rows = Memory.objects.visible_to(access).filter(tier=Memory.Tier.CORE).order_by("-pinned", "created_at", "id")
    return [
        {
            "id": memory.id, "text": memory.content, "subject": memory.subject, "origin": memory.origin,
            "pinned": memory.pinned, "tool": memory.source_tool,
        }
        for memory in rows
    ]  # fmt: skip


def _records(access: Access) -> tuple[list[dict[str, Any]], int]:
    """Return the records that are not closed, the earliest due first, and how many there are."""
    rows = Record.objects.visible_to(access).annotate(lowered=Lower("status")).exclude(lowered__in=CLOSED)
    found = list(rows.annotate(total=TOTAL).order_by(F("due_at").asc(nulls_last=True), "-updated_at", "id")[:ROWS])
    dates = {"created_at", "updated_at"}
    shown = [{name: value for name, value in record_present(row).items() if name not in dates} for row in found]
    return shown, found[0].total if found else 0


def _actions(access: Access, now: datetime) -> tuple[list[dict[str, Any]], int]:
    rows = Action.objects.visible_to(access).filter(status=Status.PENDING, deadline__gt=now)
    found = list(rows.annotate(total=TOTAL).order_by("-number")[:ROWS])
    return [action_summary(action) for action in found], found[0].total if found else 0


def _journal(access: Access, today: Any) -> tuple[list[dict[str, Any]], int]:
    """Return the entries of the last two weeks, and of the last four weeks as weeks, the latest first."""
    recent = Q(kind=JournalEntry.Kind.DAY, date__gt=today - timedelta(days=JOURNAL_DAYS)) | Q(
        kind=JournalEntry.Kind.WEEK, date__gt=today - timedelta(weeks=JOURNAL_WEEKS)
    )
    found = list(JournalEntry.objects.visible_to(access).filter(recent).order_by("-date", "kind"))
    dates = {"created_at", "updated_at"}
    return [{n: v for n, v in entry_present(entry).items() if n not in dates} for entry in found], len(found)


def _kv(access: Access, space: Space) -> tuple[list[dict[str, Any]], int]:
    if not space.context_namespaces:
        return [], 0
    rows = KeyValue.objects.visible_to(access).filter(ns__in=space.context_namespaces, deleted=False)
    found = list(rows.exclude(ns__startswith="_").annotate(total=TOTAL).order_by("ns", "key")[:ROWS])
    return [{"ns": row.ns, "key": row.key, "value": row.value} for row in found], found[0].total if found else 0
