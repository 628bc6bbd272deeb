"""An HNSW index for each space whose vectors are too many to compare one by one, and for no other.

The index is partial (one space, one model), so its size, its speed and its recall depend on that space alone. It is
built and dropped by a worker, concurrently, as the owner of the table: the service's own login owns nothing.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connections
from psycopg import sql

from config.valkey import breaker, client
from memories.index_models import SearchSpace

logger = logging.getLogger(__name__)
LOCK = "embedding:indexes"
LOCK_SECONDS = 7_200
PREFIX = "memories_vector_hnsw_"
MIN_BUILD_MB, MAX_BUILD_MB = 64, 2_048
LINKS, EFFORT = 24, 200
"""Of the graph: pgvector's own 16 and 64 find 0.92 of the ten nearest among 100,000, these 0.99."""
GRAPH_BYTES = 1_100
"""Of a vector's place in the graph while it is built, beside its numbers."""


def index_name(space_id: int, model: str) -> str:
    """Name the index of a space's vectors under a model."""
    return f"{PREFIX}{space_id}_{hashlib.blake2b(model.encode(), digest_size=4).hexdigest()}"


def maintain_vector_indexes() -> None:
    """Give every space above the threshold its index, and take it from those that shrank below half of it."""
    if breaker.call(lambda: client().set(LOCK, 1, nx=True, ex=LOCK_SECONDS)) is None:
        return  # another worker is at it, or Valkey is away: the next turn will do
    try:
        _maintain()
    finally:
        breaker.call(lambda: client().delete(LOCK))


def _maintain() -> None:
    if not _is_owner():
        logger.warning("vector indexes are not kept: this worker's login owns no table; set DATABASE_OWNER_URL")
        return
    counts = _vector_counts()
    valid, broken = _existing()
    large = {index_name(*key) for key, count in counts.items() if count >= settings.SEARCH_INDEX_FROM}
    kept = {index_name(*key) for key, count in counts.items() if 2 * count >= settings.SEARCH_INDEX_FROM}
    for name in (valid - kept) | broken:
        _announce(name, present=False)
        _run(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))
    for (space_id, model), count in counts.items():
        name = index_name(space_id, model)
        if name in large and name not in valid:
            _build(name, space_id, model, count)
        if name in large or (name in kept and name in valid):
            SearchSpace.objects.filter(pk=space_id, model=model).update(vector_index=name)


def _announce(name: str, *, present: bool) -> None:
    """Tell searches first that an index goes, so that none is left with neither it nor the exact way."""
    SearchSpace.objects.filter(vector_index=name).update(vector_index=name if present else "")


def _build(name: str, space_id: int, model: str, count: int) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT vector_dims(embedding) FROM memories_memoryvector WHERE space_id = %s AND model = %s LIMIT 1",
            [space_id, model],
        )
        row = cursor.fetchone()
    if row is None:
        return
    logger.info("building the vector index of space %s", space_id)
    statement = sql.SQL(
        "CREATE INDEX CONCURRENTLY {name} ON memories_memoryvector "
        "USING hnsw ((embedding::halfvec({dimensions})) halfvec_cosine_ops) "
        "WITH (m = {links}, ef_construction = {effort}) WHERE space_id = {space_id} AND model = {model}"
    )
    _run(
        statement.format(
            name=sql.Identifier(name),
            dimensions=sql.Literal(row[0]),
            links=sql.Literal(LINKS),
            effort=sql.Literal(EFFORT),
            space_id=sql.Literal(space_id),
            model=sql.Literal(model),
        ),
        megabytes=build_megabytes(count, row[0]),
    )


def build_megabytes(count: int, dimensions: int) -> int:
    """Tell what building takes: less is slow, and PostgreSQL reserves all of it in shared memory beforehand."""
    needed = count * (2 * dimensions + GRAPH_BYTES) // 2**20
    return min(max(needed, MIN_BUILD_MB), MAX_BUILD_MB)


def _is_owner() -> bool:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'memories_memoryvector'::regclass"
        )
        [(owns,)] = cursor.fetchall()
    return bool(owns)


def _vector_counts() -> dict[tuple[int, str], int]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT space_id, model, count(*) FROM memories_memoryvector GROUP BY space_id, model "
            "HAVING 2 * count(*) >= %s",
            [settings.SEARCH_INDEX_FROM],
        )
        return {(space_id, model): count for space_id, model, count in cursor.fetchall()}


def _existing() -> tuple[set[str], set[str]]:
    """Give the names of the valid indexes, and of those whose building was cut short."""
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid "
            "WHERE indrelid = 'memories_memoryvector'::regclass AND starts_with(relname, %s)",
            [PREFIX],
        )
        found = dict(cursor.fetchall())
    return {name for name, valid in found.items() if valid}, {name for name, valid in found.items() if not valid}


@contextmanager
def _owner_settings(megabytes: int) -> Iterator[None]:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT set_config('maintenance_work_mem', %s, false)", [f"{megabytes}MB"])
        cursor.execute("SELECT set_config('statement_timeout', '0', false)")
    try:
        yield
    finally:
        connections["owner"].close()


def _run(statement: sql.Composed, *, megabytes: int = MIN_BUILD_MB) -> None:
    """Run one statement outside of any transaction."""
    with _owner_settings(megabytes), connections["owner"].cursor() as cursor:
        cursor.execute(statement)
