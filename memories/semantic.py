"""Semantic search: the nearest vectors of one space, exact where that is fast, by its own HNSW index where it is not.

Distances are cosine distances of unit vectors. A memory is as near as its nearest piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db import connection

from aiworker.embedding.base import Vector
from memories.conditions import Condition
from memories.index_models import SearchSpace

EXACT_UNDER_FILTER = 5_000
"""Up to so many memories under a filter, their vectors are all compared; above, the index is walked and filtered."""
PIECES_EACH = 2
"""How many more pieces than memories the index is asked for, since several may be of one memory."""


def vector_literal(vector: Vector) -> str:
    """Write a vector the way pgvector reads it."""
    return "[" + ",".join(f"{value:.7g}" for value in vector.tolist()) + "]"


def nearest(space: SearchSpace, vector: Vector, condition: Condition, limit: int) -> dict[str, float]:
    """Give the ``limit`` nearest memories with their cosine similarities, nearest first, equal ones by id.

    Runs inside a transaction that has set the space. Expired memories are left out.
    """
    if condition.is_empty:
        if space.vector_index:
            return _indexed(space, vector, "true", [], limit)
        return _exact(space, vector, "true", [], limit)
    where, values = condition.where()
    allowed = f"SELECT memory_id FROM memories_searchable WHERE {where}"
    if not space.vector_index:
        return _exact(space, vector, f"memory_id IN ({allowed})", values, limit)
    found = _rows(f"{allowed} LIMIT {EXACT_UNDER_FILTER + 1}", values)
    if len(found) <= EXACT_UNDER_FILTER:
        return _exact(space, vector, "memory_id = ANY(%s)", [[row[0] for row in found]], limit)
    exists = (
        "EXISTS (SELECT 1 FROM memories_searchable AS entry WHERE entry.space_id = vector.space_id "
        f"AND entry.memory_id = vector.memory_id AND {where})"
    )
    return _indexed(space, vector, exists, values, limit)


def similarities(space: SearchSpace, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Give the cosine similarities of these memories; those without a vector are absent."""
    if not ids:
        return {}
    return _exact(space, vector, "memory_id = ANY(%s)", [list(ids)], len(ids))


def vectors_of(space: SearchSpace, memory_id: str) -> list[Any]:
    """Give a memory's vectors under the space's model, in the order of its pieces."""
    sql = (
        "SELECT embedding FROM memories_memoryvector "
        "WHERE space_id = %s AND memory_id = %s AND model = %s ORDER BY piece"
    )
    return [row[0] for row in _rows(sql, [space.pk, memory_id, space.model])]


def _exact(space: SearchSpace, vector: Vector, where: str, values: list[Any], limit: int) -> dict[str, float]:
    """Compare all vectors that meet the condition. Without the cast that the index has, no index answers."""
    sql = f"""
        SELECT memory_id, 1 - min(embedding <=> %s::halfvec) AS similarity
        FROM memories_memoryvector AS vector
        WHERE space_id = %s AND model = %s AND (expires_at IS NULL OR expires_at > statement_timestamp()) AND {where}
        GROUP BY memory_id ORDER BY similarity DESC, memory_id LIMIT %s
    """
    return dict(_rows(sql, [vector_literal(vector), space.pk, space.model, *values, limit]))


def _indexed(space: SearchSpace, vector: Vector, where: str, values: list[Any], limit: int) -> dict[str, float]:
    """Walk the space's own index, further as long as the condition leaves too few."""
    cast = f"halfvec({vector.size})"
    literal = vector_literal(vector)
    pieces = limit * PIECES_EACH
    sql = f"""
        SELECT memory_id, max(similarity) AS similarity FROM (
            SELECT memory_id, 1 - (embedding::{cast} <=> %s::{cast}) AS similarity
            FROM memories_memoryvector AS vector
            WHERE space_id = %s AND model = %s AND (expires_at IS NULL OR expires_at > statement_timestamp()) AND {where}
            ORDER BY embedding::{cast} <=> %s::{cast} LIMIT %s
        ) AS piece GROUP BY memory_id ORDER BY similarity DESC, memory_id LIMIT %s
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            [str(max(settings.SEARCH_EF, pieces))],
        )
        cursor.execute(sql, [literal, space.pk, space.model, *values, literal, pieces, limit])
        return dict(cursor.fetchall())


def _rows(sql: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
