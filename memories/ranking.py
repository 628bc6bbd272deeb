"""Fusion: one score from how well the words match and how near the meaning is.

Both sides are put on a scale of their own: BM25 over the score of a memory that has every word of the query once, and
similarity beyond what all memories of the space have in common over that of a paraphrase. Two ways of joining opinions
then count together. Their weighted sum favours what both sides find good. Their pool of probabilities lets the side
decide that has one clear answer, where the other sees many equal ones. docs/adr/0103-fusion.md holds the figures.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from memories.keyword import Match
from memories.search_types import Hit
from memories.semantic import Nearness

CANDIDATES = 100
"""How many of each side's best are fused."""
PARAPHRASE = 0.72
"""Similarity beyond the common of two texts that say the same, under either packaged model."""
SUM_OF_MEANING = 0.6
POOL_OF_MEANING = 0.3
POOL = 6.0
SHARPNESS = 1 / 0.12


def fuse(
    keyword: Mapping[str, Match], semantic: Mapping[str, Nearness], *, ideal: float, trust: float = 1.0
) -> list[Hit]:
    """Give one hit for each memory of ``keyword``, best first; scores are at most about 1.

    ``keyword`` holds BM25 scores (0 where no word matches), ``ideal`` the score of every word once; who is absent from
    ``semantic`` has no vector. ``trust`` scales the weight of meaning: 1 fully, 0 not at all. Scores that agree to four
    digits are ties: pinned memories come first, then newer ones, then the id decides.
    """
    ids = list(keyword)
    words = np.array([match.score for match in keyword.values()]) / (ideal or 1.0)
    meaning = np.array([max(semantic[found].beyond_common, 0.0) if found in semantic else 0.0 for found in ids])
    meaning /= PARAPHRASE
    summed = _weighted(meaning, words, SUM_OF_MEANING * trust)
    pooled = _weighted(_probabilities(meaning), _probabilities(words), POOL_OF_MEANING * trust)
    scores = (summed + POOL * pooled) / (1 + POOL)
    hits = []
    for place, (memory_id, score) in enumerate(zip(ids, scores.tolist(), strict=True)):
        near = semantic.get(memory_id)
        parts = {"keyword": float(words[place]), "semantic": near.cosine if near else None}
        hits.append(Hit(memory_id, score, parts))

    def order(hit: Hit) -> tuple[float, bool, float, str]:
        match = keyword[hit.memory_id]
        return -round(hit.score, 4), not match.pinned, -match.created, hit.memory_id

    return sorted(hits, key=order)


def _weighted(
    meaning: npt.NDArray[np.float64], words: npt.NDArray[np.float64], weight: float
) -> npt.NDArray[np.float64]:
    return weight * meaning + (1 - weight) * words


def _probabilities(evidence: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Give each candidate's probability of being the one that is looked for (softmax)."""
    if not evidence.size:
        return evidence
    raised = np.exp(SHARPNESS * (evidence - evidence.max()))
    return np.asarray(raised / raised.sum())
