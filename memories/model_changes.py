"""Changing the model of a space while it goes on answering: the old model serves until the new one has everything."""

from __future__ import annotations

from django.conf import settings
from django.db import connection, transaction

from accounts.access import Access, space_transaction
from aiworker.embedding.base import EmbeddingError
from aiworker.embedding.registry import provider_for
from memories.index_models import EmbeddingPending, SearchSpace
from memories.indexing import wake_embedder
from memories.vector_indexes import index_name


def space_models(space_id: int) -> tuple[str, str]:
    """Return the model that answers in a space, and the one that it changes to, empty when it does not."""
    row = SearchSpace.objects.filter(pk=space_id).values_list("model", "next_model").first()
    return row or (settings.EMBEDDING_MODEL, "")


def model_change_start(*, space_id: int, model: str) -> int:
    """Queue every memory of a space for another model and return how many; under the same model, what lacks vectors.

    Safe to repeat: what the new model has vectors of already is not queued again. A space without memories changes
    like any other, as soon as a worker has loaded the model.
    """
    with space_transaction(Access.system(space_id)):
        empty = SearchSpace(space_id=space_id, model=settings.EMBEDDING_MODEL)
        SearchSpace.objects.bulk_create([empty], ignore_conflicts=True)
        space = SearchSpace.objects.select_for_update().get(pk=space_id)
        space.next_model = "" if model == space.model else model
        space.save(update_fields=["next_model"])
        EmbeddingPending.objects.filter(space_id=space_id).exclude(model__in=[space.model, model]).delete()
        with connection.cursor() as cursor:
            cursor.execute(
                """
                INSERT INTO memories_embeddingpending (space_id, memory_id, model, queued_at)
                SELECT space_id, memory_id, %s, updated_at FROM memories_searchentry AS entry
                WHERE space_id = %s AND NOT EXISTS (
                    SELECT 1 FROM memories_memoryvector AS vector
                    WHERE vector.space_id = entry.space_id AND vector.memory_id = entry.memory_id AND model = %s
                )
                ON CONFLICT (space_id, memory_id, model) DO NOTHING
                """,
                [model, space_id, model],
            )
            queued = int(cursor.rowcount)
        transaction.on_commit(wake_embedder)
    return queued


def complete_model_changes() -> None:
    """Let the new model answer wherever it has a vector for everything, and remove the old model's vectors.

    A model that cannot be loaded here takes over nowhere, not even where there is nothing to embed.
    """
    for space in SearchSpace.objects.exclude(next_model=""):
        waits = EmbeddingPending.objects.filter(space_id=space.pk, model=space.next_model).exists()
        if not waits and _is_ready(space.next_model):
            _complete(space.pk)


def _is_ready(model: str) -> bool:
    try:
        provider_for(model)
    except EmbeddingError:
        return False
    return True


def _complete(space_id: int) -> None:
    with space_transaction(Access.system(space_id)), connection.cursor() as cursor:
        space = SearchSpace.objects.select_for_update().get(pk=space_id)
        # Writes hold a share of this row until they commit, so none that only queued the old model can follow.
        if not space.next_model or EmbeddingPending.objects.filter(space_id=space_id, model=space.next_model).exists():
            return
        name = index_name(space_id, space.next_model)
        cursor.execute(
            "SELECT count(*) FROM memories_memoryvector WHERE space_id = %s AND model = %s",
            [space_id, space.next_model],
        )
        is_large = cursor.fetchone()[0] >= settings.SEARCH_INDEX_FROM
        cursor.execute("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", [name])
        has_index = cursor.fetchone() is not None
        if is_large and not has_index:
            return  # the index comes first, or searches would compare every vector meanwhile
        cursor.execute(
            "DELETE FROM memories_memoryvector WHERE space_id = %s AND model <> %s", [space_id, space.next_model]
        )
        EmbeddingPending.objects.filter(space_id=space_id, model=space.model).delete()
        space.model, space.next_model, space.vector_index = space.next_model, "", name if has_index else ""
        space.save()
