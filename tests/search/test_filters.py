"""Filters, key limits and isolation hold in every mode."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from accounts.access import space_transaction
from memories.models import Memory
from tests.factories import People, memory_make
from tests.search.support import MODES, embed_everything, found, search, store

pytestmark = pytest.mark.django_db


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """Give each mode."""
    return str(request.param)


@pytest.mark.parametrize(
    ("changes", "filters"),
    [
        ({"type": "episodic"}, {"type": "episodic"}),
        ({"source": {"tool": "cursor"}}, {"tool": "cursor"}),
        ({"tags": ["Ä b", "c"]}, {"tags": ["Ä b"]}),
        ({"tags": ["one", "two"]}, {"tags": ["two", "one"]}),
        ({"namespace": "project:x'y"}, {"namespace": "project:x'y"}),
        ({"metadata": {"priority": 1, "x": "y"}}, {"metadata": {"priority": 1}}),
        ({"metadata": {"priority": 1}}, {"metadata": {"priority": 1.0}}),
        ({"metadata": {"nested": {"a": [1, None]}}}, {"metadata": {"nested": {"a": [1, None]}}}),
        ({"subject": "Ann Lee"}, {"subject": "Ann Lee"}),
        ({"tier": "core"}, {"tier": "core"}),
    ],
)
def test_a_filter_keeps_what_matches_it(
    people: People, mode: str, changes: dict[str, Any], filters: dict[str, Any]
) -> None:
    access = people.access()
    store(access, "garden work on sunday", "garden tools in the shed")
    wanted = memory_make(access, **{"content": "the garden needs water", "tags": []} | changes)
    embed_everything()

    assert found(access, "garden", mode, **filters) == [wanted.id]


@pytest.mark.parametrize(
    "filters",
    [
        {"tags": ["project"]},
        {"tags": ["Ui"]},
        {"tags": ["ui", "other"]},
        {"tool": "Claude"},
        {"namespace": "project"},
        {"metadata": {"priority": "1"}},
        {"metadata": {"priority": True}},
        {"metadata": {"priority": None}},
        {"subject": "ann"},
    ],
)
def test_a_filter_that_nothing_matches_finds_nothing(people: People, mode: str, filters: dict[str, Any]) -> None:
    access = people.access()
    memory_make(access, content="garden", tags=["ui"], metadata={"priority": 1}, subject="Ann")
    embed_everything()

    assert search(access, "garden", mode, **filters).hits == []


@pytest.mark.parametrize("field", ["created", "updated"])
def test_bounds_are_exclusive(people: People, mode: str, field: str) -> None:
    access = people.access()
    memory = store(access, "garden")[0]
    at: datetime = getattr(memory, f"{field}_at")
    moment = timedelta(microseconds=1)

    assert found(access, "garden", mode, **{f"{field}_after": at - moment, f"{field}_before": at + moment})
    assert not found(access, "garden", mode, **{f"{field}_after": at})
    assert not found(access, "garden", mode, **{f"{field}_before": at})


@pytest.mark.parametrize(
    ("kind", "seen"),
    [
        ("owner", {"claude", "cursor", "other", "in a", "episode"}),
        ("tool", {"claude", "cursor", "in a", "episode"}),
        ("namespace", {"in a"}),
        ("type", {"claude", "cursor", "other", "in a"}),
        ("nothing", set()),
        ("outsider", set()),
    ],
)
def test_a_key_finds_what_it_may_read(people: People, mode: str, kind: str, seen: set[str]) -> None:
    owner = people.access()
    made = {
        "claude": memory_make(owner, content="garden one", source={"tool": "claude"}),
        "cursor": memory_make(owner, content="garden two", source={"tool": "cursor"}),
        "other": memory_make(owner, content="garden three", source={"tool": "other"}),
        "in a": memory_make(owner, content="garden four", namespace="project:a"),
        "episode": memory_make(owner, content="garden five", type="episodic"),
    }
    embed_everything()

    assert set(found(people.access(kind), "garden", mode)) == {made[name].id for name in seen}


def test_expired_memories_are_not_found_nor_counted(people: People, mode: str) -> None:
    access = people.access()
    gone = store(access, "garden gone")[0]
    kept = store(access, "garden kept")[0]
    embed_everything()
    from memories.services import memory_change

    with space_transaction(access):
        memory_change(access=access, memory=gone, changes={"expires_at": timezone.now() - timedelta(seconds=1)})

    result = search(access, "garden", mode)
    assert [hit.memory_id for hit in result.hits] == [kept.id]
    assert result.total == 1


def test_deleted_memories_take_entry_vectors_and_queue_along(people: People, mode: str) -> None:
    from memories.services import memories_delete

    access = people.access()
    embedded = store(access, "garden one")[0]
    embed_everything()
    waiting = store(access, "garden two")[0]

    with space_transaction(access):
        memories_delete(access=access, memories=[embedded, waiting])

    assert found(access, "garden", mode) == []
    with space_transaction(access), connection.cursor() as cursor:
        for table in ("searchentry", "memoryvector", "embeddingpending"):
            cursor.execute(f"SELECT count(*) FROM memories_{table} WHERE space_id = %s", [access.space_id])
            assert cursor.fetchone() == (0,)


def test_the_same_text_in_two_spaces_is_found_in_each_alone(people: People, mode: str) -> None:
    mine = store(people.access(), "secret garden")[0]
    theirs = store(people.access("outsider"), "secret garden")[0]
    embed_everything()

    assert found(people.access(), "secret garden", mode) == [mine.id]
    assert found(people.access("outsider"), "secret garden", mode) == [theirs.id]


def test_other_spaces_do_not_change_a_ranking(people: People, mode: str) -> None:
    access = people.access()
    store(access, "garden zebra", "garden house", "house zebra boat")
    embed_everything()
    before = search(access, "zebra garden house", mode)

    store(people.access("outsider"), *(f"zebra {number}" for number in range(30)))
    embed_everything()

    assert search(access, "zebra garden house", mode) == before


@pytest.mark.parametrize("relation", ["memories_searchable", "memories_searchentry", "memories_memoryvector"])
def test_the_database_shows_entries_and_vectors_of_the_transactions_space_only(people: People, relation: str) -> None:
    store(people.access(), "garden")
    store(people.access("outsider"), "garden")
    embed_everything()

    for access in (people.access(), people.access("outsider")):
        with space_transaction(access), connection.cursor() as cursor:
            cursor.execute(f"SELECT DISTINCT space_id FROM {relation}")
            assert cursor.fetchall() == [(access.space_id,)]


def test_the_view_takes_no_row_of_another_space(people: People) -> None:
    sql = (
        "INSERT INTO memories_searchable (space_id, memory_id, lexemes, length, digest, pinned, created_at, updated_at)"
        " VALUES (%s, 'mem_aaaaaaaaaaaaaaaa', '', 0, '', false, now(), now())"
    )
    with transaction.atomic(), space_transaction(people.access()), connection.cursor() as cursor:
        with pytest.raises(DatabaseError, match="check option"):
            cursor.execute(sql, [people.other.pk])
        transaction.set_rollback(True)


def test_similar_memories_come_nearest_first_without_the_memory_itself(people: People) -> None:
    from memories.search import similar_memories

    access = people.access()
    cat, kitten, tax = store(access, "My cat sleeps all day", "The kitten naps every afternoon", "Tax is due in May")
    theirs = store(people.access("outsider"), "My cat sleeps all day")[0]
    embed_everything()

    result = similar_memories(access, cat.id, 5)

    assert [hit.memory_id for hit in result.hits] == [kitten.id, tax.id]
    assert theirs.id not in {hit.memory_id for hit in result.hits}
    assert Memory.objects.visible_to(access).filter(id=cat.id).exists()
