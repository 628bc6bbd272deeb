"""Key-value state, with versions to compare and set."""

import json
from typing import Any

from django.db import connection, transaction
from django.db.models import Count

from accounts.access import Access
from api import clock
from api.errors import Forbidden, NotFound, VersionConflict
from api.pagination import cursor_decode, cursor_encode
from events.services import event_record
from notebook.models import KeyValue
from notebook.representation import kv_present, value_present
from notebook.schemas import MAX_KEYS, KvGet, KvSet

# A deleted key is a row without value: to set it again is to create it, at a version that nobody has seen.
UPSERT = """
INSERT INTO notebook_keyvalue AS kv (space_id, ns, key, value, version, deleted, updated_at)
VALUES (%(space_id)s, %(ns)s, %(key)s, %(value)s::jsonb, 1, false, %(now)s)
ON CONFLICT (space_id, ns, key) DO UPDATE SET
    value = excluded.value, version = kv.version + 1, deleted = false, updated_at = excluded.updated_at
"""
CREATE_ONLY = f"{UPSERT} WHERE kv.deleted RETURNING version"
UPSERT = f"{UPSERT} RETURNING version"
AT_VERSION = """
UPDATE notebook_keyvalue SET value = %(value)s::jsonb, version = version + 1, updated_at = %(now)s
WHERE space_id = %(space_id)s AND ns = %(ns)s AND key = %(key)s AND NOT deleted AND version = %(expected)s
RETURNING version
"""
DELETE = """
UPDATE notebook_keyvalue SET value = NULL, deleted = true, version = version + 1, updated_at = %(now)s
WHERE space_id = %(space_id)s AND ns = %(ns)s AND key = %(key)s AND NOT deleted
    AND (%(expected)s::bigint IS NULL OR version = %(expected)s)
RETURNING version
"""


def ns_check(ns: str) -> None:
    """Raise Forbidden for a reserved namespace."""
    if ns.startswith("_"):
        raise Forbidden("Namespaces that begin with _ are reserved.")


def _live(access: Access) -> Any:
    return KeyValue.objects.visible_to(access).filter(deleted=False)


def value_get(*, access: Access, ns: str, key: str) -> KeyValue:
    """Return one value. Raises NotFound, Forbidden for a reserved namespace."""
    ns_check(ns)
    value: KeyValue | None = _live(access).filter(ns=ns, key=key).first()
    if value is None:
        raise NotFound("There is no value under this key.")
    event_record(access=access, type="kv.read", object_kind="kv", object_ids=[value.address])
    return value


def value_locked(*, access: Access, ns: str, key: str) -> KeyValue | None:
    """Return one value, None when there is none; either way it stays so until the transaction ends.

    Raises Forbidden.
    """
    ns_check(ns)
    rows = _live(access).select_for_update().filter(ns=ns, key=key)
    value: KeyValue | None = rows.first()
    if value is None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(%s::int, hashtext(%s))", [access.space_id % 2**31, f"kv {ns}/{key}"]
            )
        value = rows.first()  # somebody else may have set it while this one waited
    return value


def namespace_page(*, access: Access, ns: str, cursor: str | None = None) -> tuple[dict[str, Any], str | None]:
    """Return up to 200 keys of a namespace, by key, as {key: {value, version, updated_at}}, and the next cursor."""
    ns_check(ns)
    rows = _live(access).filter(ns=ns)
    if cursor:
        rows = rows.filter(key__gt=cursor_decode(cursor, {"ns": ns}, (str,))[0])
    page = list(rows.order_by("key")[: MAX_KEYS + 1])
    more, page = len(page) > MAX_KEYS, page[:MAX_KEYS]
    event_record(access=access, type="kv.read", object_kind="kv", object_ids=[value.address for value in page])
    shown = {value.key: value_present(value) for value in page}
    return shown, cursor_encode([page[-1].key], {"ns": ns}) if more else None


def kv_get(*, access: Access, params: KvGet) -> dict[str, Any]:
    """Return one value as {ns, key, value, version, updated_at}, or the first 200 of a namespace as {ns, values}.

    Raises NotFound, Forbidden.
    """
    if params.key is not None:
        return kv_present(value_get(access=access, ns=params.ns, key=params.key))
    return {"ns": params.ns, "values": namespace_page(access=access, ns=params.ns)[0]}


def namespaces_list(*, access: Access) -> list[dict[str, Any]]:
    """Return each namespace as {name, count}, by name."""
    rows = _live(access).values("ns").annotate(count=Count("key")).order_by("ns")
    return [{"name": row["ns"], "count": row["count"]} for row in rows]


@transaction.atomic
def kv_set(*, access: Access, data: KvSet) -> KeyValue:
    """Set a value and return it.

    `expected_version`: absent, always; 0, only when there is none; n, only at version n. Raises VersionConflict,
    Forbidden for a reserved namespace.
    """
    ns_check(data.ns)
    statement = {None: UPSERT, 0: CREATE_ONLY}.get(data.expected_version, AT_VERSION)
    now = clock.now()
    names: dict[str, Any] = {"space_id": access.space_id, "ns": data.ns, "key": data.key}
    with connection.cursor() as cursor:
        cursor.execute(
            statement, names | {"value": json.dumps(data.value), "now": now, "expected": data.expected_version}
        )
        row = cursor.fetchone()
    if row is None:
        raise _conflict(access, data.ns, data.key)
    value = KeyValue(**names, value=data.value, version=row[0], updated_at=now)
    event_record(
        access=access, type="kv.set", object_kind="kv", object_ids=[value.address], details={"version": value.version}
    )
    return value


@transaction.atomic
def kv_delete(*, access: Access, ns: str, key: str, expected_version: int | None = None) -> None:
    """Delete a value; its version counts on. Raises NotFound, VersionConflict, Forbidden."""
    ns_check(ns)
    names: dict[str, Any] = {"space_id": access.space_id, "ns": ns, "key": key}
    with connection.cursor() as cursor:
        cursor.execute(DELETE, names | {"now": clock.now(), "expected": expected_version})
        row = cursor.fetchone()
    if row is None:
        if expected_version is None or not _live(access).filter(ns=ns, key=key).exists():
            raise NotFound("There is no value under this key.")
        raise _conflict(access, ns, key)
    event_record(access=access, type="kv.deleted", object_kind="kv", object_ids=[f"{ns}/{key}"[:128]])


def _conflict(access: Access, ns: str, key: str) -> VersionConflict:
    current = _live(access).filter(ns=ns, key=key).values_list("version", flat=True).first()
    return VersionConflict(details={"current_version": current or 0})
