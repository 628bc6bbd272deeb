"""Embedding endpoints over HTTP: any OpenAI-compatible one, and Voyage; the operator sets the address, no request."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from aiworker.embedding.base import (
    EmbeddingError,
    ProviderUnavailable,
    Vector,
    checked_vectors,
    split_by_characters,
)

PIECE_CHARACTERS = 6_000
OVERLAP_CHARACTERS = 600
BATCH = 64
QUERY_SECONDS = 3.0
DOCUMENT_SECONDS = 60.0
MAX_ANSWER_BYTES = 64 * 1024 * 1024


class RemoteProvider:
    """A provider that answers POST {base_url}/embeddings with {"data": [{"index", "embedding"}]}.

    ``dimensions`` is what every answer must have. ``purposes`` are sent as ``input_type`` where the endpoint tells
    stored texts from queries (Voyage), None elsewhere.
    """

    is_local = False
    alike: float | None = None

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        api_key: str,
        model: str,
        dimensions: int,
        purposes: tuple[str, str] | None = None,
    ) -> None:
        self.name = name
        self.dimensions = dimensions
        self._url = base_url.rstrip("/") + "/embeddings"
        self._api_key = api_key
        self._model = model
        self._purposes = purposes

    def split(self, text: str) -> list[str]:
        """Cut a text by characters: the endpoint's tokens are not known here."""
        return split_by_characters(text, size=PIECE_CHARACTERS, overlap=OVERLAP_CHARACTERS)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts, 64 a request, in order. Raises EmbeddingError."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._ask(texts[start : start + BATCH], purpose=0, seconds=DOCUMENT_SECONDS)
        return vectors

    def embed_query(self, text: str) -> Vector:
        """Embed one query. Raises EmbeddingError."""
        return self._ask([text], purpose=1, seconds=QUERY_SECONDS)[0]

    def familiarity(self, text: str) -> float:
        """Trust it with every language: what it was trained on is not known here."""
        return 1.0

    def _ask(self, texts: Sequence[str], *, purpose: int, seconds: float) -> list[Vector]:
        body: dict[str, Any] = {"model": self._model, "input": list(texts)}
        if self._purposes:
            body["input_type"] = self._purposes[purpose]
        answer = self._post(body, seconds)
        try:
            rows = sorted(answer["data"], key=lambda item: item["index"])
            raw = [item["embedding"] for item in rows]
        except (TypeError, KeyError):
            raise EmbeddingError(f"{self.name} answered something that is not a list of embeddings") from None
        return checked_vectors(raw, count=len(texts), dimensions=self.dimensions, provider=self.name)

    def _post(self, body: dict[str, Any], seconds: float) -> Any:
        headers = {"Content-Type": "application/json"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        data = json.dumps(body).encode("utf-8", "replace")
        request = urllib.request.Request(self._url, data, headers)  # noqa: S310 (the operator's own address)
        try:
            with urllib.request.urlopen(request, timeout=seconds) as response:  # noqa: S310
                return json.loads(response.read(MAX_ANSWER_BYTES))
        except urllib.error.HTTPError as error:
            error.close()
            kind = ProviderUnavailable if error.code == 429 or error.code >= 500 else EmbeddingError
            raise kind(f"{self.name} answered with status {error.code}") from None
        except (OSError, TimeoutError):
            raise ProviderUnavailable(f"{self.name} cannot be reached") from None
        except ValueError:
            raise EmbeddingError(f"{self.name} answered something that is not JSON") from None
