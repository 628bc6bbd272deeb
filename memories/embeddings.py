"""Making and keeping the vectors of memories: the queue's consumer, for workers and for searches alike.

A row of EmbeddingPending says that a memory lacks its vectors. Whoever works on it takes a lease, reads the text in one
transaction, embeds outside of any, and stores in another, where the text's digest must still be the same. So nothing
is lost when a worker dies (the lease runs out), and no vector of an older text is ever stored.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import OperationalError, connection, transaction

from accounts.access import Access, space_transaction
from aiworker.embedding.base import EmbeddingError, EmbeddingProvider, ProviderUnavailable, checked_vectors
from aiworker.embedding.registry import provider_for
from memories.index_models import EmbeddingPending
from memories.indexing import content_digest
from memories.models import Memory
from memories.semantic import vector_literal

BATCH = 16
LEASE_SECONDS = 120
MAX_PAUSE_SECONDS = 300
MAX_UNANSWERED = 2
"""After so many requests that a provider did not answer, the rest of a batch is not tried."""
MAX_COUNTED = 10_000
"""How far the memories that wait are counted."""


@dataclass(frozen=True)
class Claim:
    """A lease on one pending row; ``queued_at`` tells whether the row is still the same when the work is done."""

    space_id: int
    memory_id: str
    model: str
    queued_at: datetime
    attempts: int


@dataclass(frozen=True)
class Work:
    """A claimed memory's text, cut into pieces, each with its digest."""

    claim: Claim
    digest: bytes
    pieces: tuple[tuple[bytes, str], ...]


def embeddings_of(access: Access, ids: Sequence[str]) -> dict[str, list[float]]:
    """Return the current vector of each memory that has one: its first piece's, under the space's model."""
    rows = _rows(
        "SELECT memory_id, embedding FROM memories_memoryvector JOIN memories_searchspace USING (space_id, model) "
        "WHERE space_id = %s AND memory_id = ANY(%s) AND piece = 0",
        [access.space_id, list(ids)],
    )
    return {memory_id: _parsed(embedding) for memory_id, embedding in rows}


def embed_newest(space_id: int, provider: EmbeddingProvider, count: int) -> None:
    """Embed a space's newest pending memories now, so that a search finds what was just written.

    A worker may have them in hand already, and still be loading its model: the vectors of both are the same.
    """
    embed_claims(_claim(space_id, count, model=provider.name, leased_too=True), provider)


def embed_pending(seconds: float) -> bool:
    """Embed what is pending for up to so many seconds, all spaces in turn; tell whether some is left for now."""
    until = time.monotonic() + seconds
    while claims := _claim_fairly():
        for model in {claim.model for claim in claims}:
            _embed_model(model, [claim for claim in claims if claim.model == model])
        if time.monotonic() > until:
            return True
    return False


def _embed_model(model: str, claims: list[Claim]) -> None:
    try:
        provider = provider_for(model)
    except EmbeddingError as error:
        _give_back(claims, error)
        return
    embed_claims(claims, provider)


def embed_claims(claims: Sequence[Claim], provider: EmbeddingProvider) -> None:
    """Embed and store claimed memories; what fails waits longer each time, with the reason beside it.

    What has failed before is tried alone, in any order: one text may be what the provider fails at.
    """
    unanswered = 0
    for batch in _batches(claims):
        try:
            if unanswered >= MAX_UNANSWERED:
                raise ProviderUnavailable("The provider did not answer for others")
            _embed_batch(batch, provider)
        except ProviderUnavailable as error:
            unanswered += 1
            _give_back(batch, error)
        except EmbeddingError as error:
            if len(batch) == 1:
                _give_back(batch, error)
            else:
                embed_claims([replace(claim, attempts=1) for claim in batch], provider)


