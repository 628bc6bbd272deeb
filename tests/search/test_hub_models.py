"""Models of a hub through fastembed and sentence-transformers, each stood in for by a module with its signatures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from aiworker.embedding.base import EmbeddingError, EmbeddingProvider
from aiworker.embedding.hub import FastembedProvider, SentenceTransformersProvider
from aiworker.embedding.registry import forget_providers, provider_for
from memories.index_models import EmbeddingPending
from tests.factories import People
from tests.search.support import embed_everything, found, search, store

#: The vectors point where the text's length says; `answer` takes their place.
VECTOR = """
    import numpy as np

    calls, answer = [], None

    def vector(text):
        if answer is not None:
            return answer
        made = np.full(6, 0.25, np.float32)
        made[len(text) % 6] = 2
        return made
"""
#: fastembed 0.7: TextEmbedding.embed and query_embed take one text or several and give an iterator over vectors.
FASTEMBED = """
    class TextEmbedding:
        def __init__(self, model_name="BAAI/bge-small-en-v1.5", cache_dir=None, threads=None, providers=None,
                     cuda=False, device_ids=None, lazy_load=False, **kwargs):
            if model_name != "known/model":
                raise ValueError(f"Model {model_name} is not supported in TextEmbedding.")
            self.model_name = model_name

        def embed(self, documents, batch_size=256, parallel=None, **kwargs):
            calls.append(("document", documents))
            yield from (vector(text) for text in documents)

        def query_embed(self, query, **kwargs):
            calls.append(("query", query))
            yield from (vector(text) for text in query)
"""
#: sentence-transformers 4: one way for queries and documents; OSError when the hub has no such model.
SENTENCE_TRANSFORMERS = """
    class SentenceTransformer:
        def __init__(self, model_name_or_path=None, modules=None, device=None, prompts=None, **kwargs):
            if model_name_or_path != "known/model":
                raise OSError(f"{model_name_or_path} is not a local folder and is not a valid model identifier")

        def encode(self, sentences, prompt_name=None, prompt=None, batch_size=32, show_progress_bar=None,
                   output_value="sentence_embedding", precision="float32", convert_to_numpy=True,
                   convert_to_tensor=False, device=None, normalize_embeddings=False, **kwargs):
            calls.append((prompt_name, sentences, normalize_embeddings, show_progress_bar))
            return vector(sentences)
"""
#: Since version 5 there is one for each.
VERSION_5 = """
        def encode_query(self, sentences, **kwargs):
            return self.encode(sentences, prompt_name="query", **kwargs)

        def encode_document(self, sentences, **kwargs):
            return self.encode(sentences, prompt_name="document", **kwargs)
"""
MODELS = {"fastembed": "fastembed:known/model", "sentence_transformers": "sentence-transformers:known/model"}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder on sys.path, for the libraries that a test installs."""
    monkeypatch.syspath_prepend(tmp_path)
    forget_providers()
    yield tmp_path
    forget_providers()
    for name in MODELS:
        sys.modules.pop(name, None)


def install(library: Path, name: str, source: str) -> Any:
    """Install a stand-in and return its module."""
    (library / f"{name}.py").write_text(dedent(VECTOR) + dedent(source))
    return __import__(name)


@pytest.fixture(params=sorted(MODELS))
def installed(request: pytest.FixtureRequest, library: Path) -> Any:
    """Give each library's stand-in."""
    sources = {"fastembed": FASTEMBED, "sentence_transformers": SENTENCE_TRANSFORMERS + VERSION_5}
    return install(library, request.param, sources[request.param])


def provider_of(module: Any) -> EmbeddingProvider:
    return provider_for(MODELS[module.__name__])


def test_the_prefix_chooses_the_library(library: Path) -> None:
    install(library, "fastembed", FASTEMBED)
    install(library, "sentence_transformers", SENTENCE_TRANSFORMERS)

    assert isinstance(provider_for("fastembed:known/model"), FastembedProvider)
    assert isinstance(provider_for("sentence-transformers:known/model"), SentenceTransformersProvider)
    for name in ("fastembed:", "sentence-transformers:", "fastembed", "known/model", "transformers:known/model"):
        with pytest.raises(EmbeddingError, match="There is no embedding model named"):
            provider_for(name)


def test_dimensions_are_those_of_a_first_vector(installed: Any) -> None:
    provider = provider_of(installed)

    assert (provider.name, provider.dimensions, provider.is_local) == (MODELS[installed.__name__], 6, True)


