"""Records: things with a status, in collections, changed by merging."""

import json
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Count, F, Q

from accounts.access import Access
from api import clock
from api.errors import NotFound, PayloadTooLarge, VersionConflict
from api.idempotency import answers_forget
from api.pagination import cursor_decode, cursor_encode, cursor_time
from events.services import event_record
from notebook.models import Record
from notebook.schemas import MAX_VALUE_BYTES, RecordPut, RecordQuery, RecordUpdate

# One statement compares the version and merges: the patch goes over the data, and its nulls take fields away.
MERGE = """
UPDATE notebook_record SET
    data = (data || %(patch)s::jsonb) - %(gone)s::text[],
    status = coalesce(%(status)s, status),
    due_at = CASE WHEN %(due_given)s THEN %(due_at)s::timestamptz ELSE due_at END,
    origin = CASE WHEN %(origin)s = 'user' THEN 'user' ELSE origin END,
    version = version + 1, updated_at = %(now)s
WHERE space_id = %(space_id)s AND collection = %(collection)s AND id = %(id)s
    AND (%(expected)s::bigint IS NULL OR version = %(expected)s)
RETURNING id
"""


def data_check(data: dict[str, Any]) -> None:
    """Raise PayloadTooLarge when a record's data, after a merge, is larger than 64 KiB."""
    if len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_VALUE_BYTES:
        raise PayloadTooLarge("With this change the record's data is larger than 64 KiB.", {"limit": MAX_VALUE_BYTES})


def record_get(*, access: Access, collection: str, id: str) -> Record:
    """Return a record of a collection. Raises NotFound."""
    record: Record | None = Record.objects.visible_to(access).filter(collection=collection, id=id).first()
    if record is None:
        raise NotFound("There is no such record in this collection.")
    return record


def record_locked(*, access: Access, collection: str, id: str) -> Record:
    """Return a record, locked until the transaction ends. Raises NotFound."""
    rows = Record.objects.visible_to(access).select_for_update()
    record: Record | None = rows.filter(collection=collection, id=id).first()
    if record is None:
        raise NotFound("There is no such record in this collection.")
    return record


@transaction.atomic
def record_put(*, access: Access, data: RecordPut) -> tuple[Record, bool]:
    """Create a record, or merge into the one that has the key; return it, and True when it is new.

    Raises PayloadTooLarge.
    """
    if data.key is None:
        return _create(access, data), True
    existing = _keyed(access, data)
    if existing is None:
        try:
            with transaction.atomic():
                return _create(access, data), True
        except IntegrityError:  # somebody else has just created it
            existing = _keyed(access, data)
    assert existing is not None
    given = data.model_fields_set & {"status", "due_at", "data"}
    values = {"collection": data.collection, "id": existing.id} | {name: getattr(data, name) for name in given}
    update = RecordUpdate.model_construct(_fields_set=set(values), **values)
    return _merge(access, update, origin=data.origin), False


def _keyed(access: Access, data: RecordPut) -> Record | None:
    record: Record | None = Record.objects.visible_to(access).filter(collection=data.collection, key=data.key).first()
    return record


def _create(access: Access, data: RecordPut) -> Record:
    now = clock.now()
    record: Record = Record.objects.create(
        space_id=access.space_id, collection=data.collection, key=data.key, status=data.status or "open",
        due_at=data.due_at, data={name: value for name, value in data.data.items() if value is not None},
        origin=data.origin or Record.Origin.AGENT, created_at=now, updated_at=now,
    )  # fmt: skip
    event_record(access=access, type="record.created", object_kind="record", object_ids=[record.id])
    return record


@transaction.atomic
def record_update(*, access: Access, data: RecordUpdate) -> Record:
    """Change status, due date or data (merged at its top level, null removes) of a record and return it.

    Raises NotFound, VersionConflict when it is not at `expected_version`, PayloadTooLarge.
    """
    return _merge(access, data)


def _merge(access: Access, data: RecordUpdate, origin: str | None = None) -> Record:
    patch = data.data or {}
    with connection.cursor() as cursor:
        cursor.execute(
            MERGE,
            {
                "patch": json.dumps({name: value for name, value in patch.items() if value is not None}),
                "gone": [name for name, value in patch.items() if value is None],
                "status": data.status, "due_given": "due_at" in data.model_fields_set, "due_at": data.due_at,
                "origin": origin, "now": clock.now(), "space_id": access.space_id, "collection": data.collection,
                "id": data.id, "expected": data.expected_version,
            },
        )  # fmt: skip
        changed = cursor.fetchone() is not None
    record = record_get(access=access, collection=data.collection, id=data.id)
    if not changed:
        raise VersionConflict(details={"current_version": record.version})
    data_check(record.data)
    event_record(
        access=access, type="record.updated", object_kind="record", object_ids=[record.id],
        details={"fields": sorted(data.model_fields_set & {"status", "due_at", "data"}), "version": record.version},
    )  # fmt: skip
    return record


@transaction.atomic
def record_delete(*, access: Access, record: Record) -> None:
    """Delete a record for good."""
    event_record(access=access, type="record.deleted", object_kind="record", object_ids=[record.id])
    answers_forget(access, [record.id])
    record.delete()


def records_query(*, access: Access, params: RecordQuery) -> tuple[list[Record], str | None]:
    """Return a page of a collection, earliest due first and those without due time last, and the next cursor."""
    filters = params.model_dump(include={"collection", "status", "key", "due_before"}, exclude_none=True)
    rows = Record.objects.visible_to(access).filter(collection=params.collection)
    if params.status:
        rows = rows.filter(status__in=params.status)
    if params.key is not None:
        rows = rows.filter(key=params.key)
    if params.due_before:
        rows = rows.filter(due_at__lt=params.due_before)
    if params.cursor:
        rows = rows.filter(_after(*cursor_decode(params.cursor, filters, (str, str))))
    page = list(rows.order_by(F("due_at").asc(nulls_last=True), "id")[: params.limit + 1])
    more, page = len(page) > params.limit, page[: params.limit]
    event_record(access=access, type="record.read", object_kind="record", object_ids=[record.id for record in page])
    if not more:
        return page, None
    last = page[-1]
    return page, cursor_encode([last.due_at.isoformat() if last.due_at else "", last.id], filters)


def _after(due: str, id: str) -> Q:
    """Return the condition of rows behind a position; records without due time come last."""
    if not due:
        return Q(due_at=None, id__gt=id)
    at = cursor_time(due)
    return Q(due_at__gt=at) | Q(due_at=at, id__gt=id) | Q(due_at=None)


def collections_list(*, access: Access) -> list[dict[str, Any]]:
    """Return each collection of the space as {name, count}, by name."""
    rows = Record.objects.visible_to(access).values("collection").annotate(count=Count("id")).order_by("collection")
    return [{"name": row["collection"], "count": row["count"]} for row in rows]
