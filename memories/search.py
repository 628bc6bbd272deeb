"""The one door of search: REST, MCP, the dashboard and the search for duplicates all come through here.

A query is embedded outside of any transaction. Then, in one that sees the space's rows alone, the nearest vectors and
the best words are found, each side scores what the other found, and one ranking is made of both. What is returned are
ids; content is read afterwards through `visible_to(access)`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.conf import settings

from accounts.access import Access, search_transaction
from aiworker.embedding.base import EmbeddingError, EmbeddingProvider, LateInteraction, Vector
from aiworker.embedding.queries import query_vector
from aiworker.embedding.registry import provider_for
from memories import keyword, ranking, reranking, semantic
from memories.conditions import Condition, SearchFilters, condition_for
from memories.embeddings import MAX_COUNTED, embed_newest
from memories.models import Memory
from memories.search_types import Hit, Mode, SearchQuery, SearchResult
from memories.semantic import VectorSpace
from memories.statistics import rows_of

__all__ = ["Hit", "Mode", "SearchFilters", "SearchQuery", "SearchResult", "search_memories", "similar_memories"]

EMBEDDED_ON_SEARCH = 3


@dataclass(frozen=True)
class SpaceState:
    """A space as a search needs it: its language, its vectors (None: it never had any), and how many are missing."""

    language: str
    vectors: VectorSpace | None
    pending: int


@dataclass(frozen=True)
class Meaning:
    """The semantic side of one search: the vectors, the model that made them, and the query's vector under it."""

    space: VectorSpace
    provider: EmbeddingProvider
    vector: Vector


def search_memories(access: Access, query: SearchQuery) -> SearchResult:
    """Find memories by keyword, meaning or both, best first.

    Only what the access may see and the filters allow is found; expired, deleted and replaced texts never are. When the
    semantic side cannot run, the keyword side answers and ``mode_used`` says so. No query text is an error.
    """
    condition = condition_for(access, query.filters)
    state = _state_of(access.space_id)
    meaning = None
    if query.mode != "keyword":
        state = _caught_up(access.space_id, state)
        meaning = _meaning_of(state, query.q)
    if meaning is None:
        return _by_words(access, query, condition, state)
    if condition.impossible:
        return SearchResult([], 0, query.mode, state.pending)
    with search_transaction(access):
        if query.mode == "semantic":
            hits = _by_meaning(query, condition, meaning)
        else:
            hits = _by_both(access, query, condition, state, meaning)
    if state.pending and all(hit.scores["semantic"] is None for hit in hits):  # nothing that matters has a vector yet
        return _by_words(access, query, condition, state)
    if query.mode == "hybrid" and (settings.SEARCH_RERANK if query.rerank is None else query.rerank):
        hits = _reranked(access, query.q, hits, state, meaning.provider)
    hits = hits[: query.limit]
    return SearchResult(hits, len(hits), query.mode, state.pending, meaning.provider.alike)


def similar_memories(access: Access, memory_id: str, limit: int) -> SearchResult:
    """Find the memories nearest in meaning to one of the space's own, nearest first, itself left out."""
    condition = condition_for(access, SearchFilters())
    state = _caught_up(access.space_id, _state_of(access.space_id))
    if condition.impossible or state.vectors is None:
        return SearchResult([], 0, "semantic", state.pending)
    best: dict[str, float] = {}
    with search_transaction(access):
        for stored in semantic.vectors_of(state.vectors, memory_id):
            vector = np.array(stored.strip("[]").split(","), np.float32)
            for found, similarity in semantic.nearest(state.vectors, vector, condition, limit + 1).items():
                best[found] = max(similarity, best.get(found, similarity))
    best.pop(memory_id, None)
    order = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]
    hits = [Hit(found, similarity, {"semantic": similarity}) for found, similarity in order]
    return SearchResult(hits, len(hits), "semantic", state.pending)


