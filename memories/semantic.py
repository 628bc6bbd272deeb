"""Semantic search: the nearest vectors of one space, exact where that is fast, by its own HNSW index where it is not.

Distances are cosine distances of unit vectors. A memory is as near as its nearest piece.

What all memories of a space have in common (its people, its subject, the manner of its notes) says nothing about which
of them is looked for, as a word that is in all of them does not. So the mean vector is taken from both sides before
similarities are weighed against words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.conf import settings
from psycopg.sql import Literal

from aiworker.embedding.base import Vector
from memories.conditions import Condition
from memories.statistics import AMONG, SIZE_SECONDS, Remembered, entries_under, rows_of

EXACT_UP_TO = 3_500
"""Up to this product of how many memories a filter leaves and of which share of the space, all of them are compared.

What comparing costs grows with their number, what walking the index costs with how rarely one of them is met, and how
many of the nearest it misses.
"""
WALKED = 128
"""With a filter, the index is walked until it gave so many: who wants ten and stops at ten misses nearer ones."""
PATIENCE = 2
"""A filter may go with meaning, and what it leaves be far from the query. When so many times the vectors were passed in
which as many would be met by chance, walking is given up for comparing, if what is left can be compared at all."""
COMPARABLE = 100_000
MAX_PIECES = 10_000
MAX_PASSED = 50_000
"""So many vectors a walk may look at. With a filter of 8 % of a million it finds .95 so, with pgvector's 20,000 .93."""
SAMPLE = 500
"""So many vectors tell what a space's have in common."""
COMMON = 0.85
FEW = 5
"""The share of the mean that is taken away, and how many vectors make half of it trustworthy."""
EPSILON = 1e-6


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
    if not condition.tsquery:  # nothing else in it names the space
        where, values = f"space_id = %s AND {where}", [space.space_id, *values]
    allowed = f"SELECT memory_id FROM memories_searchable WHERE {where}"
    if not space.has_index:
        return _search(space, vector, f"memory_id IN ({allowed})", values, limit, indexed=False)
    kept, entries = entries_under(space.space_id, condition)
    if kept * kept > EXACT_UP_TO * entries:
        # Without OFFSET it could become a join that reads every entry under the condition first.
        exists = (
            "EXISTS (SELECT 1 FROM memories_searchable AS entry WHERE entry.space_id = %s "
            f"AND entry.memory_id = vector.memory_id AND {where} OFFSET 0)"
        )
        share = kept / entries if kept <= COMPARABLE else None
        values_there = [space.space_id, *values]
        near = _search(space, vector, exists, values_there, limit, indexed=True, least=WALKED, share=share)
        if len(near) == limit or share is None:
            return near
    found = rows_of(allowed, values)
    return _search(space, vector, AMONG, [",".join(row[0] for row in found)], limit, indexed=False)


@dataclass(frozen=True)
class Nearness:
    """How near a memory is: the cosine similarity, and that of what is not common to the space."""

    cosine: float
    beyond_common: float


def nearness(space: VectorSpace, vector: Vector, ids: Sequence[str]) -> dict[str, Nearness]:
    """Tell how near these memories are to a query's unit vector; those without a vector are absent."""
    if not ids:
        return {}
    common = _common(space)
    size = float(np.linalg.norm(common)) if common is not None else 0.0
    sql = f"""
        SELECT memory_id, 1 - (embedding <=> %s::halfvec), 1 - (embedding <=> %s::halfvec)
        FROM memories_memoryvector WHERE space_id = %s AND model = %s AND {AMONG}
    """
    direction = vector if common is None or not size else common / size
    rows = rows_of(sql, [vector, direction, space.space_id, space.model, ",".join(ids)])
    cosines, along = np.array([row[1:] for row in rows]).reshape(-1, 2).T
    of_query = float(vector @ direction) * size
    rest_of_query = math.sqrt(max(1 - 2 * of_query + size**2, EPSILON))
    rest = np.sqrt(np.maximum(1 - 2 * along * size + size**2, EPSILON))
    beyond = (cosines - of_query - along * size + size**2) / (rest_of_query * rest)
    found: dict[str, Nearness] = {}
    for (memory_id, cosine, _), beyond_common in zip(rows, beyond.tolist(), strict=True):
        best = found.get(memory_id)
        if best is not None:  # of another piece
            cosine, beyond_common = max(cosine, best.cosine), max(beyond_common, best.beyond_common)
        found[memory_id] = Nearness(cosine, beyond_common)
    return found


