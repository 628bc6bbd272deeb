"""What a search is asked and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from memories.conditions import SearchFilters

Mode = Literal["keyword", "semantic", "hybrid"]


@dataclass(frozen=True)
class SearchQuery:
    """A search: ``q`` in a person's words, at most ``limit`` answers. ``rerank`` None leaves it to the setting."""

    q: str
    mode: Mode = "hybrid"
    limit: int = 10
    filters: SearchFilters = field(default_factory=SearchFilters)
    explain: bool = False
    rerank: bool | None = None


@dataclass(frozen=True)
class Hit:
    """A memory that was found, its score (higher is better, comparable within one answer) and what it is made of."""

    memory_id: str
    score: float
    scores: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    """The hits, best first; ``total`` counts all matches (keyword) or the hits; ``pending`` vectors are missing.

    ``alike`` is the cosine similarity that is typical of paraphrases under the space's model, None where not known.
    """

    hits: list[Hit]
    total: int
    mode_used: str
    pending: int = 0
    alike: float | None = None