def _state_of(space_id: int) -> SpaceState:
    sql = f"""
        SELECT language, state.model, vector_index, (
            SELECT count(*) FROM (
                SELECT 1 FROM memories_embeddingpending AS pending
                WHERE pending.space_id = state.space_id AND pending.model = state.model
                ORDER BY pending.queued_at DESC -- by the index: another space's import may fill the queue
                LIMIT {MAX_COUNTED}
            ) AS waiting
        )
        FROM accounts_space AS space LEFT JOIN memories_searchspace AS state ON state.space_id = space.id
        WHERE space.id = %s
    """  # noqa: S608
    [(language, model, index, pending)] = rows_of(sql, [space_id])
    vectors = VectorSpace(space_id, model, bool(index)) if model else None
    return SpaceState(language, vectors, pending)


def _caught_up(space_id: int, state: SpaceState) -> SpaceState:
    """With a local model, embed the few newest memories that wait, so that what was just written is found."""
    if not state.pending or state.vectors is None:
        return state
    try:
        provider = provider_for(state.vectors.model)
    except EmbeddingError:
        return state
    if not provider.is_local:
        return state
    embed_newest(space_id, provider, EMBEDDED_ON_SEARCH)
    return _state_of(space_id)


def _meaning_of(state: SpaceState, q: str) -> Meaning | None:
    """Embed the query under the space's model; None when that is not possible now."""
    if state.vectors is None:
        return None
    try:
        provider = provider_for(state.vectors.model)
        return Meaning(state.vectors, provider, query_vector(state.vectors.space_id, provider, q))
    except EmbeddingError:
        return None


def _by_words(access: Access, query: SearchQuery, condition: Condition, state: SpaceState) -> SearchResult:
    if condition.impossible:
        return SearchResult([], 0, "keyword", state.pending)
    with search_transaction(access):
        words = keyword.KeywordSearch(access.space_id, keyword.analyse(query.q, state.language), condition)
        found = words.best(query.limit)
        total = len(found) if len(found) < query.limit else words.total()
    hits = [Hit(memory_id, match.score, {"keyword": match.score}) for memory_id, match in found.items()]
    return SearchResult(hits, total, "keyword", state.pending)


def _by_meaning(query: SearchQuery, condition: Condition, meaning: Meaning) -> list[Hit]:
    near = semantic.nearest(meaning.space, meaning.vector, condition, query.limit)
    return [Hit(memory_id, similarity, {"semantic": similarity}) for memory_id, similarity in near.items()]


def _by_both(
    access: Access, query: SearchQuery, condition: Condition, state: SpaceState, meaning: Meaning
) -> list[Hit]:
    """Fuse both rankings, after each side has scored what the other side found, too."""
    depth = max(ranking.CANDIDATES, query.limit)
    trust = meaning.provider.familiarity(query.q)
    words = keyword.KeywordSearch(access.space_id, keyword.analyse(query.q, state.language), condition)
    matched = words.best(depth)
    if trust == 0 and matched:  # the model does not know the script: the words decide
        near: dict[str, semantic.Nearness] = {}
    else:
        nearest = semantic.nearest(meaning.space, meaning.vector, condition, depth)
        trust = trust if matched else 1.0
        matched |= words.scores_of([memory_id for memory_id in nearest if memory_id not in matched])
        near = semantic.nearness(meaning.space, meaning.vector, list(matched))
    return ranking.fuse(matched, near, ideal=words.ideal(), trust=trust if near else 0.0)[:depth]


def _reranked(access: Access, q: str, hits: list[Hit], state: SpaceState, provider: EmbeddingProvider) -> list[Hit]:
    """Order the best hits anew, if the provider can."""
    if not isinstance(provider, LateInteraction):
        return hits
    best = hits[: reranking.CANDIDATES]
    with search_transaction(access):
        rows = Memory.objects.visible_to(access).filter(id__in=[hit.memory_id for hit in best])
        contents = dict(rows.values_list("id", "content"))
        statistics = reranking.query_statistics(access.space_id, q, state.language)
    ordered = reranking.reranked(q, best, contents, provider=provider, statistics=statistics, language=state.language)
    return ordered + hits[reranking.CANDIDATES :]
