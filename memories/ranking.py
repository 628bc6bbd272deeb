"""Fusion: one score from how well the words match and how near the meaning is.

Both sides are put on a scale of their own that does not depend on what else was found: BM25 over the score of a memory
that has every word of the query once, and cosine similarity between what is typical of unrelated texts and of
paraphrases under the model. Their weighted sum therefore knows when one side has little to say, which ranks (RRF) and
scales stretched to the list at hand (min-max) do not. docs/adr/0103-fusion.md holds the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memories.keyword import Match
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


def scale_of(similarities: Mapping[str, float], known: tuple[float, float] | None) -> Scale:
    """Give the model's scale; for one whose scale is not known, that of the list: its last and its first."""
    if known:
        return Scale(*known)
    values = similarities.values()
    lowest, highest = min(values, default=0.0), max(values, default=1.0)
    return Scale(lowest, max(highest, lowest + 0.05))


def fuse(
    keyword: Mapping[str, Match], semantic: Mapping[str, float], *, ideal: float, scale: Scale, semantic_weight: float
) -> list[Hit]:
    """Give one hit for each memory of ``keyword``, best first, with the weighted sum of its two scores.

    ``keyword`` holds BM25 scores (0 where no word matches), ``semantic`` cosine similarities; absent means none. Scores
    that agree to three digits are ties: pinned memories come first, then newer ones, then the id decides.
    """
    hits = []
    for memory_id, match in keyword.items():
        words = match.score / ideal if ideal else 0.0
        similarity = semantic.get(memory_id)
        meaning = scale.place(similarity) if similarity is not None else 0.0
        score = semantic_weight * meaning + (1 - semantic_weight) * words
        hits.append(Hit(memory_id, score, {"keyword": words, "semantic": similarity}))

    def order(hit: Hit) -> tuple[float, bool, float, str]:
        match = keyword[hit.memory_id]
        return -round(hit.score, 3), not match.pinned, -match.created_at.timestamp(), hit.memory_id

    return sorted(hits, key=order)
