"""Changing memories: each function is one change with its event, search entry and version.

All run in the caller's transaction, which has set the space. They check before they write, so that whoever catches an
ApiError finds nothing half done.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

from accounts.access import Access
from api import clock
from api.errors import Forbidden, Invalid, MemoryNotFound
from api.idempotency import answers_forget
from events.services import event_record
from memories.derived import derived_from
from memories.indexing import index_memories
from memories.models import Memory, MemoryVersion, Tombstone, content_digest
from memories.quota import quota_take
from memories.representation import memory_present
from memories.schemas import MemoryCreate, MemoryImport, MemoryUpdate, SourceIn
from memories.tiers import core_admit, scratch_expiry, tier_changes

Derived = Literal["flag", "delete"]
COPIED = ("content", "type", "tags", "metadata", "expires_at", "subject", "tier", "origin", "pinned", "source_ref")


def tool_for(access: Access, given: str | None) -> str:
    """Return the source.tool that a write of this access carries.

    Raises Invalid when none is given and the key is bound to none, Forbidden for another tool than the key's.
    """
    if access.write_tool is None:
        if given is None:
            raise Invalid.field("source.tool", "It is required: the name of the tool that stores this memory.")
        return given
    if given not in (None, access.write_tool):
        raise Forbidden(f"This key writes as {access.write_tool} only.", {"tool": access.write_tool})
    return access.write_tool


def namespace_for(access: Access, given: str | None) -> str | None:
    """Return the namespace that a write of this access goes to; a key bound to one namespace fills it in.

    Raises Forbidden for a namespace that is not the key's.
    """
    if access.namespaces is None or given in access.namespaces:
        return given
    if given is None and len(access.namespaces) == 1:
        return next(iter(access.namespaces))
    raise Forbidden("This key does not write to that namespace.", {"namespaces": sorted(access.namespaces)})


def type_for(access: Access, given: str) -> str:
    """Return the type that a write of this access carries. Raises Forbidden for one that is not the key's."""
    if access.types is not None and given not in access.types:
        raise Forbidden("This key does not write memories of that type.", {"types": sorted(access.types)})
    return given


def memory_build(*, access: Access, data: MemoryCreate) -> Memory:
    """Return a memory, not yet stored, that this access may create."""
    now = clock.now()
    values = {name: getattr(data, name) for name in COPIED} | {"type": type_for(access, data.type)}
    if data.tier == "scratch" and not isinstance(data, MemoryImport):
        values["expires_at"] = scratch_expiry(data.expires_at)
    return Memory(
        space_id=access.space_id, source_tool=tool_for(access, data.source.tool),
        source_session_id=data.source.session_id or None, source_user_id=data.source.user_id or None,
        source_timestamp=data.source.timestamp or now, namespace=namespace_for(access, data.namespace),
        created_at=now, updated_at=now, channel=access.channel,
        apikey_id=int(access.actor_id) if access.actor_kind == "key" else None,
        status=Memory.Status.QUARANTINED if access.quarantine else Memory.Status.ACTIVE,
        evidence_deleted=isinstance(data, MemoryImport) and data.evidence_deleted,
        **values,
    )  # fmt: skip


def memories_create(*, access: Access, memories: Sequence[Memory]) -> Sequence[Memory]:
    """Store new memories with one event; return them. The search finds them by keyword from the commit on.

    Raises CoreFull when core facts among them do not fit, Forbidden when the access may not write core.
    """
    core_admit(access, memories)
    quota_take(access, len(memories))
    Memory.objects.insert(memories)
    index_memories(memories)
    event_record(
        access=access, type="memory.created", object_kind="memory", object_ids=[memory.id for memory in memories]
    )
    return memories


def memory_create(*, access: Access, data: MemoryCreate) -> Memory:
    """Store a new memory and return it. Raises Invalid and Forbidden (OMP 0.1, section 3.3)."""
    return memories_create(access=access, memories=[memory_build(access=access, data=data)])[0]


def memory_locked(*, access: Access, memory_id: str) -> Memory:
    """Return a visible memory, locked until the transaction ends. Raises MemoryNotFound."""
    memory = Memory.objects.one(access, memory_id, lock=True)
    if memory is None:
        raise MemoryNotFound()
    return memory


def writable(access: Access, memory: Memory) -> None:
    """Raise Forbidden when the access may read this memory but not change it.

    It is another tool's, or it is in use already while what the access writes has to wait for the owner.
    """
    tool_for(access, memory.source_tool)
    if access.quarantine and memory.status != Memory.Status.QUARANTINED:
        raise Forbidden("What this key writes waits for the owner; it can neither change nor delete a memory.")


def _source_changes(access: Access, source: SourceIn) -> dict[str, Any]:
    given = source.model_fields_set
    changes: dict[str, Any] = {}
    if "tool" in given and source.tool is not None:
        changes["source_tool"] = tool_for(access, source.tool)
    if "session_id" in given:
        changes["source_session_id"] = source.session_id or None
    if "user_id" in given:
        changes["source_user_id"] = source.user_id or None
    if "timestamp" in given and source.timestamp is not None:
        changes["source_timestamp"] = source.timestamp
    return changes


def update_changes(*, access: Access, data: MemoryUpdate) -> dict[str, Any]:
    """Return the columns that an update sets. Raises Forbidden for what the access may not write."""
    given = data.model_fields_set
    changes = {name: getattr(data, name) for name in COPIED if name in given}
    if "type" in given:
        changes["type"] = type_for(access, data.type)
    if "namespace" in given:
        changes["namespace"] = namespace_for(access, data.namespace)
    if "source" in given:
        changes |= _source_changes(access, data.source)
    return changes


