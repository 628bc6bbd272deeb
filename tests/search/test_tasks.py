"""The tasks of the embedding queue, and the wake-up calls that start them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from aiworker.embedding import tasks
from config.valkey import client
from memories import indexing
from memories.index_models import EmbeddingPending, SearchSpace
from memories.indexing import WAKE_MARK
from memories.model_changes import model_change_start
from tests.factories import People
from tests.search.support import fake_provider, found, store


@pytest.fixture(autouse=True)
def no_mark() -> Iterator[None]:
    """Begin and end without a wake-up call under way."""
    client().delete(WAKE_MARK)
    yield
    client().delete(WAKE_MARK)


@pytest.fixture
def sent() -> Iterator[list[Any]]:
    """Collect the messages that would go to the broker."""
    calls: list[Any] = []
    with mock.patch.object(indexing, "enqueue", lambda *args, **ids: calls.append((args, ids))):
        yield calls


@pytest.mark.django_db(transaction=True)
def test_many_writes_send_one_wake_up_call_without_any_text(people: People, sent: list[Any]) -> None:
    store(people.access(), "first secret", "second secret", "third secret")

    assert sent == [(("embedding.embed", "embed"), {})]


@pytest.mark.django_db(transaction=True)
def test_a_write_that_is_rolled_back_sends_nothing(people: People, sent: list[Any]) -> None:
    from django.db import transaction

    with transaction.atomic():
        store(people.access(), "never stored")
        transaction.set_rollback(True)

    assert sent == []
    assert not EmbeddingPending.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_write_during_the_task_wakes_a_worker_again(people: People, sent: list[Any]) -> None:
    store(people.access(), "first")
    tasks.embed()

    store(people.access(), "second")

    assert len(sent) == 2


@pytest.mark.django_db(transaction=True)
def test_the_task_embeds_everything_and_is_safe_to_repeat(people: People, sent: list[Any]) -> None:
    access = people.access()
    memory = store(access, "My cat sleeps all day")[0]

    tasks.embed()
    tasks.embed()

    assert not EmbeddingPending.objects.exists()
    assert found(access, "kitten", "semantic") == [memory.id]


@pytest.mark.django_db(transaction=True)
def test_a_turn_that_ends_early_wakes_the_next(
    people: People, sent: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    store(people.access(), *(f"note {number}" for number in range(40)))
    monkeypatch.setattr(tasks, "SECONDS_A_TURN", 0)
    sent.clear()

    tasks.embed()

    assert 0 < EmbeddingPending.objects.count() < 40
    assert len(sent) == 1


@pytest.mark.django_db(transaction=True)
def test_the_sweep_wakes_a_worker_whose_message_was_lost(people: People, sent: list[Any]) -> None:
    store(people.access(), "a note")
    sent.clear()

    tasks.sweep()

    assert len(sent) == 1


@pytest.mark.django_db(transaction=True)
def test_the_task_completes_a_change_of_model(people: People, sent: list[Any], settings: Any) -> None:
    access = people.access()
    store(access, "a note")
    tasks.embed()
    with fake_provider(dimensions=6) as running:
        settings.EMBEDDING_BASE_URL, settings.EMBEDDING_DIMENSIONS = running.url, 6
        model_change_start(space_id=access.space_id, model="openai:another")

        tasks.embed()

        assert SearchSpace.objects.get(pk=access.space_id).model == "openai:another"


@pytest.mark.django_db(transaction=True)
def test_while_valkey_is_away_writes_and_searches_go_on(people: People) -> None:
    from config.valkey import breaker

    access = people.access()
    with mock.patch.object(breaker, "call", return_value=None):
        memory = store(access, "My cat sleeps all day")[0]

        assert found(access, "kitten", "hybrid") == [memory.id]
        assert found(access, "cat", "keyword") == [memory.id]
