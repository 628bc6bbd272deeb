"""Fusion and reranking on scores and states made up for them."""

from __future__ import annotations

import numpy as np

from aiworker.embedding.base import TokenStates, Vector
from memories.keyword import Match
from memories.ranking import fuse
from memories.reranking import reranked, word_weights
from memories.search_types import Hit
from memories.semantic import Nearness
from memories.statistics import Statistics


def words(**scores: float) -> dict[str, Match]:
    return {name: Match(score, False, 0.0) for name, score in scores.items()}


def near(**similarities: float) -> dict[str, Nearness]:
    return {name: Nearness(value, value) for name, value in similarities.items()}


def order(keyword: dict[str, Match], semantic: dict[str, Nearness], trust: float = 1.0) -> list[str]:
    return [hit.memory_id for hit in fuse(keyword, semantic, ideal=10.0, trust=trust)]


def test_what_both_sides_find_good_is_first() -> None:
    assert order(words(a=5.8, b=6, c=0), near(a=0.5, b=0.0, c=0.55))[0] == "a"


def test_the_side_with_one_clear_answer_decides() -> None:
    assert order(words(a=12, b=2, c=2), near(a=0.2, b=0.3, c=0.3))[0] == "a"
    assert order(words(a=3, b=3.2, c=3.4), near(a=0.8, b=0.2, c=0.2))[0] == "a"


def test_without_trust_the_words_alone_decide() -> None:
    assert order(words(a=1, b=2, c=3), near(a=0.9, b=0.5), trust=0) == ["c", "b", "a"]


def test_a_memory_without_a_vector_is_ranked_by_its_words() -> None:
    hits = fuse(words(a=9, b=0), near(b=0.1), ideal=10.0)

    assert [(hit.memory_id, hit.scores["semantic"]) for hit in hits] == [("a", None), ("b", 0.1)]


def test_equal_scores_put_pinned_ones_first_then_newer_ones() -> None:
    equal = {
        "old": Match(1.0, False, 1.0),
        "new": Match(1.0, False, 2.0),
        "pinned": Match(1.0, True, 0.0),
    }

    assert order(equal, {}) == ["pinned", "new", "old"]


def test_nothing_found_is_no_hits() -> None:
    assert fuse({}, {}, ideal=0.0) == []


class Letters:
    """A model whose tokens are words and whose states tell the words apart."""

    def token_states(self, text: str, *, is_query: bool) -> TokenStates:
        spans, at = [], 0
        for word in text.split():
            start = text.index(word, at)
            at = start + len(word)
            spans.append((start, at))
        states: Vector = np.stack([np.eye(16, dtype=np.float32)[hash_of(text[a:b])] for a, b in spans])
        return TokenStates(states, spans, text)


def hash_of(word: str) -> int:
    return sum(map(ord, word)) % 16


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    statistics = Statistics(100, 5.0, {"the": 90, "lighthous": 1})
    weights = word_weights(Letters().token_states("the lighthouse", is_query=True), statistics, "en")

    assert weights[1] > 5 * weights[0]
    assert float(weights.sum()) == 1.0


def test_reranking_puts_the_text_with_the_rare_word_first_and_leaves_out_what_is_gone() -> None:
    statistics = Statistics(100, 5.0, {"the": 90, "lighthous": 1})
    hits = [Hit("a", 0.5), Hit("b", 0.5), Hit("gone", 0.9)]
    contents = {"a": "the ship sank", "b": "a lighthouse keeper"}

    found = reranked(
        "the lighthouse", hits, contents, provider=Letters(), statistics=statistics, language="en"
    )  # fmt: skip

    assert [hit.memory_id for hit in found] == ["b", "a"]
    assert found[0].scores["rerank"] > found[1].scores["rerank"]
