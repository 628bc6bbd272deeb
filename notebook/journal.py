"""The journal: one entry a day and one a week."""

from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db import IntegrityError, transaction

from accounts.access import Access
from accounts.models import Space
from api import clock
from api.errors import Invalid, NotFound
from api.pagination import cursor_damaged, cursor_decode, cursor_encode
from events.services import event_record
from notebook.models import JournalEntry
from notebook.schemas import MAX_ITEMS, MAX_SUMMARY, JournalParams, JournalText, JournalWrite

LISTS = ("decisions", "open_loops", "source_refs")


def space_today(space: Space) -> date:
    """Return the present date in the time zone of a space."""
    return clock.now().astimezone(ZoneInfo(space.timezone)).date()


def journal_date(kind: str, day: date) -> date:
    """Return the date that an entry of this kind carries: a week is named by its Monday."""
    if kind == JournalEntry.Kind.DAY:
        return day
    return day - timedelta(days=day.weekday())


def entry_locked(*, access: Access, kind: str, day: date) -> JournalEntry | None:
    """Return the entry of a date, locked until the transaction ends, None when there is none."""
    rows = JournalEntry.objects.visible_to(access).filter(kind=kind, date=journal_date(kind, day))
    entry: JournalEntry | None = rows.select_for_update().first()
    return entry


def entry_get(*, access: Access, kind: str, day: date) -> JournalEntry:
    """Return the entry of a date. Raises NotFound."""
    entry: JournalEntry | None = (
        JournalEntry.objects.visible_to(access).filter(kind=kind, date=journal_date(kind, day)).first()
    )
    if entry is None:
        raise NotFound("There is no journal entry for this date.")
    event_record(access=access, type="journal.read", object_kind="journal", object_ids=[entry.address])
    return entry


def journal_write(*, access: Access, data: JournalWrite) -> JournalEntry:
    """Write the entry of a date and return it; see entry_write."""
    return entry_write(access=access, data=data)[0]


@transaction.atomic
def entry_write(*, access: Access, data: JournalWrite) -> tuple[JournalEntry, bool]:
    """Write the entry of a date; return it, and True when it is new.

    The fields that are given replace what is there; with `merge` they are appended, without what is there already, so
    that a repetition changes nothing. Raises Invalid for a date more than a day ahead and for what no longer fits.
    """
    today = space_today(Space.objects.get(pk=access.space_id))
    if data.date > today + timedelta(days=1):
        raise Invalid.field("date", f"It lies more than a day ahead: today is {today.isoformat()} in this space.")
    entry = entry_locked(access=access, kind=data.kind, day=data.date)
    if entry is None:
        try:
            with transaction.atomic():
                return _create(access, data), True
        except IntegrityError:  # somebody else has just written it
            entry = entry_locked(access=access, kind=data.kind, day=data.date)
    assert entry is not None
    _change(access, entry, _merged(entry, data) if data.merge else _given(data))
    return entry, False


def _given(data: JournalText) -> dict[str, Any]:
    return {name: getattr(data, name) for name in JournalText.model_fields if getattr(data, name) is not None}


def _create(access: Access, data: JournalWrite) -> JournalEntry:
    now = clock.now()
    empty = JournalEntry(space_id=access.space_id, kind=data.kind, date=journal_date(data.kind, data.date))
    entry = JournalEntry(
        space_id=access.space_id, kind=data.kind, date=empty.date, created_at=now, updated_at=now,
        **(_merged(empty, data) if data.merge else _given(data)),
    )  # fmt: skip
    entry.save(force_insert=True)
    event_record(access=access, type="journal.written", object_kind="journal", object_ids=[entry.address])
    return entry


def _merged(entry: JournalEntry, data: JournalText) -> dict[str, Any]:
    """Return the fields that an append changes. Raises Invalid for one that would become too long."""
    changes: dict[str, Any] = {}
    if data.summary and f"\n\n{data.summary}\n\n" not in f"\n\n{entry.summary}\n\n":
        changes["summary"] = f"{entry.summary}\n\n{data.summary}" if entry.summary else data.summary
        if len(changes["summary"]) > MAX_SUMMARY:
            raise Invalid.field("summary", f"With what is there it is longer than {MAX_SUMMARY} characters.")
    for name in LISTS:
        items = list(dict.fromkeys([*getattr(entry, name), *(getattr(data, name) or [])]))
        if len(items) > MAX_ITEMS:
            raise Invalid.field(name, f"With what is there it has more than {MAX_ITEMS} items.")
        changes[name] = items
    return changes


def _change(access: Access, entry: JournalEntry, changes: dict[str, Any]) -> None:
    changes = {name: value for name, value in changes.items() if getattr(entry, name) != value}
    if not changes:
        return
    for name, value in changes.items():
        setattr(entry, name, value)
    entry.version += 1
    entry.updated_at = clock.now()
    entry.save(update_fields=[*changes, "version", "updated_at"])
    event_record(
        access=access, type="journal.written", object_kind="journal", object_ids=[entry.address],
        details={"fields": sorted(changes), "version": entry.version},
    )  # fmt: skip


@transaction.atomic
def entry_delete(*, access: Access, entry: JournalEntry) -> None:
    """Delete a locked entry for good."""
    event_record(access=access, type="journal.deleted", object_kind="journal", object_ids=[entry.address])
    entry.delete()


def journal_list(*, access: Access, params: JournalParams) -> tuple[list[JournalEntry], str | None]:
    """Return a page of entries, the latest date first, and the next page's cursor."""
    filters = params.model_dump(include={"from_", "to", "kind"}, exclude_none=True)
    rows = JournalEntry.objects.visible_to(access)
    if params.from_:
        rows = rows.filter(date__gte=params.from_)
    if params.to:
        rows = rows.filter(date__lte=params.to)
    if params.kind:
        rows = rows.filter(kind=params.kind)
    if params.cursor:
        text, kind = cursor_decode(params.cursor, filters, (str, str))
        try:
            day = date.fromisoformat(text)
        except ValueError:
            raise cursor_damaged() from None
        # Of one date, the day comes before the week.
        later = {"date": day, "kind__gt": kind}
        rows = rows.filter(date__lt=day) | rows.filter(**later)
    page = list(rows.order_by("-date", "kind")[: params.limit + 1])
    more, page = len(page) > params.limit, page[: params.limit]
    event_record(
        access=access, type="journal.read", object_kind="journal", object_ids=[entry.address for entry in page]
    )
    return page, cursor_encode([page[-1].date.isoformat(), page[-1].kind], filters) if more else None