def test_dimensions_of_the_settings_must_be_the_models(installed: Any, settings: Any) -> None:
    settings.EMBEDDING_DIMENSIONS = 5

    with pytest.raises(EmbeddingError, match="answered a vector of 6 dimensions instead of 5"):
        provider_of(installed).embed_query("a")


def test_vectors_are_of_unit_length_and_in_order(installed: Any) -> None:
    vectors = provider_of(installed).embed_documents(["a", "bb", ""])

    assert [int(vector.argmax()) for vector in vectors] == [1, 2, 0]
    assert [float(np.linalg.norm(vector)) for vector in vectors] == pytest.approx([1, 1, 1])


def test_fastembed_tells_queries_from_documents_and_takes_one_text_a_run(library: Path) -> None:
    module = install(library, "fastembed", FASTEMBED)
    provider = provider_for("fastembed:known/model")
    module.calls.clear()

    provider.embed_documents(["a", "bb"])
    provider.embed_query("c")

    assert module.calls == [("document", ["a"]), ("document", ["bb"]), ("query", ["c"])]


@pytest.mark.parametrize(
    ("source", "prompts"),
    [(SENTENCE_TRANSFORMERS + VERSION_5, ["document", "query"]), (SENTENCE_TRANSFORMERS, [None, None])],
    ids=["version 5", "version 4"],
)
def test_sentence_transformers_adds_its_prompts_where_it_can(
    library: Path, source: str, prompts: list[str | None]
) -> None:
    module = install(library, "sentence_transformers", source)
    provider = provider_for("sentence-transformers:known/model")
    module.calls.clear()

    provider.embed_documents(["a"])
    provider.embed_query("b")

    assert module.calls == [(prompts[0], "a", True, False), (prompts[1], "b", True, False)]


@pytest.mark.parametrize("name", MODELS.values())
def test_a_library_that_is_not_installed_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = name.partition(":")[0].replace("-", "_")
    monkeypatch.setitem(sys.modules, package, None)  # as import treats one that is not there
    forget_providers()

    with pytest.raises(EmbeddingError, match=f"The package {package} is not installed"):
        provider_for(name)
    forget_providers()


def test_a_model_that_the_library_does_not_know_is_an_error_with_a_reason(installed: Any) -> None:
    name = MODELS[installed.__name__].replace("known", "unknown")

    with pytest.raises(EmbeddingError, match=rf"{name} failed \((ValueError|OSError)\)"):
        provider_for(name)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ([1.0, 2.0], "answered a vector of 2 dimensions instead of 6"),
        ([float("nan")] * 6, "holds NaN or infinity"),
        ([0.0] * 6, "without a direction"),
        ([[1.0] * 6], "of 6 dimensions instead of 6|not a list of numbers"),
        ("text", "not a list of numbers"),
    ],
)
def test_garbage_is_refused_with_a_reason_and_words_still_answer(
    people: People, settings: Any, installed: Any, answer: Any, reason: str
) -> None:
    settings.EMBEDDING_MODEL = MODELS[installed.__name__]
    provider_of(installed)
    access = people.access()
    cat = store(access, "My cat sleeps all day")[0]
    installed.answer = answer

    embed_everything()

    assert EmbeddingPending.objects.get().error != ""
    with pytest.raises(EmbeddingError, match=reason):
        provider_of(installed).embed_query("cat")
    assert (found(access, "cat"), search(access, "cat").mode_used) == ([cat.id], "keyword")


@pytest.mark.django_db
def test_what_a_library_raises_is_kept_without_its_words(people: People, settings: Any, installed: Any) -> None:
    settings.EMBEDDING_MODEL = name = MODELS[installed.__name__]
    provider_of(installed)
    access = people.access()
    store(access, "My cat sleeps all day")

    def broken(text: str) -> Any:
        raise RuntimeError(f"cannot read {text}")

    installed.vector = broken
    embed_everything()

    assert EmbeddingPending.objects.get().error == f"{name} failed (RuntimeError)"
    assert search(access, "cat").mode_used == "keyword"


@pytest.mark.django_db
def test_a_space_is_searched_by_such_a_model(people: People, settings: Any, installed: Any) -> None:
    settings.EMBEDDING_MODEL = MODELS[installed.__name__]
    access = people.access()
    one, two = store(access, "a" * 7, "b" * 8)

    embed_everything()

    assert found(access, "c" * 13, "semantic") == [one.id, two.id]
    assert found(access, "c" * 14, "semantic") == [two.id, one.id]