def memory_change(*, access: Access, memory: Memory, changes: dict[str, Any]) -> Memory:
    """Apply column changes to a locked memory and return it; its earlier version is kept.

    What changes nothing changes nothing: neither version nor updated_at. Raises Forbidden for another tool's memory,
    and what its tier demands: CoreFull, Forbidden, Invalid.
    """
    writable(access, memory)
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    return memory_apply(access=access, memory=memory, changes=changes | tier_changes(access, memory, changes))


def memory_apply(*, access: Access, memory: Memory, changes: dict[str, Any], type: str = "memory.updated") -> Memory:
    """Apply column changes that a rule of the service makes, whoever's memory it is; return the memory."""
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if not changes:
        return memory
    version_keep(access=access, memory=memory)
    fields = sorted(changes)
    if memory.remembered and {"content", "subject", "status"} & changes.keys():
        changes["remembered"] = False
    for name, value in changes.items():
        setattr(memory, name, value)
    memory.version += 1
    memory.updated_at = clock.now()
    Memory.objects.any_status(Access.system(memory.space_id)).filter(id=memory.id).update(
        **changes, version=memory.version, updated_at=memory.updated_at
    )
    index_memories([memory])
    event_record(
        access=access, type=type, object_kind="memory", object_ids=[memory.id],
        details={"fields": fields, "version": memory.version},
    )  # fmt: skip
    return memory


def memory_shown(access: Access, memory: Memory) -> None:
    """Raise MemoryNotFound for a key that may not read, unless it wrote this memory itself."""
    own = access.actor_kind == "key" and str(memory.apikey_id) == access.actor_id
    if not (own or access.may("memories:read")):
        raise MemoryNotFound()


def memory_update(*, access: Access, memory: Memory, data: MemoryUpdate) -> Memory:
    """Change what the body gives of a locked memory and return it (OMP 0.1, section 3.3).

    Raises MemoryNotFound for a key that may not read, unless it wrote this memory itself: the answer shows it whole.
    """
    memory_shown(access, memory)
    return memory_change(access=access, memory=memory, changes=update_changes(access=access, data=data))


def version_keep(*, access: Access, memory: Memory) -> None:
    """Keep what a memory is now as a version of its history."""
    MemoryVersion.objects.insert([
        MemoryVersion(
            space_id=memory.space_id, memory_id=memory.id, version=memory.version,
            fields=memory_present(memory, full=True), actor_kind=access.actor_kind, actor_id=access.actor_id,
            actor_name=access.actor_name,
        )
    ])  # fmt: skip


def memories_hold(access: Access, memories: Sequence[Memory]) -> None:
    """Keep others from changing several memories until the transaction ends.

    They are locked by id, as by everybody who locks several, so that no two writers wait for each other.
    """
    if len(memories) > 1:
        rows = Memory.objects.any_status(Access.system(access.space_id)).filter(id__in=[one.id for one in memories])
        list(rows.order_by("id").select_for_update().values_list("id"))


def superseded_by(access: Access, ids: Collection[str]) -> list[Memory]:
    """Return the memories that were merged into any of these, directly or not."""
    found: dict[str, Memory] = {}
    parents = set(ids)
    while parents:
        rows = Memory.objects.any_status(Access.system(access.space_id)).filter(superseded_by__in=parents)
        fresh = {memory.id: memory for memory in rows if memory.id not in found}
        found |= fresh
        parents = set(fresh)
    return list(found.values())


def memories_delete(
    *, access: Access, memories: Sequence[Memory], type: str = "memory.deleted", derived: Derived = "flag"
) -> None:
    """Delete memories for good: rows, versions, vectors, search entries, stored answers, what was merged into them.

    What dreams derived from them is deleted as well, or flagged as evidence_deleted; what the access may not see is
    flagged in either case. A keyed digest of each text that they had stays, so that extraction and dreams do not bring
    it back. Raises Forbidden for a memory that the access may not change.
    """
    memories_hold(access, memories)
    found = {memory.id: memory for memory in derived_from(access, [memory.id for memory in memories])}
    if derived == "delete":
        seen = Memory.objects.any_status(access).filter(id__in=[*found]).values_list("id", flat=True)
        memories = [*memories, *(found.pop(id) for id in seen)]
    for memory in memories:
        writable(access, memory)
    for memory in found.values():
        # The service's doing: what the access reads of its own events names nothing that is out of its reach.
        memory_apply(access=Access.system(access.space_id), memory=memory, changes={"evidence_deleted": True})
    memories = [*memories, *superseded_by(access, [memory.id for memory in memories])]
    ids = [memory.id for memory in memories]
    versions = MemoryVersion.objects.visible_to(Access.system(access.space_id)).filter(memory_id__in=ids)
    texts = {memory.content for memory in memories} | set(versions.values_list("fields__content", flat=True))
    tombstones_put(access, texts)
    Memory.objects.any_status(Access.system(access.space_id)).filter(id__in=ids).delete()
    answers_forget(access, ids)
    event_record(access=access, type=type, object_kind="memory", object_ids=ids)


def tombstones_put(access: Access, texts: Iterable[str]) -> None:
    """Keep the keyed digests of deleted texts."""
    digests = {content_digest(access.space_id, text) for text in texts}
    Tombstone.objects.bulk_create(
        [Tombstone(space_id=access.space_id, digest=digest) for digest in sorted(digests)], ignore_conflicts=True
    )


def is_forgotten(access: Access, text: str) -> bool:
    """Return whether the same text was deleted here before, so that no machine may bring it back."""
    rows = Tombstone.objects.visible_to(access)
    return bool(rows.filter(digest=content_digest(access.space_id, text)).exists())
