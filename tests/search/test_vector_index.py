"""The vector index of a large space: built and dropped by the worker, and as good as comparing everything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from django.db import connection, connections

from accounts.access import Access, space_transaction
from memories import semantic
from memories.conditions import SearchFilters, condition_for
from memories.index_models import SearchSpace
from memories.lexemes import sample_lexemes, vector_literal
from memories.semantic import VectorSpace
from memories.vector_indexes import build_megabytes, index_name, maintain_vector_indexes
from tests.factories import People

pytestmark = [pytest.mark.django_db(transaction=True, databases=["default", "owner"]), pytest.mark.slow]
SHARES = {"half": 0.5, "twentieth": 0.05, "rare": 0.005}
MODEL, SIZE, DIMENSIONS = "bge-small-en-v1.5", 3_000, 384


def unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def fill(access: Access, count: int) -> Any:
    """Store entries with tags of known shares, and vectors around 60 centres, without any text; return the vectors.

    Every third has the tag "apart" and lies on the far side of all others.
    """
    chance = np.random.default_rng(5)
    sides = np.where(np.arange(60) % 3 == 0, -1.0, 1.0)[:, None] * unit(chance.normal(size=DIMENSIONS))
    centres = unit(unit(chance.normal(size=(60, DIMENSIONS))) + 0.5 * sides)
    chosen = chance.integers(0, 60, count)
    vectors = unit(centres[chosen] + 0.06 * chance.normal(size=(count, DIMENSIONS)))
    draws = chance.random(count)
    memories, entries, pieces = [], [], []
    for number in range(count):
        memory_id = f"mem_{number:016d}"
        tags = [tag for tag, share in SHARES.items() if draws[number] < share]
        tags += ["apart"] * int(chosen[number] % 3 == 0)
        lexemes = vector_literal(
            access.space_id, {name: [] for name in [*(f"=tag:{tag}" for tag in tags), *sample_lexemes(memory_id)]}
        )
        memories.append((access.space_id, memory_id, tags))
        entries.append((access.space_id, memory_id, lexemes))
        pieces.append((access.space_id, memory_id, MODEL, semantic.vector_literal(vectors[number])))
    with space_transaction(access), connection.cursor() as cursor:
        SearchSpace.objects.create(space_id=access.space_id, model=MODEL)
        cursor.executemany(
            "INSERT INTO memories_memory (space_id, id, content, type, source_tool, source_timestamp, tags,"
            " metadata, created_at, updated_at) "
            "VALUES (%s, %s, 'x', 'semantic', 't', now(), %s, '{}', now(), now())",
            memories,
        )
        cursor.executemany(
            "INSERT INTO memories_searchentry (space_id, memory_id, lexemes, length, digest, pinned, created_at,"
            " updated_at) VALUES (%s, %s, %s::tsvector, 1, '', false, now(), now())",
            entries,
        )
        cursor.executemany(
            "INSERT INTO memories_memoryvector (space_id, memory_id, model, piece, digest, embedding)"
            " VALUES (%s, %s, %s, 0, '', %s::halfvec)",
            pieces,
        )
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE memories_searchentry; ANALYZE memories_memoryvector")
    return vectors


@pytest.fixture
def access(people: People, settings: Any) -> Iterator[Access]:
    """Give an access to a space for which 200 vectors are many."""
    settings.SEARCH_INDEX_FROM = 200
    access = people.access()
    yield access
    with connections["owner"].cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {index_name(access.space_id, MODEL)}")


def indexes() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relname LIKE 'memories_vector_hnsw_%'")
        return [row[0] for row in cursor.fetchall()]


def test_recall_is_that_of_comparing_everything_with_and_without_filters(
    access: Access, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors = fill(access, SIZE)
    maintain_vector_indexes()
    name = index_name(access.space_id, MODEL)
    assert indexes() == [name]
    assert SearchSpace.objects.get(pk=access.space_id).vector_index == name
    chance = np.random.default_rng(9)
    queries = unit(vectors[chance.integers(0, SIZE, 30)] + 0.03 * chance.normal(size=(30, DIMENSIONS)))
    # What a filter leaves is compared as a rule; the index is walked where it leaves much.
    for exact_up_to, tags in product((semantic.EXACT_UP_TO, 0), (None, ["half"], ["twentieth"], ["rare"])):
        monkeypatch.setattr(semantic, "EXACT_UP_TO", exact_up_to)
        condition = condition_for(access, SearchFilters(tags=tags))
        same = wanted = 0
        for query in queries:
            with space_transaction(access):
                quick = semantic.nearest(VectorSpace(access.space_id, MODEL, True), query, condition, 10)
                exact = semantic.nearest(VectorSpace(access.space_id, MODEL, False), query, condition, 10)
            same += len(quick.keys() & exact.keys())
            wanted += len(exact)
        assert same >= 0.98 * wanted, (exact_up_to, tags)


@pytest.mark.parametrize(("comparable", "right"), [(semantic.COMPARABLE, True), (0, False)])
def test_what_a_filter_leaves_far_from_the_query_is_compared_in_the_end(
    access: Access, monkeypatch: pytest.MonkeyPatch, comparable: int, right: bool
) -> None:
    vectors = fill(access, SIZE)
    maintain_vector_indexes()
    monkeypatch.setattr(semantic, "EXACT_UP_TO", 0)
    monkeypatch.setattr(semantic, "MAX_PASSED", 1)
    monkeypatch.setattr(semantic, "COMPARABLE", comparable)
    space, apart = VectorSpace(access.space_id, MODEL, True), condition_for(access, SearchFilters(tags=["apart"]))
    with space_transaction(access):
        exact = [semantic.nearest(replace(space, has_index=False), query, apart, 10) for query in vectors[:20]]
        found = [semantic.nearest(space, query, apart, 10) for query in vectors[:20]]

    assert (found == exact) is right


def test_the_index_answers_and_only_with_it(access: Access) -> None:
    vectors = fill(access, 2_000)
    maintain_vector_indexes()
    sql = (
        f"EXPLAIN SELECT 1 FROM memories_memoryvector WHERE space_id = {access.space_id} AND model = '{MODEL}' "
        f"ORDER BY embedding::halfvec(384) <=> '{semantic.vector_literal(vectors[0])}'::halfvec(384) LIMIT 10"
    )
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute(sql)
        plan = " ".join(row[0] for row in cursor.fetchall())

    assert index_name(access.space_id, MODEL) in plan


def test_the_index_is_dropped_when_the_space_shrinks(access: Access) -> None:
    fill(access, 240)
    maintain_vector_indexes()
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM memories_memory WHERE id > 'mem_0000000000000060'")

    maintain_vector_indexes()

    assert indexes() == []
    assert SearchSpace.objects.get(pk=access.space_id).vector_index == ""


def test_a_space_below_the_threshold_has_none(access: Access, settings: Any) -> None:
    settings.SEARCH_INDEX_FROM = 5_000
    fill(access, 300)

    maintain_vector_indexes()

    assert indexes() == []


def test_a_build_that_was_cut_short_is_done_again(access: Access) -> None:
    fill(access, 240)
    maintain_vector_indexes()
    name = index_name(access.space_id, MODEL)
    from embedded.postgres import Postgres
    from tests import environment

    with Postgres(environment.FOLDER).connect(environment.DATABASE) as superuser:
        superuser.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name])

    maintain_vector_indexes()

    with connection.cursor() as cursor:
        cursor.execute("SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass", [name])
        assert cursor.fetchone() == (True,)
    assert SearchSpace.objects.get(pk=access.space_id).vector_index == name


def test_a_worker_whose_login_owns_nothing_says_so(
    access: Access, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(access, 240)
    connections["owner"].close()
    with monkeypatch.context() as patched:
        for name in ("USER", "PASSWORD"):
            patched.setitem(connections["owner"].settings_dict, name, connection.settings_dict[name])
        maintain_vector_indexes()
        connections["owner"].close()

    assert "set DATABASE_OWNER_URL" in caplog.text
    assert indexes() == []


def test_maintenance_runs_once_at_a_time(access: Access) -> None:
    from config.valkey import client
    from memories.vector_indexes import LOCK

    fill(access, 240)
    client().set(LOCK, 1, ex=60)
    try:
        maintain_vector_indexes()
        assert indexes() == []
    finally:
        client().delete(LOCK)


@pytest.mark.parametrize(("count", "megabytes"), [(15_000, 64), (100_000, 178), (1_000_000, 1_781), (9_000_000, 2_048)])
def test_building_reserves_what_the_vectors_need(count: int, megabytes: int) -> None:
    assert build_megabytes(count, 384) == megabytes
