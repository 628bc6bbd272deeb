"""The filters of a search and the limits of a key, as one condition on search entries."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounts.access import Access
from memories.lexemes import all_of, any_of, metadata_lexeme, quoted


@dataclass(frozen=True)
class SearchFilters:
    """What a memory must be to be found; None and empty mean no such filter. Bounds are exclusive."""

    type: str | None = None
    tool: str | None = None
    tags: list[str] | None = None
    namespace: str | None = None
    created_after: datetime | None = None
    created_before: datetime | None = None
    updated_after: datetime | None = None
    updated_before: datetime | None = None
    metadata: dict[str, Any] | None = None
    subject: str | None = None
    tier: str | None = None


@dataclass(frozen=True)
class Condition:
    """A condition on ``memories_searchable``: a tsquery ("" for none) and comparisons with their values.

    ``impossible`` says that an empty limit leaves nothing to be found.
    """

    tsquery: str = ""
    comparisons: tuple[str, ...] = ()
    values: tuple[datetime, ...] = field(default=())
    impossible: bool = False

    @property
    def is_empty(self) -> bool:
        """Tell whether every searchable memory of the space meets it."""
        return not self.tsquery and not self.comparisons

    def where(self, match: str = "") -> tuple[str, list[Any]]:
        """Give SQL for a WHERE clause, and its parameters, with a further tsquery that must match too."""
        parts = [part for part in (match, self.tsquery) if part]
        sql = [*(["lexemes @@ %s::tsquery"] if parts else []), *self.comparisons] or ["true"]
        return " AND ".join(sql), [*([all_of(parts)] if parts else []), *self.values]


_BOUNDS = {
    "created_after": "created_at > %s",
    "created_before": "created_at < %s",
    "updated_after": "updated_at > %s",
    "updated_before": "updated_at < %s",
}


def condition_for(access: Access, filters: SearchFilters) -> Condition:
    """Combine filters and key limits; all of them must hold (omp-rest: a filter never silently widens)."""
    space_id = access.space_id
    limits = {"tool": access.read_tools, "namespace": access.namespaces, "type": access.types}
    if any(limit is not None and not limit for limit in limits.values()):
        return Condition(impossible=True)
    required = [f"={name}:{value}" for name in ("type", "tool", "namespace", "subject", "tier")
                if (value := getattr(filters, name)) is not None]  # fmt: skip
    required += [f"=tag:{tag}" for tag in filters.tags or ()]
    required += [metadata_lexeme(key, value) for key, value in (filters.metadata or {}).items()]
    parts = [quoted(space_id, lexeme) for lexeme in required]
    for name, limit in limits.items():
        if limit is not None:
            parts.append(any_of(quoted(space_id, f"={name}:{value}") for value in sorted(limit)))
    bounds = {name: value for name in _BOUNDS if (value := getattr(filters, name)) is not None}
    return Condition(
        tsquery=all_of(parts) if parts else "",
        comparisons=tuple(_BOUNDS[name] for name in bounds),
        values=tuple(bounds.values()),
    )
