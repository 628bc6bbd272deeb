"""Facts: remembering each only once, and recalling them by words, subject, tier and tag."""

from typing import Any

from django.db import IntegrityError, connection, transaction

from accounts.access import Access
from api import clock
from events.services import event_record
from memories.models import Memory, MemoryQuerySet
from memories.schemas import MAX_TAGS, MemoryCreate, Recall, Remember, SourceIn
from memories.search import SearchFilters, SearchQuery, search_memories
from memories.services import memories_create, memory_apply, memory_build
from memories.tiers import RANK, scratch_expiry, tier_changes

COUNT = """
UPDATE memories_memory SET recall_count = recall_count + 1, last_recalled_at = %(now)s
WHERE space_id = %(space)s AND id = ANY(ARRAY(
    SELECT id FROM memories_memory WHERE space_id = %(space)s AND id = ANY(%(ids)s) FOR UPDATE SKIP LOCKED
))
"""
SERVICE = "commonplace"  # the tool that a fact comes from when its key has neither tool nor name


@transaction.atomic
def fact_remember(*, access: Access, data: Remember) -> tuple[Memory, bool]:
    """Store a fact and return it, with True when it was there already.

    A fact that is there keeps its id and only gains: tags are united, pinned is or-ed, tier rises, origin goes from
    agent to user, no expiry beats an expiry. Raises CoreFull, Forbidden, Invalid.
    """
    found = _identical(access, data).first()
    if found is not None:
        return _unite(access, found, data), True
    memory = fact_build(access=access, data=data)
    memory.remembered = True
    # An expired row is invisible and must not stand in the way of the same fact.
    _expired(access, data).update(remembered=False)
    try:
        with transaction.atomic():
            memories_create(access=access, memories=[memory])
        return memory, False
    except IntegrityError:
        return _remember_beside(access, memory, data)


def _remember_beside(access: Access, memory: Memory, data: Remember) -> tuple[Memory, bool]:
    """Answer when the unique index refused the fact: somebody else stored it in this very moment.

    When the row that stands there is out of this access's reach, it gets one of its own: it must neither read the
    other nor learn of it. A lock stands in for the index, which knows nothing of limits.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_advisory_xact_lock(%s::int, hashtext(%s))",
            [access.space_id % 2**31, f"{data.subject}\n{data.text}"],
        )
    found = _identical(access, data).first()
    if found is not None:
        return _unite(access, found, data), True
    memory.remembered = False
    memories_create(access=access, memories=[memory])
    return memory, False


def fact_build(*, access: Access, data: Remember) -> Memory:
    """Return the memory, not yet stored, that a fact is: semantic, from the key's tool."""
    tool = access.write_tool or access.actor_name[:100].strip() or SERVICE
    same = {name: getattr(data, name) for name in ("subject", "tier", "origin", "pinned", "source_ref", "expires_at")}
    create = MemoryCreate(content=data.text, type="semantic", source=SourceIn(tool=tool), tags=data.tags, **same)
    return memory_build(access=access, data=create)


def _identical(access: Access, data: Remember) -> MemoryQuerySet:
    """Return the rows, locked, that hold this fact and that the access may know of, the oldest first."""
    rows = Memory.objects.visible_to(access)
    own = {"apikey_id": int(access.actor_id)} if access.actor_kind == "key" else {}
    if access.quarantine:
        # Its own facts wait for the owner and are no less there.
        rows = Memory.objects.any_status(access).filter(status=Memory.Status.QUARANTINED, **own).unexpired()
    elif not access.may("memories:read"):
        rows = rows.filter(**own) if own else rows.none()
    return rows.identical(data.subject, data.text).order_by("created_at", "id").select_for_update()


def _expired(access: Access, data: Remember) -> MemoryQuerySet:
    rows = Memory.objects.filter(space_id=access.space_id, remembered=True, expires_at__lte=clock.now())
    return rows.identical(data.subject, data.text)


def _unite(access: Access, memory: Memory, data: Remember) -> Memory:
    tier = max(memory.tier, data.tier, key=lambda name: RANK[Memory.Tier(name)])
    given = scratch_expiry(data.expires_at) if data.tier == "scratch" else data.expires_at
    changes: dict[str, Any] = {
        "tags": list(dict.fromkeys([*memory.tags, *data.tags]))[:MAX_TAGS],
        "pinned": memory.pinned or data.pinned,
        "origin": Memory.Origin.USER if Memory.Origin.USER in {memory.origin, data.origin} else memory.origin,
        "expires_at": max(memory.expires_at, given) if memory.expires_at and given else None,
        "tier": tier,
    }
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if "tier" in changes:
        tier_changes(access, memory, changes)  # core may be full, or not the agent's to write
    return memory_apply(access=access, memory=memory, changes=changes)


def facts_recall(*, access: Access, params: Recall) -> list[Memory]:
    """Return the facts that match, best first, and count each as recalled; without words, the newest first.

    Counting skips rows that others are changing and changes no version.
    """
    if params.q is None:
        memories = _newest(access, params)
    else:
        filters = SearchFilters(
            subject=params.subject, tier=params.tier, tags=None if params.tag is None else [params.tag]
        )
        query = SearchQuery(q=params.q, mode="keyword", limit=params.limit, filters=filters)
        ids = [hit.memory_id for hit in search_memories(access, query).hits]
        by_id = {memory.id: memory for memory in Memory.objects.visible_to(access).filter(id__in=ids)}
        memories = [by_id[id] for id in ids if id in by_id]
    ids = [memory.id for memory in memories]
    if ids:
        with connection.cursor() as cursor:
            cursor.execute(COUNT, {"now": clock.now(), "space": access.space_id, "ids": ids})
    event_record(access=access, type="memory.recalled", object_kind="memory", object_ids=ids)
    return memories


def _newest(access: Access, params: Recall) -> list[Memory]:
    rows = Memory.objects.visible_to(access)
    if params.subject is not None:
        rows = rows.filter(subject=params.subject)
    if params.tier is not None:
        rows = rows.filter(tier=params.tier)
    if params.tag is not None:
        rows = rows.filter(tags__contains=[params.tag])
    return list(rows.order_by("-created_at", "-id")[: params.limit])
