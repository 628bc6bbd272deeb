"""What every embedding provider offers, and the checks that its answers must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Vector: TypeAlias = npt.NDArray[np.float32]

MAX_DIMENSIONS = 4000
"""The most that a halfvec HNSW index of pgvector holds."""


class EmbeddingError(Exception):
    """A provider could not embed: unreachable, refused, or it answered garbage. Safe to show: never holds text."""


class ProviderUnavailable(EmbeddingError):
    """The provider cannot be reached or is overloaded: the same text may work later."""


class EmbeddingProvider(Protocol):
    """Turns texts into unit vectors of one fixed dimension.

    ``name`` identifies the vector space: vectors are only ever compared under the same name.
    ``is_local`` says that embedding costs processor time of this machine and no network. ``alike`` is
    the cosine similarity that is typical of paraphrases, None where it is not known.
    """

    name: str
    dimensions: int
    is_local: bool
    alike: float | None

    def split(self, text: str) -> list[str]:
        """Cut a text into overlapping pieces that the model reads whole; a short text is its only piece."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts, in order. Raises EmbeddingError."""

    def embed_query(self, text: str) -> Vector:
        """Embed one search query. Raises EmbeddingError."""

    def familiarity(self, text: str) -> float:
        """Tell how far to trust the model with a query's language: 1 fully, 0 not at all."""


@dataclass(frozen=True)
class TokenStates:
    """The states of a text's tokens, shape (tokens, dimensions), and where each stands in ``text``, as it was read."""

    states: Vector
    spans: list[tuple[int, int]]
    text: str


@runtime_checkable
class LateInteraction(Protocol):
    """A provider that also gives the state of each token, for reranking by late interaction."""

    def token_states(self, text: str, *, is_query: bool) -> TokenStates:
        """Give the states of a text's own tokens, at least one; prefix and special tokens are left out."""


def checked_vectors(answer: Any, *, count: int, dimensions: int, provider: str) -> list[Vector]:
    """Validate a provider's answer and normalise it to unit length.

    ``answer`` is anything that should be ``count`` rows of ``dimensions`` finite numbers, none of them all zero.
    Raises EmbeddingError with the reason otherwise, so that garbage never reaches an index.
    """
    try:
        with np.errstate(over="ignore"):  # what overflows is refused below
            rows = [np.asarray(row, dtype=np.float32) for row in answer]
    except (TypeError, ValueError):
        raise EmbeddingError(f"{provider} answered something that is not a list of numbers") from None
    if len(rows) != count:
        raise EmbeddingError(f"{provider} answered {len(rows)} vectors for {count} texts")
    vectors = []
    for row in rows:
        if row.ndim != 1 or row.size != dimensions:
            raise EmbeddingError(f"{provider} answered a vector of {row.size} dimensions instead of {dimensions}")
        if not np.isfinite(row).all():
            raise EmbeddingError(f"{provider} answered a vector that holds NaN or infinity")
        length = float(np.linalg.norm(row))
        if not np.isfinite(length) or length < 1e-12:
            raise EmbeddingError(f"{provider} answered a vector without a direction")
        vectors.append(np.asarray(row / length, dtype=np.float32))
    return vectors


def split_by_characters(text: str, *, size: int, overlap: int) -> list[str]:
    """Cut a text into pieces of ``size`` characters that share ``overlap``, for models whose tokens are not known."""
    if len(text) <= size:
        return [text]
    step = size - overlap
    return [text[start : start + size] for start in range(0, len(text) - overlap, step)]