_known_common: Remembered[Vector] = Remembered()


def _common(space: VectorSpace) -> Vector | None:
    """Give the mean of the space's vectors, shortened where it is of few; None where there are none.

    It is read from the first of the index, whose ids are random, and remembered for a minute when these are many.
    """
    known = _known_common.get((space.space_id, space.model))
    if known is not None:
        return known
    sql = """
        SELECT count(*), avg(embedding)::text FROM (
            SELECT embedding FROM memories_memoryvector WHERE space_id = %s AND model = %s
            ORDER BY memory_id LIMIT %s
        ) AS sample
    """
    [(count, mean)] = rows_of(sql, [space.space_id, space.model, SAMPLE])
    if not count:
        return None
    vector = np.array(mean.strip("[]").split(","), np.float32) * np.float32(COMMON * count / (count + FEW))
    if count >= SAMPLE:
        _known_common.put((space.space_id, space.model), vector, SIZE_SECONDS)
    return vector


def vectors_of(space: VectorSpace, memory_id: str) -> list[str]:
    """Give a memory's vectors under the space's model as text, in the order of its pieces."""
    sql = (
        "SELECT embedding::text FROM memories_memoryvector "
        "WHERE space_id = %s AND memory_id = %s AND model = %s ORDER BY piece"
    )
    return [row[0] for row in rows_of(sql, [space.space_id, memory_id, space.model])]


def _search(
    space: VectorSpace,
    vector: Vector,
    where: str,
    values: list[Any],
    limit: int,
    *,
    indexed: bool,
    least: int = 0,
    share: float | None = None,
) -> dict[str, float]:
    """Take the nearest pieces that meet the condition, more of them while they are of too few memories.

    With the ``share`` of the space that the condition leaves, the index is walked only as far as PATIENCE says.
    """
    pieces = max(limit + limit // 4 + 4, least)
    while True:
        within = round(PATIENCE * pieces / share) if share is not None else None
        rows = _nearest_pieces(space, vector, where, values, pieces, indexed=indexed, within=within)
        found: dict[str, float] = {}
        for memory_id, distance in rows:
            found[memory_id] = max(1 - distance, found.get(memory_id, -1.0))
        if len(found) >= limit or len(rows) < pieces or pieces >= MAX_PIECES:
            order = sorted(found.items(), key=lambda item: (-item[1], item[0]))
            return dict(order[:limit])
        pieces *= 4


def _nearest_pieces(
    space: VectorSpace,
    vector: Vector,
    where: str,
    values: list[Any],
    pieces: int,
    *,
    indexed: bool,
    within: int | None = None,
) -> list[tuple[str, float]]:
    """Give (memory id, distance) of the nearest that meet the condition, of so many nearest if ``within`` is given.

    The index answers only to the expression that it was built on, nearest first but for small faults.
    """
    if indexed:
        column, given = f"embedding::halfvec({vector.size})", f"%s::halfvec({vector.size})"
        rows_of(
            "SELECT set_config('hnsw.ef_search', %s, true), set_config('hnsw.iterative_scan', 'relaxed_order', true), "
            "set_config('hnsw.max_scan_tuples', %s, true)",
            [str(min(max(settings.SEARCH_EF, pieces), 1_000)), str(MAX_PASSED)],
        )
    else:
        column, given = "embedding", "%s::halfvec"
    # Space, model and limit are written out: a plan for any space could not use the index of one.
    model = Literal(space.model).as_string(None).replace("%", "%%")
    vectors = f"""
        SELECT memory_id, {column} <=> {given} AS distance FROM memories_memoryvector AS vector
        WHERE space_id = {space.space_id:d} AND model = {model}
            AND (expires_at IS NULL OR expires_at > statement_timestamp())
    """
    if within is None:
        sql = f"{vectors} AND {where} ORDER BY distance LIMIT {pieces:d}"
    else:
        sql = f"""
            SELECT memory_id, distance FROM ({vectors} ORDER BY distance LIMIT {within:d}) AS vector
            WHERE {where} LIMIT {pieces:d}
        """
    return rows_of(sql, [vector, *values])
