"""Semantic search: the nearest vectors of one space, exact where that is fast, by its own HNSW index where it is not.

Distances are cosine distances of unit vectors. A memory is as near as its nearest piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from psycopg.sql import Literal

from aiworker.embedding.base import Vector
from memories.conditions import Condition
from memories.statistics import rows_of

EXACT_UNDER_FILTER = 15_000
"""Up to so many memories under a filter, their vectors are all compared; above, the index is walked and filtered."""
MAX_PIECES = 10_000


@dataclass(frozen=True)
class VectorSpace:
    """Where to search: a space, the model that answers in it, and whether its vectors have an index."""

    space_id: int
    model: str
    has_index: bool


def vector_literal(vector: Vector) -> str:
    """Write a vector the way pgvector reads it."""
    return "[" + ",".join(f"{value:.6g}" for value in vector.tolist()) + "]"


def nearest(space: VectorSpace, vector: Vector, condition: Condition, limit: int) -> dict[str, float]:
    """Give the ``limit`` nearest memories with their cosine similarities, nearest first, equal ones by id.

    Runs inside a transaction that has set the space. Expired memories are left out.
    """
    if condition.is_empty:
        return _search(space, vector, "true", [], limit, indexed=space.has_index)
    where, values = condition.where()
    allowed = f"SELECT memory_id FROM memories_searchable WHERE {where}"
    if not space.has_index:
        return _search(space, vector, f"memory_id IN ({allowed})", values, limit, indexed=False)
    found = rows_of(f"{allowed} LIMIT {EXACT_UNDER_FILTER + 1}", values)
    if len(found) <= EXACT_UNDER_FILTER:
        return _search(space, vector, "memory_id = ANY(%s)", [[row[0] for row in found]], limit, indexed=False)
    exists = (
        "EXISTS (SELECT 1 FROM memories_searchable AS entry WHERE entry.space_id = vector.space_id "
        f"AND entry.memory_id = vector.memory_id AND {where})"
    )
    return _search(space, vector, exists, values, limit, indexed=True)


def similarities(space: VectorSpace, vector: Vector, ids: Sequence[str]) -> dict[str, float]:
    """Give the cosine similarities of these memories; those without a vector are absent."""
    if not ids:
        return {}
    sql = """
        SELECT memory_id, max(1 - (embedding <=> %s::halfvec)) FROM memories_memoryvector
        WHERE space_id = %s AND model = %s AND memory_id = ANY(%s) GROUP BY memory_id
    """
    return dict(rows_of(sql, [vector_literal(vector), space.space_id, space.model, list(ids)]))


def vectors_of(space: VectorSpace, memory_id: str) -> list[str]:
    """Give a memory's vectors under the space's model as text, in the order of its pieces."""
    sql = (
        "SELECT embedding::text FROM memories_memoryvector "
        "WHERE space_id = %s AND memory_id = %s AND model = %s ORDER BY piece"
    )
    return [row[0] for row in rows_of(sql, [space.space_id, memory_id, space.model])]


def _search(
    space: VectorSpace, vector: Vector, where: str, values: list[Any], limit: int, *, indexed: bool
) -> dict[str, float]:
    """Take the nearest pieces that meet the condition, more of them while they are of too few memories."""
    pieces = limit + limit // 4 + 4
    while True:
        rows = _nearest_pieces(space, vector, where, values, pieces, indexed=indexed)
        found: dict[str, float] = {}
        for memory_id, distance in rows:
            found.setdefault(memory_id, 1 - distance)
        if len(found) >= limit or len(rows) < pieces or pieces >= MAX_PIECES:
            order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
            return dict(order[:limit])
        pieces *= 4


def _nearest_pieces(
    space: VectorSpace, vector: Vector, where: str, values: list[Any], pieces: int, *, indexed: bool
) -> list[tuple[str, float]]:
    """Give (memory id, distance), nearest first. The index answers only to the expression that it was built on."""
    if indexed:
        column, given = f"embedding::halfvec({vector.size})", f"%s::halfvec({vector.size})"
        rows_of(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true)",
            [str(min(max(settings.SEARCH_EF, pieces), 1_000))],
        )
    else:
        column, given = "embedding", "%s::halfvec"
    # Space, model and limit are written out: a plan for any space could not use the index of one.
    model = Literal(space.model).as_string(None).replace("%", "%%")
    sql = f"""
        SELECT memory_id, {column} <=> {given} AS distance FROM memories_memoryvector AS vector
        WHERE space_id = {space.space_id:d} AND model = {model}
            AND (expires_at IS NULL OR expires_at > statement_timestamp()) AND {where}
        ORDER BY distance LIMIT {pieces:d}
    """
    return rows_of(sql, [vector_literal(vector), *values])
