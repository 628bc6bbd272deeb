"""What a row of an archive must look like before it is stored: a file may have been written by anybody."""

import re
from typing import Any

from django.db.models import CharField, JSONField, Model

from api.schemas import parse
from conversations.models import Conversation
from conversations.schemas import Message
from dreams.models import DreamChange, DreamRun
from memories.history import columns_of
from memories.models import Memory, MemoryVersion
from memories.schemas import MemoryCreate
from notebook.models import KeyValue, Record
from notebook.schemas import KvAddress, RecordAddress

ID = re.compile(r"[a-z]+_[a-z0-9]{16}")


def column_check(column: Any, value: Any) -> None:
    """Raise ValueError for an id of another shape, and for a JSON value that is no list or object where one stands."""
    if isinstance(column, JSONField) and column.default in (list, dict) and not isinstance(value, column.default):
        raise ValueError("another shape")
    if isinstance(column, CharField) and column.name == "id" and not ID.fullmatch(value):
        raise ValueError("no id")


def row_check(row: Model) -> None:
    """Raise ApiError, ValueError, TypeError or KeyError for a row that this service could not show or work with."""
    if isinstance(row, Record):
        parse(RecordAddress, {"collection": row.collection, "id": row.id})
    elif isinstance(row, KeyValue):
        parse(KvAddress, {"ns": row.ns, "key": row.key})
    elif isinstance(row, Conversation):
        for message in row.messages:
            parse(Message, message)
    elif isinstance(row, MemoryVersion):
        _version_check(row)
    elif isinstance(row, DreamRun):
        for id, version in row.snapshot:
            _version_number(id, version)
    elif isinstance(row, DreamChange):
        for id, version in [*row.before.items(), *row.after.items()]:
            _version_number(id, version)


def memory_check(row: Memory) -> None:
    """Raise Invalid for a memory that no create would take."""
    source = {"tool": row.source_tool, "session_id": row.source_session_id, "user_id": row.source_user_id}
    given = {
        "content": row.content, "type": row.type, "source": source, "tags": row.tags, "namespace": row.namespace,
        "metadata": row.metadata, "subject": row.subject, "tier": row.tier, "origin": row.origin,
        "pinned": row.pinned, "source_ref": row.source_ref,
    }  # fmt: skip
    parse(MemoryCreate, given)


def _version_check(row: MemoryVersion) -> None:
    columns = columns_of(row.fields)
    if not isinstance(columns["source_tool"], str) or row.fields["status"] not in Memory.Status.values:
        raise ValueError("no version")
    # What searches a version reads these without asking whether they are there.
    if not {"subject", "tags", "namespace"} <= row.fields.keys():
        raise ValueError("no version")


def _version_number(id: Any, version: Any) -> None:
    if not isinstance(id, str) or not isinstance(version, int):
        raise ValueError("no version")