def _batches(claims: Sequence[Claim]) -> list[list[Claim]]:
    new = [claim for claim in claims if not claim.attempts]
    by_space = [[claim for claim in new if claim.space_id == space_id] for space_id in {one.space_id for one in new}]
    failed = [[claim] for claim in claims if claim.attempts]
    random.shuffle(failed)
    return by_space + failed


def _embed_batch(claims: list[Claim], provider: EmbeddingProvider) -> None:
    """Embed and store memories of one space. Raises EmbeddingError."""
    space_id = claims[0].space_id
    works, known = _read(space_id, claims, provider)
    vectors = _embedded(works, known, provider)
    try:
        _store(space_id, works, vectors)
    except OperationalError as error:  # such as a wait that PostgreSQL has ended
        raise ProviderUnavailable("The vectors could not be stored") from error


def _claim_fairly() -> list[Claim]:
    """Lease a batch, from up to eight spaces that are drawn by lot, so that no space's import keeps others waiting."""
    spaces = [row[0] for row in _rows(_WAITING_SPACES, [])]
    chosen = random.sample(spaces, min(len(spaces), 8))
    return [claim for space_id in chosen for claim in _claim(space_id, max(BATCH // len(chosen), 1))]


_WAITING_SPACES = """
    WITH RECURSIVE waiting AS (
        (SELECT space_id FROM memories_embeddingpending WHERE not_before <= clock_timestamp() ORDER BY space_id LIMIT 1)
        UNION ALL
        SELECT (SELECT space_id FROM memories_embeddingpending AS pending
                WHERE pending.space_id > waiting.space_id AND not_before <= clock_timestamp() ORDER BY space_id LIMIT 1)
        FROM waiting WHERE waiting.space_id IS NOT NULL
    )
    SELECT space_id FROM waiting WHERE space_id IS NOT NULL LIMIT 1000
"""


def _claim(space_id: int, count: int, *, model: str | None = None, leased_too: bool = False) -> list[Claim]:
    """Lease a space's newest waiting rows: what was written last is what is searched for first.

    With ``leased_too`` also those that another has leased, but none that waits because it failed.
    """
    rows = _rows(
        """
        UPDATE memories_embeddingpending AS pending SET not_before = clock_timestamp() + %s * interval '1 second'
        FROM (
            SELECT space_id, memory_id, model FROM memories_embeddingpending
            WHERE space_id = %s AND (not_before <= clock_timestamp() OR (%s AND attempts = 0))
                AND (%s::text IS NULL OR model = %s)
            ORDER BY queued_at DESC LIMIT %s FOR UPDATE SKIP LOCKED
        ) AS chosen
        WHERE pending.space_id = chosen.space_id AND pending.memory_id = chosen.memory_id
            AND pending.model = chosen.model
        RETURNING pending.space_id, pending.memory_id, pending.model, pending.queued_at,
            pending.attempts
        """,
        [LEASE_SECONDS, space_id, leased_too, model, model, count],
    )
    return [Claim(*row) for row in rows]


def _read(space_id: int, claims: list[Claim], provider: EmbeddingProvider) -> tuple[list[Work], dict[bytes, str]]:
    """Read the claimed texts, and the vectors that the space has already of equal pieces."""
    access = Access.system(space_id)
    by_id = {claim.memory_id: claim for claim in claims}
    with space_transaction(access):
        rows = Memory.objects.any_status(access).filter(id__in=by_id).values_list("id", "content")
        contents = dict(rows)
    works = []
    for memory_id, content in contents.items():
        pieces = tuple((_piece_digest(piece), piece) for piece in provider.split(content))
        works.append(Work(by_id[memory_id], content_digest(content), pieces))
    digests = list({digest for work in works for digest, _ in work.pieces})
    with space_transaction(access):
        known = _rows(
            "SELECT DISTINCT ON (digest) digest, embedding::text FROM memories_memoryvector "
            "WHERE space_id = %s AND digest = ANY(%s) AND model = %s",
            [space_id, digests, provider.name],
        )
    return works, {bytes(digest): embedding for digest, embedding in known}


def _embedded(works: list[Work], known: dict[bytes, str], provider: EmbeddingProvider) -> dict[bytes, str]:
    """Give the vector of every piece as pgvector reads it; equal pieces are embedded once. Raises EmbeddingError."""
    texts = {digest: piece for work in works for digest, piece in work.pieces if digest not in known}
    made = checked_vectors(
        provider.embed_documents(list(texts.values())),
        count=len(texts),
        dimensions=provider.dimensions,
        provider=provider.name,
    )
    return known | {digest: vector_literal(vector) for digest, vector in zip(texts, made, strict=True)}


def _store(space_id: int, works: list[Work], vectors: dict[bytes, str]) -> None:
    """Store vectors whose text is still the current one, and strike the rows that asked for them."""
    with space_transaction(Access.system(space_id)), connection.cursor() as cursor:
        # As whoever changes memories does: these first, by id, so that neither waits for the other.
        cursor.execute(
            "SELECT FROM memories_memory WHERE space_id = %s AND id = ANY(%s) ORDER BY id FOR KEY SHARE",
            [space_id, [work.claim.memory_id for work in works]],
        )
        for work in sorted(works, key=lambda work: work.claim.memory_id):
            claim = work.claim
            digests = [digest for digest, _ in work.pieces]
            cursor.execute(
                """
                INSERT INTO memories_memoryvector (space_id, memory_id, model, piece, digest, embedding, expires_at)
                SELECT entry.space_id, entry.memory_id, %s, made.piece - 1, made.digest, made.embedding::halfvec,
                    entry.expires_at
                FROM memories_searchentry AS entry,
                    unnest(%s::bytea[], %s::text[]) WITH ORDINALITY AS made(digest, embedding, piece)
                WHERE entry.space_id = %s AND entry.memory_id = %s AND entry.digest = %s
                FOR SHARE OF entry
                ON CONFLICT (space_id, memory_id, model, piece)
                DO UPDATE SET digest = excluded.digest, embedding = excluded.embedding
                """,
                [claim.model, digests, [vectors[digest] for digest in digests], space_id, claim.memory_id, work.digest],
            )
            cursor.execute(
                "DELETE FROM memories_embeddingpending "
                "WHERE space_id = %s AND memory_id = %s AND model = %s AND queued_at = %s",
                [space_id, claim.memory_id, claim.model, claim.queued_at],
            )


def _give_back(claims: list[Claim], error: EmbeddingError) -> None:
    """Put claims back with a pause that doubles from two seconds to five minutes."""
    claims = sorted(claims, key=lambda claim: (claim.space_id, claim.memory_id))
    for claim in claims:
        EmbeddingPending.objects.filter(
            space_id=claim.space_id, memory_id=claim.memory_id, model=claim.model, queued_at=claim.queued_at
        ).update(error=str(error)[:200])
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE memories_embeddingpending AS pending SET
                attempts = least(attempts + 1, 1000),
                not_before = clock_timestamp() + least(2 ^ least(attempts + 1, 20), %s) * interval '1 second'
            FROM unnest(%s::bigint[], %s::varchar[], %s::timestamptz[]) AS given(space_id, memory_id, queued_at)
            WHERE pending.space_id = given.space_id AND pending.memory_id = given.memory_id
                AND pending.queued_at = given.queued_at
            """,
            [
                MAX_PAUSE_SECONDS,
                [claim.space_id for claim in claims],
                [claim.memory_id for claim in claims],
                [claim.queued_at for claim in claims],
            ],
        )


def _piece_digest(piece: str) -> bytes:
    return hashlib.blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _parsed(embedding: Any) -> list[float]:
    if isinstance(embedding, str):
        return [float(value) for value in embedding.strip("[]").split(",")]
    return [float(value) for value in embedding.to_list()]


def _rows(sql: str, values: Sequence[Any]) -> list[Any]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[Any] = cursor.fetchall()
    return rows
