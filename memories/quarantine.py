"""Memories that a quarantine key wrote: they wait until a person lets them in or throws them away."""

from collections.abc import Sequence

from django.db import transaction

from accounts.access import Access
from events.services import event_record
from memories.indexing import index_memories
from memories.models import Memory
from memories.tiers import core_admit


def waiting_count(access: Access) -> int:
    """Return how many memories wait for a person, counted up to a thousand."""
    return Memory.objects.any_status(access).filter(status=Memory.Status.QUARANTINED)[:1000].count()


@transaction.atomic
def memories_release(*, access: Access, memory_ids: Sequence[str]) -> list[str]:
    """Let waiting memories in; return the ids of those that had been waiting. Raises CoreFull.

    One that says what another fact says stays beside it: only remember unites facts.
    """
    rows = list(
        Memory.objects.any_status(access)
        .filter(id__in=memory_ids, status=Memory.Status.QUARANTINED)
        .order_by("id")
        .select_for_update()
    )
    ids = [memory.id for memory in rows]
    for memory in rows:
        memory.status = Memory.Status.ACTIVE
    core_admit(access, rows)
    Memory.objects.any_status(access).filter(id__in=ids).update(status=Memory.Status.ACTIVE, remembered=False)
    if rows:
        index_memories(rows)
        event_record(access=access, type="memory.released", object_kind="memory", object_ids=ids)
    return ids
