"""What was derived from memories: facts that a dream found in several of them."""

from collections.abc import Collection, Sequence

from accounts.access import Access
from memories.models import FROM_DREAM, Memory


def derived_from(access: Access, ids: Collection[str]) -> Sequence[Memory]:
    """Return the memories that were derived from any of these, directly or not, whoever may see them; locked."""
    everything = Memory.objects.any_status(Access.system(access.space_id)).filter(source_ref__startswith=FROM_DREAM)
    found: dict[str, Memory] = {}
    parents = set(ids)
    while parents:
        rows = everything.filter(metadata__evidence__has_any_keys=sorted(parents)).order_by("id").select_for_update()
        parents = {memory.id for memory in rows} - set(ids) - found.keys()
        found |= {memory.id: memory for memory in rows if memory.id in parents}
    return list(found.values())
