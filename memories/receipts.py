"""The receipt of a deletion: the only copy of what was removed, with which its holder can put it back."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from accounts.access import Access
from api.body import json_decode
from api.errors import Invalid
from api.schemas import parse
from memories.models import Memory
from memories.representation import memory_present
from memories.schemas import MemoryImport
from memories.services import memories_create, memory_build
from memories.transfer.importing import import_id

MAX_RECEIPT = 500


def receipt_make(memories: Sequence[Memory]) -> str:
    """Return the receipt of memories about to be deleted, as JSON."""
    return json.dumps([memory_present(memory, full=True) for memory in memories], ensure_ascii=False)


@transaction.atomic
def receipt_restore(*, access: Access, receipt: str) -> Sequence[Memory]:
    """Store the memories of a receipt again, under their ids and times, and return them.

    What is there already is left alone. Raises Invalid for what is no receipt.
    """
    try:
        items = json_decode(receipt.encode())
    except Invalid:
        items = None
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items) or len(items) > MAX_RECEIPT:
        raise Invalid("This is not a receipt of Commonplace. Paste the whole text of the file, unchanged.")
    found = {memory.id: memory for memory in [built(access, item) for item in items]}
    known = set(Memory.objects.any_status(access).filter(id__in=found).values_list("id", flat=True))
    restored = [memory for id, memory in found.items() if id not in known]
    return memories_create(access=access, memories=restored) if restored else []


def built(access: Access, item: dict[str, Any]) -> Memory:
    """Return the memory of one line of a receipt, not yet stored."""
    data = parse(MemoryImport, item)
    memory = memory_build(access=access, data=data)
    memory.id = import_id(data.id)
    memory.created_at = data.created_at or memory.created_at
    memory.updated_at = data.updated_at or memory.updated_at
    return memory
