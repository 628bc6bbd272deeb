"""Filters of list and export as conditions on rows."""

from typing import Any

from memories.models import MemoryQuerySet
from memories.schemas import Filters

LOOKUPS = {
    "type": "type",
    "tool": "source_tool",
    "tags": "tags__contains",
    "namespace": "namespace",
    "created_after": "created_at__gt",
    "created_before": "created_at__lt",
    "updated_after": "updated_at__gt",
    "updated_before": "updated_at__lt",
}


def filtered(rows: MemoryQuerySet, filters: Filters) -> MemoryQuerySet:
    """Return the rows that match every filter that is set."""
    applied: dict[str, Any] = Filters.applied(filters)
    return rows.filter(**{LOOKUPS[name]: value for name, value in applied.items()})
