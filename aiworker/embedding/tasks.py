"""Celery tasks of the embedding queue: wake-up calls without arguments; what is to be done stands in PostgreSQL."""

from __future__ import annotations

from celery import shared_task

from config.valkey import breaker, client
from memories.embeddings import embed_pending
from memories.indexing import WAKE_MARK, wake_embedder
from memories.model_changes import complete_model_changes
from memories.vector_indexes import maintain_vector_indexes

SECONDS_A_TURN = 5.0
"""After so long the worker lets other queues have their turn."""


@shared_task(name="embedding.embed", time_limit=300)
def embed() -> None:
    """Embed what waits; when much of it does, further workers are woken before this one is done."""
    breaker.call(lambda: client().delete(WAKE_MARK))
    if embed_pending(SECONDS_A_TURN):
        wake_embedder()
    complete_model_changes()


@shared_task(name="embedding.sweep")
def sweep() -> None:
    """Wake a worker whatever became of earlier messages."""
    breaker.call(lambda: client().delete(WAKE_MARK))
    wake_embedder()


@shared_task(name="embedding.indexes", time_limit=7_200)
def indexes() -> None:
    """Build, rebuild and drop the vector indexes of large spaces."""
    maintain_vector_indexes()
