"""From a model's name to the provider that runs it; local models are loaded once a process, when first used."""

from __future__ import annotations

import fcntl
import logging
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from aiworker.embedding.base import MAX_DIMENSIONS, EmbeddingError, EmbeddingProvider
from aiworker.embedding.hub import FastembedProvider, SentenceTransformersProvider
from aiworker.embedding.packaged import BgeSmall, E5Small, PackagedModel
from aiworker.embedding.remote import RemoteProvider

PACKAGED: dict[str, type[PackagedModel]] = {model.name: model for model in (BgeSmall, E5Small)}
KNOWN_DIMENSIONS = {
    "openai:text-embedding-3-small": 1536,
    "openai:text-embedding-3-large": 3072,
    "openai:text-embedding-ada-002": 1536,
    "voyage:voyage-3": 1024,
    "voyage:voyage-3-lite": 512,
    "voyage:voyage-3-large": 1024,
    "voyage:voyage-3.5": 1024,
    "voyage:voyage-3.5-lite": 1024,
}
BASE_URLS = {"openai": "https://api.openai.com/v1", "voyage": "https://api.voyageai.com/v1"}

FAILED_SECONDS = 60.0
"""So long a model that could not be loaded is not tried again: each try may ask the package index."""

logger = logging.getLogger(__name__)
_locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)  # while one is fetched, the others answer
_loaded: dict[str, EmbeddingProvider] = {}
_failed: dict[str, tuple[float, EmbeddingError]] = {}


def models_offered() -> list[str]:
    """Name the models that a space may choose: the server's and the packaged ones."""
    return list(dict.fromkeys([settings.EMBEDDING_MODEL, *PACKAGED]))


def provider_for(name: str) -> EmbeddingProvider:
    """Give the provider of a model: packaged, ``fastembed:``, ``sentence-transformers:``, ``openai:`` or ``voyage:``.

    Raises EmbeddingError if there is none or its model cannot be loaded, which the log says once a minute.
    """
    if name not in _loaded:
        with _locks[name]:
            if name not in _loaded:
                _loaded[name] = _tried(name)
    return _loaded[name]


def forget_providers() -> None:
    """Drop what is loaded, so that changed settings count (tests)."""
    _loaded.clear()
    _failed.clear()


def directory_of(name: str) -> Path:
    """Give the folder of a packaged model's prepared files."""
    return Path(settings.MODELS_DIR) / name


def prepare_model(name: str, say: Callable[[str], None]) -> None:
    """Make a packaged model ready to be loaded; nothing to do for others. Raises EmbeddingError."""
    if name in PACKAGED:
        directory = directory_of(name)
        directory.mkdir(parents=True, exist_ok=True)
        with (directory / ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the others wait, and then find it done
            PACKAGED[name].prepare(directory, say)


def _tried(name: str) -> EmbeddingProvider:
    until, error = _failed.get(name, (0.0, EmbeddingError()))
    if time.monotonic() < until:
        raise error
    try:
        return _make(name)
    except EmbeddingError as problem:
        error = problem
    except (OSError, subprocess.SubprocessError) as problem:
        error = EmbeddingError(f"{name} could not be prepared ({type(problem).__name__})")
    _failed[name] = (time.monotonic() + FAILED_SECONDS, error)
    logger.warning("The embedding model %s is not ready: %s", name, str(error))
    raise error


def _make(name: str) -> EmbeddingProvider:
    if name in PACKAGED:
        prepare_model(name, lambda _: None)
        return PACKAGED[name](directory_of(name), threads=settings.EMBEDDING_THREADS)
    kind, _, model = name.partition(":")
    if kind == "fastembed" and model:
        return FastembedProvider(model, dimensions=settings.EMBEDDING_DIMENSIONS)
    if kind == "sentence-transformers" and model:
        return SentenceTransformersProvider(model, dimensions=settings.EMBEDDING_DIMENSIONS)
    if kind in BASE_URLS and model:
        return RemoteProvider(
            name,
            base_url=settings.EMBEDDING_BASE_URL or BASE_URLS[kind],
            api_key=settings.EMBEDDING_API_KEY,
            model=model,
            dimensions=_remote_dimensions(name),
            purposes=("document", "query") if kind == "voyage" else None,
        )
    raise EmbeddingError(f"There is no embedding model named {name}")


def _remote_dimensions(name: str) -> int:
    dimensions = settings.EMBEDDING_DIMENSIONS or KNOWN_DIMENSIONS.get(name, 0)
    if not 1 <= dimensions <= MAX_DIMENSIONS:
        raise EmbeddingError(
            f"OMP_EMBEDDING_DIMENSIONS must say how many dimensions {name} has, up to {MAX_DIMENSIONS}"
        )
    return dimensions
