"""Embedding providers: what they send, and which answers are refused with a reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.utils import timezone

from aiworker.embedding import queries
from aiworker.embedding.base import EmbeddingError, EmbeddingProvider, ProviderUnavailable, checked_vectors
from aiworker.embedding.registry import forget_providers, provider_for
from memories.index_models import EmbeddingPending
from tests.factories import People
from tests.search.support import FakeProvider, embed_everything, fake_provider, found, search, store

MODEL = "openai:text-embedding-test"


@pytest.fixture
def fake(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeProvider]:
    """Give a running endpoint that the settings name."""
    monkeypatch.setattr(queries, "_unavailable_until", {})
    with fake_provider() as running:
        settings.EMBEDDING_MODEL = MODEL
        settings.EMBEDDING_BASE_URL = running.url
        settings.EMBEDDING_API_KEY = "the-key"
        settings.EMBEDDING_DIMENSIONS = running.dimensions
        forget_providers()
        yield running
    forget_providers()


def test_sends_model_texts_and_key(fake: FakeProvider) -> None:
    vectors = provider_for(MODEL).embed_documents(["a", "bb"])

    assert fake.requests == [
        {
            "model": "text-embedding-test", "input": ["a", "bb"], "path": "/v1/embeddings",
            "authorization": "Bearer the-key",
        }
    ]  # fmt: skip
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx([1, 1])
    assert [int(vector.argmax()) for vector in vectors] == [1, 2]


def test_voyage_is_told_queries_from_documents(fake: FakeProvider) -> None:
    provider = provider_for("voyage:voyage-test")

    provider.embed_documents(["a"])
    provider.embed_query("b")

    assert [request["input_type"] for request in fake.requests] == ["document", "query"]


def test_rows_are_put_in_the_order_of_their_index(fake: FakeProvider) -> None:
    fake.body = {"data": [{"index": 1, "embedding": [0, 1] + [0] * 6}, {"index": 0, "embedding": [1] + [0] * 7}]}

    assert [int(vector.argmax()) for vector in provider_for(MODEL).embed_documents(["a", "b"])] == [0, 1]


def rows(*embeddings: Any) -> dict[str, Any]:
    return {"data": [{"index": index, "embedding": embedding} for index, embedding in enumerate(embeddings)]}


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (200, rows([1.0] * 7), "7 dimensions instead of 8"),
        (200, rows([1.0] * 9), "9 dimensions instead of 8"),
        (200, rows([]), "0 dimensions"),
        (200, rows([1.0] * 8, [1.0] * 8), "2 vectors for 1 texts"),
        (200, {"data": []}, "0 vectors for 1 texts"),
        (200, rows([float("nan")] * 8), "NaN"),
        (200, rows([1e39] * 8), "infinity"),
        (200, rows([0.0] * 8), "without a direction"),
        (200, rows(["x"] * 8), "not a list of numbers"),
        (200, rows([[1.0]] * 8), "dimensions"),
        (200, rows("abc"), "not a list of numbers"),
        (200, {"error": "no"}, "not a list of embeddings"),
        (200, [1, 2], "not a list of embeddings"),
        (200, b"<html>", "not JSON"),
        (200, b"\xff\xfe", "not JSON"),
        (400, {"error": {"message": "input secret garden refused"}}, "status 400"),
        (401, {}, "status 401"),
        (429, {}, "status 429"),
        (500, b"", "status 500"),
    ],
)
@pytest.mark.django_db
def test_garbage_is_refused_with_a_reason_and_words_still_answer(
    people: People, fake: FakeProvider, status: int, body: Any, reason: str
) -> None:
    access = people.access()
    memory = store(access, "secret garden")[0]
    fake.status, fake.body = status, body

    with pytest.raises(EmbeddingError, match=reason):
        provider_for(MODEL).embed_query("garden")
    embed_everything()
    result = search(access, "garden")

    assert (result.mode_used, [hit.memory_id for hit in result.hits], result.pending) == ("keyword", [memory.id], 1)
    waiting = EmbeddingPending.objects.get()
    assert reason in waiting.error
    assert "garden" not in waiting.error
    assert waiting.attempts == 1


@pytest.mark.django_db
def test_a_text_that_is_refused_does_not_keep_others_waiting(people: People, fake: FakeProvider) -> None:
    access = people.access()
    _, good = store(access, "this one is refused", "this one is fine")
    original = fake.vectors
    fake.vectors = lambda texts: [] if any("refused" in text for text in texts) else original(texts)  # type: ignore[method-assign]

    embed_everything()

    assert found(access, "anything", "semantic") == [good.id]
    assert search(access, "anything", "semantic").pending == 1


@pytest.mark.django_db
def test_a_text_at_which_the_provider_fails_does_not_keep_others_waiting(people: People, fake: FakeProvider) -> None:
    access = people.access()
    store(access, *(f"fine {number}" for number in range(10)), "this one fails")
    fake.fails_at = "this one"

    embed_everything()
    assert EmbeddingPending.objects.count() == 11
    EmbeddingPending.objects.update(not_before=timezone.now())
    embed_everything()

    assert EmbeddingPending.objects.count() == 1
    assert EmbeddingPending.objects.get().attempts == 2


@pytest.mark.django_db
def test_a_provider_that_is_away_is_asked_little(people: People, fake: FakeProvider) -> None:
    access = people.access()
    store(access, *(f"note {number}" for number in range(10)))
    fake.status = 503

    embed_everything()
    EmbeddingPending.objects.update(not_before=timezone.now())
    fake.requests.clear()
    embed_everything()

    assert len(fake.requests) == 2
    assert set(EmbeddingPending.objects.values_list("attempts", flat=True)) == {2}


@pytest.mark.django_db
def test_while_the_provider_is_away_words_answer_and_nothing_is_lost(
    people: People, fake: FakeProvider, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    access = people.access()
    memory = store(access, "secret garden")[0]
    settings.EMBEDDING_BASE_URL = "http://127.0.0.1:9/v1"
    forget_providers()
    embed_everything()
    assert search(access, "garden", "semantic").mode_used == "keyword"
    assert "cannot be reached" in EmbeddingPending.objects.get().error

    settings.EMBEDDING_BASE_URL = fake.url
    forget_providers()
    monkeypatch.setattr(queries, "_unavailable_until", {})
    EmbeddingPending.objects.update(not_before=memory.created_at)
    embed_everything()

    result = search(access, "garden", "semantic")
    assert (result.mode_used, result.pending, [hit.memory_id for hit in result.hits]) == ("semantic", 0, [memory.id])


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
@pytest.mark.django_db
def test_before_there_is_any_vector_words_answer_and_say_so(people: People, fake: FakeProvider, mode: str) -> None:
    access = people.access()
    memory = store(access, "secret garden")[0]

    before = search(access, "garden", mode)
    embed_everything()
    after = search(access, "garden", mode)

    assert [hit.memory_id for hit in before.hits] == [hit.memory_id for hit in after.hits] == [memory.id]
    assert (before.mode_used, before.pending, after.mode_used, after.pending) == ("keyword", 1, mode, 0)


@pytest.mark.django_db
def test_equal_texts_of_a_space_are_embedded_once_and_never_across_spaces(people: People, fake: FakeProvider) -> None:
    store(people.access(), *["the same text"] * 5)
    store(people.access("outsider"), "the same text")

    embed_everything()
    store(people.access(), "the same text")
    embed_everything()

    assert sum(len(request["input"]) for request in fake.requests) == 2


@pytest.mark.django_db
def test_a_query_is_embedded_once_a_space(people: People, fake: FakeProvider) -> None:
    for access in (people.access(), people.access("outsider")):
        store(access, "something")
    embed_everything()
    fake.requests.clear()

    for access in (people.access(), people.access(), people.access("outsider")):
        search(access, "a question that only this test asks")

    assert len(fake.requests) == 2


@pytest.mark.parametrize("name", ["", "nonsense", "openai:", "magic:model", "fastembed:x", "sentence-transformers:x"])
def test_a_model_that_is_not_there_is_an_error_with_a_reason(name: str) -> None:
    with pytest.raises(EmbeddingError, match=r"no embedding model|not installed"):
        provider_for(name)


def test_a_remote_model_needs_its_dimensions(settings: Any) -> None:
    settings.EMBEDDING_DIMENSIONS = 0
    forget_providers()

    with pytest.raises(EmbeddingError, match="OMP_EMBEDDING_DIMENSIONS"):
        provider_for("openai:some-model")


def test_long_texts_are_cut_into_pieces_that_overlap(fake: FakeProvider) -> None:
    text = "".join(chr(97 + number % 26) for number in range(10_000))

    pieces = provider_for(MODEL).split(text)

    assert pieces[0] == text[:6_000]
    assert pieces[-1].endswith(text[-100:])
    assert all(first[-600:] == second[:600] for first, second in itertools.pairwise(pieces))


def test_vectors_are_brought_to_unit_length() -> None:
    [vector] = checked_vectors([[3, 4]], count=1, dimensions=2, provider="x")

    assert vector.tolist() == pytest.approx([0.6, 0.8])


def test_an_unreachable_provider_is_spared_for_a_while(fake: FakeProvider, settings: Any) -> None:
    fake.status = 503
    provider: EmbeddingProvider = provider_for(MODEL)
    for _ in range(3):
        with pytest.raises(ProviderUnavailable):
            queries.query_vector(1, provider, "question")

    assert len(fake.requests) == 1
