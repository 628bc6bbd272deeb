"""Journal entries, records and values as clients see them."""

from typing import Any

from api.timestamps import timestamp_format
from notebook.models import JournalEntry, KeyValue, Record


def entry_present(entry: JournalEntry) -> dict[str, Any]:
    """Return {kind, date, summary, decisions, open_loops, source_refs, version, created_at, updated_at}."""
    return {
        "kind": entry.kind,
        "date": entry.date.isoformat(),
        "summary": entry.summary,
        "decisions": entry.decisions,
        "open_loops": entry.open_loops,
        "source_refs": entry.source_refs,
        "version": entry.version,
        "created_at": timestamp_format(entry.created_at),
        "updated_at": timestamp_format(entry.updated_at),
    }


def record_present(record: Record) -> dict[str, Any]:
    """Return {id, collection, key, status, due_at, data, origin, version, created_at, updated_at}."""
    return {
        "id": record.id,
        "collection": record.collection,
        "key": record.key,
        "status": record.status,
        "due_at": timestamp_format(record.due_at) if record.due_at else None,
        "data": record.data,
        "origin": record.origin,
        "version": record.version,
        "created_at": timestamp_format(record.created_at),
        "updated_at": timestamp_format(record.updated_at),
    }


def kv_present(value: KeyValue) -> dict[str, Any]:
    """Return {ns, key, value, version, updated_at}."""
    return {"ns": value.ns, "key": value.key} | value_present(value)


def value_present(value: KeyValue) -> dict[str, Any]:
    """Return {value, version, updated_at}, as a namespace shows each of its keys."""
    return {"value": value.value, "version": value.version, "updated_at": timestamp_format(value.updated_at)}
