"""Memories as clients see them (OMP 0.1, section 2.1)."""

from typing import Any

from api.timestamps import timestamp_format
from memories.models import Memory

EXTENSION = (
    "tier", "subject", "origin", "pinned", "source_ref", "status", "channel", "version", "recall_count",
    "last_recalled_at", "evidence_deleted",
)  # fmt: skip


def memory_present(memory: Memory, *, full: bool = False) -> dict[str, Any]:
    """Return the OMP object of a memory; with `full`, the extension fields of the agent state as well."""
    source: dict[str, Any] = {"tool": memory.source_tool}
    if memory.source_session_id:
        source["session_id"] = memory.source_session_id
    if memory.source_user_id:
        source["user_id"] = memory.source_user_id
    source["timestamp"] = timestamp_format(memory.source_timestamp)
    shown: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "type": memory.type,
        "source": source,
        "tags": memory.tags,
        "namespace": memory.namespace,
        "created_at": timestamp_format(memory.created_at),
        "updated_at": timestamp_format(memory.updated_at),
        "expires_at": timestamp_format(memory.expires_at) if memory.expires_at else None,
        "metadata": memory.metadata,
    }
    return shown | memory_extension(memory) if full else shown


def memory_extension(memory: Memory) -> dict[str, Any]:
    """Return the extension fields of a memory, times formatted."""
    fields = {name: getattr(memory, name) for name in EXTENSION}
    fields["last_recalled_at"] = timestamp_format(memory.last_recalled_at) if memory.last_recalled_at else None
    return fields
