"""include=embedding, at every address that takes it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from aiworker.embedding.registry import provider_for
from tests.contract import checked
from tests.factories import People
from tests.search.support import embed_everything, store

CONTENTS = {"cat": "My cat sleeps on the sofa all day", "tax": "The tax return is due at the end of May"}


@pytest.fixture
def stored(people: People) -> dict[str, str]:
    """Give the contents of two memories by id, whose vectors are still to be made."""
    return {memory.id: memory.content for memory in store(people.access(), *CONTENTS.values())}


def shown(people: People, memory_id: str, kind: str = "owner") -> list[dict[str, Any]]:
    """Return the memories that list, search, the address of one and the list of similar ones show."""
    api, asked = checked(people, kind), {"include": "embedding"}
    answers = [
        api.get("/v1/memories", **asked), api.post("/v1/memories/search", {"q": "cat", "mode": "keyword"}, **asked),
        api.get(f"/v1/memories/{memory_id}/similar", **asked),
    ]  # fmt: skip
    found = [memory for answer in answers for memory in answer.json()["memories"]]
    return [*found, api.get(f"/v1/memories/{memory_id}", **asked).json()]


def test_it_is_the_unit_vector_of_the_content(people: People, stored: dict[str, str]) -> None:
    embed_everything()
    model = provider_for("bge-small-en-v1.5")

    memories = shown(people, next(iter(stored)))

    assert len(memories) == 5
    for memory in memories:
        vector = np.array(memory["embedding"])
        assert vector.shape == (384,)
        assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-3)
        assert float(vector @ model.embed_documents([stored[memory["id"]]])[0]) == pytest.approx(1, abs=1e-3)


def test_it_is_null_until_it_is_made_and_after_a_change_of_text(people: People, stored: dict[str, str]) -> None:
    api, one = checked(people), f"/v1/memories/{next(iter(stored))}"

    assert api.get(one, include="embedding").json()["embedding"] is None
    embed_everything()
    before = api.get(one, include="embedding").json()["embedding"]
    api.put(one, {"content": "The dog barks"})
    assert api.get(one, include="embedding").json()["embedding"] is None
    embed_everything()
    assert api.get(one, include="embedding").json()["embedding"] not in (None, before)


def test_it_is_left_out_unless_asked_for(people: People, stored: dict[str, str]) -> None:
    embed_everything()

    assert "embedding" not in checked(people).get(f"/v1/memories/{next(iter(stored))}").json()


def test_a_key_gets_none_of_what_it_may_not_read(people: People, stored: dict[str, str]) -> None:
    hidden = people.api().created(content="memory of another tool", source={"tool": "windsurf"})["id"]
    embed_everything()

    memories = shown(people, next(iter(stored)), "tool")

    assert {memory["id"] for memory in memories} == set(stored)
    assert hidden not in json.dumps(memories)
