"""The one door of search."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from accounts.access import Access, space_transaction
from memories.models import Memory


@dataclass(frozen=True)
class SearchFilters:
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
class SearchQuery:
    q: str
    mode: str = "hybrid"
    limit: int = 10
    filters: SearchFilters = SearchFilters()
    explain: bool = False
    rerank: bool | None = None


@dataclass(frozen=True)
class Hit:
    memory_id: str
    score: float
    scores: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    hits: list[Hit]
    total: int
    mode_used: str
    pending: int = 0


def search_memories(access: Access, query: SearchQuery) -> SearchResult:
    with space_transaction(access):
        rows = Memory.objects.visible_to(access)
        for word in query.q.split():
            rows = rows.filter(content__icontains=word)
        ids = list(rows.order_by("id").values_list("id", flat=True))
    return SearchResult([Hit(i, 1.0) for i in ids[: query.limit]], len(ids), "keyword")


def similar_memories(access: Access, memory_id: str, limit: int) -> SearchResult:
    return SearchResult([], 0, "semantic")
