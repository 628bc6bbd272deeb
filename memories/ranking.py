"""Fusion: one score from how well the words match and how near the meaning is.

Both sides are put on a scale of their own that does not depend on what else was found: BM25 over the score of a memory
that has every word of the query once, and cosine similarity between what is typical of unrelated texts and of
paraphrases under the model. Their weighted sum therefore knows when one side has little to say, which ranks (RRF) and
scales stretched to the list at hand (min-max) do not. docs/adr/0103-fusion.md holds the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from memories.search_types import Hit

SEMANTIC_WEIGHT = 0.6
RERANK_WEIGHT = 2.0
RERANKED = 30
CANDIDATES = 100
"""How many of each side's best are fused."""


@dataclass(frozen=True)
class Scale:
    """What similarities mean under a model: typical ones of unrelated texts (0) and of paraphrases (1)."""

    unrelated: float
    paraphrase: float

    def place(self, similarity: float) -> float:
        """Put a cosine similarity on the scale; unrelated and below is 0, above 1 is possible."""
        return max(similarity - self.unrelated, 0.0) / (self.paraphrase - self.unrelated)


@dataclass(frozen=True)
class Tie:
    """What orders equally good memories: pinned ones first, then newer ones, then the id."""

    pinned: bool
    created_at: datetime


def scale_of(similarities: Mapping[str, float], known: tuple[float, float] | None) -> Scale:
    """Give the model's scale; for one whose scale is not known, that of the list: its last and its first."""
    if known:
        return Scale(*known)
    values = similarities.values()
    lowest, highest = min(values, default=0.0), max(values, default=1.0)
    return Scale(lowest, max(highest, lowest + 0.05))


def fuse(
    keyword: Mapping[str, float], semantic: Mapping[str, float], *, ideal: float, scale: Scale, semantic_weight: float
) -> list[Hit]:
    """Give one hit for each memory of either list with the weighted sum of its two scores, in no order.

    ``keyword`` holds BM25 scores, ``semantic`` cosine similarities; absent means none.
    """
    hits = []
    for memory_id in keyword.keys() | semantic.keys():
        words = keyword.get(memory_id, 0.0) / ideal if ideal else 0.0
        similarity = semantic.get(memory_id)
        meaning = scale.place(similarity) if similarity is not None else 0.0
        score = semantic_weight * meaning + (1 - semantic_weight) * words
        scores = {"keyword": words, "semantic": similarity if similarity is not None else None}
        hits.append(Hit(memory_id, score, scores))
    return hits


def ordered(hits: list[Hit], ties: Mapping[str, Tie]) -> list[Hit]:
    """Sort hits best first; scores that agree to three digits are ties. Hits without a tie-breaker are gone."""

    def key(hit: Hit) -> tuple[float, bool, float, str]:
        tie = ties[hit.memory_id]
        return -round(hit.score, 3), not tie.pinned, -tie.created_at.timestamp(), hit.memory_id

    return sorted((hit for hit in hits if hit.memory_id in ties), key=key)
