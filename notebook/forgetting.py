"""Forgetting a phrase in journal and records."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, TextField
from django.db.models.functions import Cast

from accounts.access import Access
from api import clock
from events.services import event_record
from memories.matching import Phrase
from notebook.journal import LISTS
from notebook.models import JournalEntry, Record
from notebook.schemas import MAX_ITEM, MAX_SUMMARY


def entry_texts(entry: JournalEntry) -> list[str]:
    """Return every text of an entry."""
    return [entry.summary, *(item for name in LISTS for item in getattr(entry, name))]


def journal_matches(access: Access, phrase: Phrase) -> list[JournalEntry]:
    """Return the entries that contain the phrase, locked, the latest first."""
    rows = JournalEntry.objects.visible_to(access).order_by("-date", "kind").select_for_update()
    return [entry for entry in rows.iterator(500) if any(map(phrase.match, entry_texts(entry)))]


def journal_forget(access: Access, entries: list[JournalEntry], phrase: Phrase, *, redact: bool) -> None:
    """Replace the phrase by "[redacted]" in locked entries, or remove the entries."""
    addresses = [entry.address for entry in entries]
    for entry in entries:
        if not redact:
            entry.delete()
            continue
        # The replacement may be longer than the phrase; an entry stays within the limits of one.
        entry.summary = phrase.redacted(entry.summary)[:MAX_SUMMARY]
        for name in LISTS:
            setattr(entry, name, [phrase.redacted(item)[:MAX_ITEM] for item in getattr(entry, name)])
        entry.version += 1
        entry.updated_at = clock.now()
        entry.save(update_fields=["summary", *LISTS, "version", "updated_at"])
    if entries:
        event_record(
            access=access, type="journal.redacted" if redact else "journal.deleted", object_kind="journal",
            object_ids=addresses,
        )  # fmt: skip


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def record_texts(record: Record) -> list[str]:
    """Return every text of a record."""
    return [*_strings(record.data), record.key or "", record.status, record.collection]


def records_matches(access: Access, phrase: Phrase) -> list[Record]:
    """Return the records that contain the phrase, locked."""
    rows: Any = Record.objects.visible_to(access).order_by("id")
    if phrase.text.isascii() and phrase.text.isprintable() and not set(phrase.text) & set('"\\'):
        # Such a phrase stands in the JSON text as it is, so the database can look for it.
        anywhere = Q(raw__icontains=phrase.text) | Q(key__icontains=phrase.text)
        rows = rows.annotate(raw=Cast("data", TextField())).filter(
            anywhere | Q(status__icontains=phrase.text) | Q(collection__icontains=phrase.text)
        )
    return [record for record in rows.select_for_update().iterator(500) if any(map(phrase.match, record_texts(record)))]


def records_forget(access: Access, records: list[Record]) -> None:
    """Delete locked records for good."""
    ids = [record.id for record in records]
    Record.objects.visible_to(access).filter(id__in=ids).delete()
    if ids:
        event_record(access=access, type="record.deleted", object_kind="record", object_ids=ids)
