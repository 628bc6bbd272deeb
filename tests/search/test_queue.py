"""The queue of embeddings: freshness, changes of content, workers that are away, die or come twice."""

from __future__ import annotations

import time
from datetime import timedelta
from threading import Thread
from unittest import mock

import pytest
from django.db import connection, connections
from django.utils import timezone

from accounts.access import Access, space_transaction
from aiworker.embedding.base import ProviderUnavailable
from aiworker.embedding.registry import provider_for
from memories import embeddings
from memories.embeddings import embeddings_of
from memories.index_models import EmbeddingPending
from memories.indexing import index_memories
from memories.models import Memory
from memories.services import memory_change, memory_locked
from tests.factories import People
from tests.search.support import embed_everything, found, search, store, store_together

pytestmark = pytest.mark.django_db


def change(access: Access, memory: Memory, content: str) -> None:
    """Change a memory's content through the service."""
    with space_transaction(access):
        memory_change(access=access, memory=memory, changes={"content": content})


def vectors(access: Access) -> int:
    """Count the space's vectors."""
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memories_memoryvector")
        return int(cursor.fetchone()[0])


def test_a_search_embeds_the_few_newest_itself_and_says_what_is_missing(people: People) -> None:
    access = people.access()
    made = store(access, *(f"note number {number}" for number in range(5)))

    result = search(access, "note", "semantic")

    assert {hit.memory_id for hit in result.hits} == {memory.id for memory in made[2:]}
    assert result.pending == 2


def test_keyword_finds_at_once_without_any_vector(people: People) -> None:
    access = people.access()
    memory = store(access, "just written")[0]

    result = search(access, "written", "keyword")

    assert ([hit.memory_id for hit in result.hits], result.pending) == ([memory.id], 1)


def test_what_is_written_during_an_import_is_embedded_before_it(people: People) -> None:
    access = people.access()
    alone = store(access, "My cat sleeps all day")[0]
    store_together(access, (f"Imported {number}" for number in range(30)))

    assert [claim.memory_id for claim in embeddings._claim(access.space_id, 1)] == [alone.id]


