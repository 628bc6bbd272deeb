"""Nearness beyond what a space has in common, and what a search of words reads of the index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.db import connection

from accounts.access import Access, space_transaction
from memories import semantic
from memories.index_models import MemoryVector, SearchSpace
from memories.semantic import VectorSpace, nearness
from tests.factories import People
from tests.search.support import store

pytestmark = pytest.mark.django_db
MODEL, DIMENSIONS = "made-up", 16


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def filled(access: Access, count: int) -> dict[str, Any]:
    """Store memories with vectors that share a direction; return the vectors by id, two for each memory."""
    chance = np.random.default_rng(3)
    SearchSpace.objects.update_or_create(space_id=access.space_id, defaults={"model": MODEL})
    vectors = {}
    for memory in store(access, *(f"memory {number}" for number in range(count))):
        made = unit(chance.normal(size=(2, DIMENSIONS)) + 2.0).astype(np.float32)
        vectors[memory.id] = made
        for piece, vector in enumerate(made):
            MemoryVector.objects.create(
                space_id=access.space_id, memory_id=memory.id, model=MODEL, piece=piece, digest=b"x", embedding=vector
            )
    return vectors


def test_the_common_part_is_taken_from_both_sides(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "FEW", 0)
    access = people.access()
    vectors = filled(access, 20)
    query = unit(np.random.default_rng(4).normal(size=DIMENSIONS) + 2.0).astype(np.float32)
    common = semantic.COMMON * np.concatenate(list(vectors.values())).mean(axis=0)

    with space_transaction(access):
        found = nearness(VectorSpace(access.space_id, MODEL, False), query, list(vectors))

    for memory_id, pieces in vectors.items():
        beyond = unit(pieces - common) @ unit(query - common)
        assert found[memory_id].cosine == pytest.approx(float((pieces @ query).max()), abs=2e-3)
        assert found[memory_id].beyond_common == pytest.approx(float(beyond.max()), abs=5e-3)


def test_a_memory_without_a_vector_is_absent_and_one_alone_is_near_itself(people: People) -> None:
    access = people.access()
    [(memory_id, pieces)] = filled(access, 1).items()
    [other] = store(access, "nothing embedded")

    with space_transaction(access):
        found = nearness(VectorSpace(access.space_id, MODEL, False), pieces[0], [memory_id, other.id])

    assert found.keys() == {memory_id}
    assert found[memory_id].beyond_common == pytest.approx(1.0, abs=5e-3)


def test_the_common_part_of_many_vectors_is_remembered_and_that_of_few_is_not(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(semantic, "_known_common", semantic.Remembered())
    access = people.access()
    first = filled(access, 3)
    space = VectorSpace(access.space_id, MODEL, False)

    def common() -> Any:
        with space_transaction(access):
            return semantic._common(space)

    before = common()
    [changed] = MemoryVector.objects.filter(space_id=access.space_id, memory_id=min(first), piece=0)
    MemoryVector.objects.filter(space_id=access.space_id, memory_id=min(first), piece=0).update(
        embedding=[-value for value in changed.embedding]
    )
    assert not np.allclose(common(), before)

    monkeypatch.setattr(semantic, "SAMPLE", 4)
    remembered = common()
    MemoryVector.objects.filter(space_id=access.space_id).delete()
    assert np.array_equal(common(), remembered)


def test_words_are_looked_up_in_their_own_index_alone(people: People) -> None:
    access = people.access()
    store(access, *(f"a note about gardens {number}" for number in range(30)))

    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT memory_id FROM memories_searchable WHERE lexemes @@ %s::tsquery",
            [f"'{access.space_id}:garden'"],
        )
        plan = " ".join(row[0] for row in cursor.fetchall())

    assert "memories_searchentry_lexemes" in plan
    assert "memories_searchentry_pkey" not in plan
