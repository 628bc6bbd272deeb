"""Keeping the search entries of memories up to date, in the transaction that changes the memories."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction

from aiworker.queue import enqueue
from config.valkey import breaker, client
from memories.lexemes import metadata_lexeme, sample_lexemes, text_lexemes, vector_literal
from memories.models import Memory

EMBED_TASK = "embedding.embed"
WAKE_MARK = "embedding:wake"
MANY = 20
BEHIND = timedelta(hours=1)
"""The newest texts are embedded first; those written with so many others, as by an import, count as so much older."""


def content_digest(content: str) -> bytes:
    """Give the 16 bytes by which vectors know the text they were made from."""
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def filter_lexemes(memory: Memory) -> list[str]:
    """Name what filters and key limits ask of a memory."""
    named = [f"=type:{memory.type}", f"=tool:{memory.source_tool}", f"=tier:{memory.tier}"]
    named += [f"=tag:{tag}" for tag in memory.tags]
    named += [metadata_lexeme(key, value) for key, value in memory.metadata.items()]
    if memory.namespace is not None:
        named.append(f"=namespace:{memory.namespace}")
    if memory.subject:
        named.append(f"=subject:{memory.subject}")
    return named


def index_memories(memories: Sequence[Memory]) -> None:
    """Bring the search entries of new and changed memories up to date, in the caller's transaction.

    Keyword search finds them from the commit on. Where the text is new, its old vectors go at once and new ones are
    queued. A memory that is not active leaves the index.
    """
    ordered = sorted(memories, key=lambda memory: memory.id)  # as everybody locks them
    for space_id in {memory.space_id for memory in memories}:
        _index_space(space_id, {memory.id: memory for memory in ordered if memory.space_id == space_id})


def _index_space(space_id: int, memories: dict[str, Memory]) -> None:
    active = {key: memory for key, memory in memories.items() if memory.status == Memory.Status.ACTIVE}
    _remove(space_id, memories.keys() - active.keys())
    if not active:
        return
    language, known = _language_and_digests(space_id, list(active))
    _write_entries(space_id, list(active.values()), language)
    changed = [key for key, memory in active.items() if known.get(key) != content_digest(memory.content)]
    _replace_vectors(space_id, changed, renewed=[key for key in changed if key in known])
    _update_expiry(space_id, [memory for key, memory in active.items() if key in known and key not in changed])


def _language_and_digests(space_id: int, ids: list[str]) -> tuple[str, dict[str, bytes]]:
    """Give the space's language, and the digests of the contents that are indexed already."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT space.language, entry.memory_id, entry.digest
            FROM accounts_space AS space
            LEFT JOIN memories_searchentry AS entry ON entry.space_id = space.id AND entry.memory_id = ANY(%s)
            WHERE space.id = %s
            """,
            [ids, space_id],
        )
        rows = cursor.fetchall()
    return rows[0][0], {memory_id: bytes(digest) for _, memory_id, digest in rows if memory_id is not None}


def _write_entries(space_id: int, memories: list[Memory], language: str) -> None:
    columns: tuple[list[object], ...] = ([], [], [], [], [], [], [], [])
    for memory in memories:
        named = [*memory.tags, memory.subject] if memory.subject else memory.tags
        positions, length = text_lexemes(memory.content, named, language)
        positions |= {lexeme: [] for lexeme in [*filter_lexemes(memory), *sample_lexemes(memory.id)]}
        row = (
            memory.id, vector_literal(space_id, positions), length, content_digest(memory.content), memory.pinned,
            memory.created_at, memory.updated_at, memory.expires_at,
        )  # fmt: skip
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO memories_searchentry
                (space_id, memory_id, lexemes, length, digest, pinned, created_at, updated_at, expires_at)
            SELECT %s, id, lexemes::tsvector, length, digest, pinned, created_at, updated_at, expires_at
            FROM unnest(%s::varchar[], %s::text[], %s::int[], %s::bytea[], %s::bool[],
                        %s::timestamptz[], %s::timestamptz[], %s::timestamptz[])
                AS row(id, lexemes, length, digest, pinned, created_at, updated_at, expires_at)
            ON CONFLICT (space_id, memory_id) DO UPDATE SET
                lexemes = excluded.lexemes, length = excluded.length, digest = excluded.digest,
                pinned = excluded.pinned, created_at = excluded.created_at, updated_at = excluded.updated_at,
                expires_at = excluded.expires_at
            """,
            [space_id, *columns],
        )


QUEUE = """
INSERT INTO memories_embeddingpending (space_id, memory_id, model, queued_at)
SELECT space.space_id, given.id, wanted.model, clock_timestamp() - %s::interval
FROM memories_searchspace AS space, unnest(ARRAY[space.model, nullif(space.next_model, '')])
    AS wanted(model), unnest(%s::varchar[]) AS given(id)
WHERE space.space_id = %s AND wanted.model IS NOT NULL
FOR KEY SHARE OF space -- a change of model waits for this transaction
ON CONFLICT (space_id, memory_id, model) DO UPDATE SET
    queued_at = excluded.queued_at, not_before = now(), attempts = 0, error = ''
"""


def _replace_vectors(space_id: int, changed: list[str], renewed: list[str]) -> None:
    if not changed:
        return
    with connection.cursor() as cursor:
        if renewed:
            cursor.execute(
                "DELETE FROM memories_memoryvector WHERE space_id = %s AND memory_id = ANY(%s)", [space_id, renewed]
            )
        values: list[Any] = [BEHIND if len(changed) >= MANY else timedelta(), changed, space_id]
        cursor.execute(QUEUE, values)
        if cursor.rowcount == 0:  # the first memory of its space
            cursor.execute(
                "INSERT INTO memories_searchspace (space_id, model) VALUES (%s, %s) ON CONFLICT (space_id) DO NOTHING",
                [space_id, settings.EMBEDDING_MODEL],
            )
            cursor.execute(QUEUE, values)
    transaction.on_commit(wake_embedder)


def _update_expiry(space_id: int, memories: list[Memory]) -> None:
    """Carry a changed expiry over to the vectors, which are filtered by it."""
    if not memories:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memories_memoryvector AS vector SET expires_at = given.expires_at
            FROM unnest(%s::varchar[], %s::timestamptz[]) AS given(id, expires_at)
            WHERE space_id = %s AND memory_id = id AND vector.expires_at IS DISTINCT FROM given.expires_at
            """,
            [[memory.id for memory in memories], [memory.expires_at for memory in memories], space_id],
        )


def _remove(space_id: int, ids: Iterable[str]) -> None:
    gone = list(ids)
    if not gone:
        return
    with connection.cursor() as cursor:
        for table in ("memories_searchentry", "memories_memoryvector", "memories_embeddingpending"):
            cursor.execute(f"DELETE FROM {table} WHERE space_id = %s AND memory_id = ANY(%s)", [space_id, gone])  # noqa: S608


def wake_embedder() -> None:
    """Tell a worker that there is something to embed, unless a message says so already.

    The task takes the mark away before it looks for work, so a mark that stands is of a message that will see it.
    """
    if breaker.call(lambda: client().set(WAKE_MARK, 1, nx=True, ex=60)):
        enqueue(EMBED_TASK, "embed")