def test_the_vector_of_an_older_text_never_answers(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    embed_everything()
    old = embeddings_of(access, [memory.id])[memory.id]

    change(access, memory, "Tax is due in May")

    assert vectors(access) == 0
    assert embeddings_of(access, [memory.id]) == {}
    result = search(access, "sleeping kitten", "semantic")
    assert result.hits[0].scores["semantic"] < 0.6
    assert embeddings_of(access, [memory.id])[memory.id] != old


def test_a_text_that_changes_while_it_is_embedded_is_not_stored(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    original = embeddings._embedded

    def slow(*args: object) -> object:
        made = original(*args)  # type: ignore[arg-type]
        change(access, Memory.objects.any_status(access).get(id=memory.id), "Tax is due in May")
        return made

    with mock.patch.object(embeddings, "_embedded", slow):
        embeddings.embed_claims(embeddings._claim(access.space_id, 1), provider_for("bge-small-en-v1.5"))

    assert vectors(access) == 0
    assert EmbeddingPending.objects.count() == 1
    embed_everything()
    assert vectors(access) == 1


@pytest.mark.django_db(transaction=True)
def test_whoever_stores_vectors_and_whoever_changes_the_memory_take_turns(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    claims = embeddings._claim(access.space_id, 1)

    def embed() -> None:
        embeddings.embed_claims(claims, provider_for("bge-small-en-v1.5"))
        connections.close_all()

    worker = Thread(target=embed)
    with space_transaction(access):
        held = memory_locked(access=access, memory_id=memory.id)
        worker.start()
        eventually_waits()
        memory_change(access=access, memory=held, changes={"pinned": True})
    worker.join()

    assert vectors(access) == 1
    assert not EmbeddingPending.objects.exists()


def eventually_waits() -> None:
    """Return when somebody waits for this transaction."""
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"
    for _ in range(1_000):
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    pytest.fail("nobody waits")


def test_a_memory_that_is_deleted_while_it_is_embedded_leaves_nothing(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    original = embeddings._embedded

    def slow(*args: object) -> object:
        made = original(*args)  # type: ignore[arg-type]
        Memory.objects.any_status(access).filter(id=memory.id).delete()
        return made

    with mock.patch.object(embeddings, "_embedded", slow):
        embeddings.embed_claims(embeddings._claim(access.space_id, 1), provider_for("bge-small-en-v1.5"))

    assert (vectors(access), EmbeddingPending.objects.count()) == (0, 0)


def test_a_change_of_anything_but_the_content_keeps_the_vectors(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    embed_everything()

    with space_transaction(access):
        memory_change(access=access, memory=memory, changes={"tags": ["pet"], "metadata": {"a": 1}})

    assert (vectors(access), EmbeddingPending.objects.count()) == (1, 0)
    assert found(access, "kitten", "semantic", tags=["pet"]) == [memory.id]


def test_a_changed_expiry_reaches_the_vectors(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    embed_everything()

    with space_transaction(access):
        memory_change(access=access, memory=memory, changes={"expires_at": timezone.now() - timedelta(hours=1)})
    assert found(access, "kitten", "semantic") == []

    with space_transaction(access):
        memory_change(access=access, memory=memory, changes={"expires_at": None})
    assert found(access, "kitten", "semantic") == [memory.id]


def test_a_worker_that_died_keeps_its_lease_only_for_a_while(people: People) -> None:
    access = people.access()
    store(access, "My cat sleeps all day")
    assert embeddings._claim(access.space_id, 5)

    embed_everything()
    assert vectors(access) == 0

    EmbeddingPending.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    embed_everything()
    assert (vectors(access), EmbeddingPending.objects.count()) == (1, 0)


def test_a_search_finds_what_was_just_written_while_a_worker_has_it_in_hand(people: People) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]
    in_hand = embeddings._claim(access.space_id, 5)

    assert found(access, "kitten", "semantic") == [memory.id]
    embeddings.embed_claims(in_hand, provider_for("bge-small-en-v1.5"))
    assert (vectors(access), EmbeddingPending.objects.count()) == (1, 0)


def test_a_search_leaves_what_waits_because_it_failed(people: People) -> None:
    access = people.access()
    store(access, "My cat sleeps all day")
    embeddings._give_back(embeddings._claim(access.space_id, 5), ProviderUnavailable("away"))

    assert search(access, "kitten", "semantic").pending == 1


def test_two_workers_never_claim_the_same_row(people: People) -> None:
    access = people.access()
    store(access, *(f"note {number}" for number in range(6)))

    first, second = embeddings._claim(access.space_id, 4), embeddings._claim(access.space_id, 4)

    assert (len(first), len(second)) == (4, 2)
    assert not {claim.memory_id for claim in first} & {claim.memory_id for claim in second}


def test_an_import_of_one_space_does_not_keep_another_waiting(people: People) -> None:
    store(people.access(), *(f"note {number}" for number in range(40)))
    store(people.access("outsider"), "a single note")

    claims = embeddings._claim_fairly()

    assert people.other.pk in {claim.space_id for claim in claims}
    assert len(claims) <= embeddings.BATCH


def test_the_newest_are_embedded_first(people: People) -> None:
    access = people.access()
    made = store(access, *(f"note {number}" for number in range(4)))

    claims = embeddings._claim(access.space_id, 2)

    assert {claim.memory_id for claim in claims} == {made[2].id, made[3].id}


def test_what_fails_waits_longer_each_time(people: People) -> None:
    access = people.access()
    store(access, "a note")
    pauses = []
    for _ in range(3):
        EmbeddingPending.objects.update(not_before=timezone.now() - timedelta(seconds=1))
        embeddings._give_back(embeddings._claim(access.space_id, 1), ProviderUnavailable("away"))
        pauses.append((EmbeddingPending.objects.get().not_before - timezone.now()).total_seconds())

    assert pauses[0] < 2.1 < pauses[1] < 4.1 < pauses[2] < 8.1


def test_a_long_memory_is_found_by_its_last_words(people: People) -> None:
    access = people.access()
    filler = "The committee discussed the budget of the coming year at length. " * 130
    memory = store(access, filler + "In the end Maria adopted a small grey kitten.")[0]
    embed_everything()

    assert vectors(access) > 2
    result = search(access, "who adopted a cat", "semantic")
    assert [hit.memory_id for hit in result.hits] == [memory.id]
    assert result.hits[0].score > 0.5


def test_the_same_memories_indexed_again_queue_nothing(people: People) -> None:
    access = people.access()
    made = store(access, "one", "two")
    embed_everything()

    with space_transaction(access):
        index_memories(made)

    assert EmbeddingPending.objects.count() == 0


def test_clients_read_vectors_of_what_they_may_see(people: People) -> None:
    access = people.access()
    memory = store(access, "one")[0]
    embed_everything()

    with space_transaction(access):
        own = embeddings_of(access, [memory.id])
    with space_transaction(people.access("outsider")):
        others = embeddings_of(people.access("outsider"), [memory.id])

    assert len(own[memory.id]) == 384
    assert others == {}
