"""Embedding of search queries, remembered for a day in Valkey.

The key is a keyed digest of space, model and text: the server that holds the cache learns neither, and no space can
tell by timing what another one searched for.
"""

from __future__ import annotations

import hashlib
import hmac
import time

import numpy as np
from django.conf import settings

from aiworker.embedding.base import EmbeddingError, EmbeddingProvider, ProviderUnavailable, Vector
from config.valkey import breaker, client

KEPT_SECONDS = 86_400
PAUSE_SECONDS = 10.0
_unavailable_until: dict[str, float] = {}


def query_vector(space_id: int, provider: EmbeddingProvider, text: str) -> Vector:
    """Embed a query, or recall its vector. Raises EmbeddingError; a provider that is away is spared for 10 s."""
    key = _key(space_id, provider.name, text)
    stored = breaker.call(lambda: client().get(key))
    if isinstance(stored, bytes) and len(stored) == 4 * provider.dimensions:
        return np.frombuffer(stored, np.float32)
    if time.monotonic() < _unavailable_until.get(provider.name, 0.0):
        raise ProviderUnavailable(f"{provider.name} could not be reached a moment ago")
    try:
        vector = provider.embed_query(text)
    except ProviderUnavailable:
        _unavailable_until[provider.name] = time.monotonic() + PAUSE_SECONDS
        raise
    if vector.size != provider.dimensions:
        raise EmbeddingError(f"{provider.name} answered a vector of {vector.size} dimensions")
    breaker.call(lambda: client().set(key, vector.astype(np.float32).tobytes(), ex=KEPT_SECONDS))
    return vector


def _key(space_id: int, model: str, text: str) -> str:
    message = f"{space_id}\0{model}\0{text}".encode("utf-8", "surrogatepass")
    return "embedding:query:" + hmac.digest(settings.SECRET_KEY.encode(), message, hashlib.blake2b).hex()[:40]
