"""POST /v1/memories/search: reranking, its explanation, and how many vectors are missing."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from tests.contract import checked
from tests.factories import People
from tests.search.support import MODES, embed_everything, store

CONTENTS = [
    "Bob has been living in Berlin since May",
    "Bob's sister lives in Hamburg",
    "The flat in Berlin has three rooms",
    "The recipe needs two eggs",
    "Bob likes living near a river",
]


@pytest.fixture
def stored(people: People) -> dict[str, str]:
    """Give the contents of five memories by id, each with its vector."""
    made = {memory.id: memory.content for memory in store(people.access(), *CONTENTS)}
    embed_everything()
    return made


def searched(people: People, **body: Any) -> dict[str, Any]:
    """Return the answer to a question about where Bob lives."""
    answer: dict[str, Any] = checked(people).post("/v1/memories/search", {"q": "Where does Bob live?"} | body).json()
    return answer


def test_reranking_orders_the_same_memories_anew_and_explains_it(people: People, stored: dict[str, str]) -> None:
    plain, reranked = (searched(people, rerank=wanted, explain=True) for wanted in (False, True))

    assert {one["id"] for one in reranked["memories"]} == {one["id"] for one in plain["memories"]}
    assert (reranked["mode_used"], reranked["total"]) == ("hybrid", plain["total"])
    assert all("rerank" not in one for one in plain["scores"])
    assert all(isinstance(one["rerank"], float) for one in reranked["scores"])
    for answer in (plain, reranked):
        scores = [one["score"] for one in answer["scores"]]
        assert scores == sorted(scores, reverse=True)
        assert [one["id"] for one in answer["scores"]] == [one["id"] for one in answer["memories"]]
    before, after = ({one["id"]: one["score"] for one in answer["scores"]} for answer in (plain, reranked))
    assert before != after


@pytest.mark.parametrize(
    ("setting", "asked", "reranks"),
    [
        (False, {}, False),
        (True, {}, True),
        (True, {"rerank": None}, True),
        (True, {"rerank": False}, False),
        (False, {"rerank": True}, True),
    ],
)
def test_the_setting_reranks_unless_the_request_says_otherwise(
    people: People, stored: dict[str, str], settings: Settings, setting: bool, asked: dict[str, Any], reranks: bool
) -> None:
    settings.SEARCH_RERANK = setting

    scores = searched(people, explain=True, **asked)["scores"]

    assert {"rerank" in one for one in scores} == {reranks}


@pytest.mark.parametrize("mode", ["keyword", "semantic"])
def test_one_ranking_alone_is_not_reranked(people: People, stored: dict[str, str], mode: str) -> None:
    plain, asked = (searched(people, mode=mode, rerank=wanted, explain=True) for wanted in (False, True))

    assert asked == plain


def test_without_explain_there_are_no_scores(people: People, stored: dict[str, str]) -> None:
    assert "scores" not in searched(people, rerank=True)


def test_the_header_counts_the_vectors_that_are_missing(people: People) -> None:
    """A search by meaning makes the three newest itself, one by words makes none."""
    store(people.access(), *CONTENTS)
    body = {"q": "Bob", "limit": 1}

    def pending(mode: str) -> str | None:
        response = checked(people).post("/v1/memories/search", body | {"mode": mode})
        assert response.status_code == 200
        return response.headers.get("X-Search-Pending")

    assert [pending(mode) for mode in ("keyword", "hybrid", "keyword")] == ["5", "2", "2"]
    embed_everything()
    assert [pending(mode) for mode in MODES] == [None, None, None]


def test_the_header_counts_those_of_the_space_alone(people: People) -> None:
    store(people.access("outsider"), *CONTENTS)

    response = checked(people).post("/v1/memories/search", {"q": "Bob", "mode": "keyword"})

    assert "X-Search-Pending" not in response.headers
