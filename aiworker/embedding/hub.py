"""Models by name from a model hub, through fastembed or sentence-transformers, where one of them is installed.

Both are optional: they bring their own dependencies and fetch weights from a network that many servers do not have.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aiworker.embedding.base import EmbeddingError, Vector, checked_vectors, split_by_characters

PIECE_CHARACTERS = 1_500
OVERLAP_CHARACTERS = 200


class HubProvider:
    """A model of a hub, embedded one text a run so that its vectors do not depend on what they were batched with."""

    is_local = True
    alike: float | None = None

    def __init__(self, package: str, name: str, *, dimensions: int = 0) -> None:
        self.name = name
        with _errors_of(name):
            self._load(_optional(package), name.partition(":")[2])
            self.dimensions = dimensions or len(self._raw("dimensions", is_query=False))

    def split(self, text: str) -> list[str]:
        """Cut a text by characters, few enough for 512 tokens in most scripts."""
        return split_by_characters(text, size=PIECE_CHARACTERS, overlap=OVERLAP_CHARACTERS)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts one by one. Raises EmbeddingError."""
        return [self._checked(text, is_query=False) for text in texts]

    def embed_query(self, text: str) -> Vector:
        """Embed one query. Raises EmbeddingError."""
        return self._checked(text, is_query=True)

    def familiarity(self, text: str) -> float:
        """Trust it with every language: what it was trained on is not known here."""
        return 1.0

    def _checked(self, text: str, *, is_query: bool) -> Vector:
        with _errors_of(self.name):
            raw = self._raw(text, is_query=is_query)
        return checked_vectors([raw], count=1, dimensions=self.dimensions, provider=self.name)[0]

    def _load(self, package: Any, model: str) -> None:
        raise NotImplementedError

    def _raw(self, text: str, *, is_query: bool) -> Any:
        raise NotImplementedError


class FastembedProvider(HubProvider):
    """A model that fastembed knows: ``fastembed:NAME``."""

    def __init__(self, model: str, *, dimensions: int = 0) -> None:
        super().__init__("fastembed", f"fastembed:{model}", dimensions=dimensions)

    def _load(self, package: Any, model: str) -> None:
        self._model = package.TextEmbedding(model_name=model)

    def _raw(self, text: str, *, is_query: bool) -> Any:
        embed = self._model.query_embed if is_query else self._model.embed
        return next(iter(embed([text])))


class SentenceTransformersProvider(HubProvider):
    """A model that sentence-transformers knows: ``sentence-transformers:NAME``."""

    def __init__(self, model: str, *, dimensions: int = 0) -> None:
        super().__init__("sentence_transformers", f"sentence-transformers:{model}", dimensions=dimensions)

    def _load(self, package: Any, model: str) -> None:
        self._model = package.SentenceTransformer(model)

    def _raw(self, text: str, *, is_query: bool) -> Any:
        # Those of version 5 add the prompts that a model wants; before it there was one way for both.
        name = "encode_query" if is_query else "encode_document"
        encode = getattr(self._model, name, self._model.encode)
        return encode(text, normalize_embeddings=True, show_progress_bar=False)


@contextmanager
def _errors_of(name: str) -> Iterator[None]:
    """Turn whatever a library raises into an EmbeddingError without its message, which may quote the text."""
    try:
        yield
    except EmbeddingError:
        raise
    except Exception as error:
        raise EmbeddingError(f"{name} failed ({type(error).__name__})") from None


def _optional(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise EmbeddingError(f"The package {package} is not installed") from None
