"""Reranking by late interaction: each word of the query looks for what is nearest to it in a text (MaxSim).

The models were not trained for it, and their states of all tokens are alike. So half of what the candidates' tokens
have in common is taken away, and a word counts by its rarity in the space. docs/adr/0103-fusion.md holds the figures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from aiworker.embedding.base import LateInteraction, TokenStates, Vector
from memories.analysis import tokens
from memories.search_types import Hit
from memories.statistics import Statistics, statistics_of

CANDIDATES = 30
WEIGHT = 0.75
COMMON = 0.5
_WORDS = re.compile(r"\w+")


def query_statistics(space_id: int, q: str, language: str) -> Statistics:
    """Read how rare the words of a query are, inside a transaction that has set the space."""
    return statistics_of(space_id, list({token.stem for token in tokens(q, language)}))


def reranked(
    q: str,
    hits: Sequence[Hit],
    contents: Mapping[str, str],
    *,
    provider: LateInteraction,
    statistics: Statistics,
    language: str,
) -> list[Hit]:
    """Order hits anew by their scores and how near their contents (by memory id) are, word by word.

    Hits without a content are left out.
    """
    kept = [hit for hit in hits if hit.memory_id in contents]
    if not kept:
        return []
    asked = provider.token_states(q, is_query=True)
    weights = word_weights(asked, statistics, language)
    said = [provider.token_states(contents[hit.memory_id], is_query=False).states for hit in kept]
    common = COMMON * np.concatenate(said).mean(axis=0)
    query = _unit(asked.states - common)
    scored = []
    for hit, states in zip(kept, said, strict=True):
        closeness = float(weights @ (query @ _unit(states - common).T).max(axis=1))
        scored.append(replace(hit, score=hit.score + WEIGHT * closeness, scores=hit.scores | {"rerank": closeness}))
    return sorted(scored, key=lambda hit: -hit.score)


def word_weights(asked: TokenStates, statistics: Statistics, language: str) -> Vector:
    """Give each token of a query its share: the rarity of the word that it is part of; all sum up to 1."""
    weights = np.zeros(len(asked.spans), np.float32)
    for word in _WORDS.finditer(asked.text):
        rarities = [statistics.idf(token.stem) for token in tokens(word.group(), language) if not token.single]
        for place, (start, end) in enumerate(asked.spans):
            if rarities and start < word.end() and end > word.start():
                weights[place] = sum(rarities) / len(rarities)
    total = weights.sum()
    return weights / total if total else np.full(len(weights), 1 / len(weights), np.float32)


def _unit(vectors: Vector) -> Vector:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6), np.float32)
