"""What a memory was before: its versions, and going back to one of them."""

from typing import Any

from django.db import transaction

from accounts.access import Access
from api import clock
from api.errors import MemoryNotFound, NotFound
from api.pagination import cursor_decode, cursor_encode
from api.schemas import parse
from api.timestamps import timestamp_format, timestamp_parse
from memories.models import Memory, MemoryVersion
from memories.representation import memory_present
from memories.schemas import HistoryParams, MemoryCreate
from memories.services import COPIED, memory_change, namespace_for, tool_for, type_for


def version_present(version: MemoryVersion) -> dict[str, Any]:
    """Return {version, memory, replaced_at, replaced_by} of an earlier version."""
    return {
        "version": version.version,
        "memory": version.fields,
        "replaced_at": timestamp_format(version.changed_at),
        "replaced_by": {"kind": version.actor_kind, "id": version.actor_id, "name": version.actor_name},
    }


def history_list(*, access: Access, memory_id: str, params: HistoryParams) -> tuple[list[dict[str, Any]], str | None]:
    """Return a page of a memory's versions, the newest and current one first, and the next page's cursor.

    Raises MemoryNotFound.
    """
    memory = Memory.objects.one(access, memory_id)
    if memory is None:
        raise MemoryNotFound()
    rows = MemoryVersion.objects.visible_to(access).filter(memory_id=memory_id).order_by("-version")
    page: list[dict[str, Any]] = []
    if params.cursor:
        rows = rows.filter(version__lt=cursor_decode(params.cursor, {"id": memory_id}, (int,))[0])
    else:
        current = memory_present(memory, full=True)
        page.append({"version": memory.version, "memory": current, "replaced_at": None, "replaced_by": None})
    room = params.limit - len(page)
    found = list(rows[: room + 1])
    page += [version_present(version) for version in found[:room]]
    return page, cursor_encode([page[-1]["version"]], {"id": memory_id}) if len(found) > room else None


@transaction.atomic
def memory_restore(*, access: Access, memory: Memory, version: int) -> Memory:
    """Give a locked memory the text and fields of one of its versions, as a new version, and return it.

    An expiry that is over is not restored. Raises NotFound for a version that is not kept, and what a change raises.
    """
    kept = MemoryVersion.objects.visible_to(access).filter(memory_id=memory.id, version=version).first()
    if kept is None:
        raise NotFound("This memory has no such earlier version; its history lists them.")
    changes = version_columns(access, kept.fields)
    if changes["expires_at"] is not None and changes["expires_at"] <= clock.now():
        del changes["expires_at"]
    return memory_change(access=access, memory=memory, changes=changes)


def version_columns(access: Access, fields: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that a kept version stands for. Raises Forbidden for what the access may not write."""
    columns = columns_of(fields)
    type_for(access, columns["type"])
    namespace_for(access, columns["namespace"])
    tool_for(access, columns["source_tool"])
    return columns


def columns_of(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the columns that a kept version stands for."""
    data, source = parse(MemoryCreate, fields), fields["source"]
    return {name: getattr(data, name) for name in COPIED} | {
        "namespace": data.namespace,
        "source_tool": source["tool"],
        "source_session_id": source.get("session_id"),
        "source_user_id": source.get("user_id"),
        "source_timestamp": timestamp_parse(source["timestamp"]),
    }
