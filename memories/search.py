"""The one door of search: REST, MCP, the dashboard and the search for duplicates all come through here.

A query is embedded outside of any transaction. Then, in one that sees the space's rows alone, the nearest vectors and
the best words are found, each side scores what the other found, and one ranking is made of both. What is returned are
ids; content is read afterwards through `visible_to(access)`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from django.conf import settings
from django.db import connection

from accounts.access import Access, space_transaction
from accounts.models import Space
from aiworker.embedding.base import EmbeddingError, EmbeddingProvider, LateInteraction, Vector
from aiworker.embedding.queries import query_vector
from aiworker.embedding.registry import provider_for
from memories import keyword, ranking, semantic
from memories.conditions import Condition, SearchFilters, condition_for
from memories.embeddings import embed_newest, pending_count
from memories.index_models import SearchSpace
from memories.models import Memory
from memories.search_types import Hit, Mode, SearchQuery, SearchResult

__all__ = ["Hit", "Mode", "SearchFilters", "SearchQuery", "SearchResult", "search_memories", "similar_memories"]

EMBEDDED_ON_SEARCH = 3


@dataclass(frozen=True)
class Meaning:
    """The semantic side of one search: the space's state, its model and the query's vector under it."""

    space: SearchSpace
    provider: EmbeddingProvider
    vector: Vector


def search_memories(access: Access, query: SearchQuery) -> SearchResult:
    """Find memories by keyword, meaning or both, best first.

    Only what the access may see and the filters allow is found; expired, deleted and replaced texts never are. When the
    semantic side cannot run, the keyword side answers and ``mode_used`` says so. No query text is an error.
    """
    condition = condition_for(access, query.filters)
    language = Space.objects.values_list("language", flat=True).get(pk=access.space_id)
    analysed = keyword.analyse(query.q, language)
    meaning, pending = (None, 0) if query.mode == "keyword" else _meaning_of(access, query.q)
    mode: Mode = query.mode if meaning else "keyword"
    if condition.impossible:
        return SearchResult([], 0, mode, pending)
    with space_transaction(access):
        if mode == "keyword" or meaning is None:
            words = keyword.KeywordSearch(access.space_id, analysed, condition)
            found = words.best(query.limit)
            hits = [Hit(memory_id, score, {"keyword": score}) for memory_id, score in found.items()]
            return SearchResult(hits, words.total(), mode, pending)
        hits = _fused(access, query, analysed, condition, meaning)
    if mode == "hybrid" and (settings.SEARCH_RERANK if query.rerank is None else query.rerank):
        hits = _reranked(access, query.q, hits, meaning.provider)
    hits = hits[: query.limit]
    return SearchResult(hits, len(hits), mode, pending)


def similar_memories(access: Access, memory_id: str, limit: int) -> SearchResult:
    """Find the memories nearest in meaning to one of the space's own, nearest first, itself left out."""
    condition = condition_for(access, SearchFilters())
    space = SearchSpace.objects.filter(pk=access.space_id).first()
    if condition.impossible or space is None:
        return SearchResult([], 0, "semantic")
    _embed_pending_of(space)
    with space_transaction(access):
        best: dict[str, float] = {}
        for stored in semantic.vectors_of(space, memory_id):
            vector = np.asarray(stored.to_list() if hasattr(stored, "to_list") else _floats(stored), np.float32)
            for found, similarity in semantic.nearest(space, vector, condition, limit + 1).items():
                best[found] = max(similarity, best.get(found, similarity))
        pending = pending_count(space)
    best.pop(memory_id, None)
    order = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:limit]
    hits = [Hit(found, similarity, {"semantic": similarity}) for found, similarity in order]
    return SearchResult(hits, len(hits), "semantic", pending)


def _meaning_of(access: Access, q: str) -> tuple[Meaning | None, int]:
    """Embed the query under the space's model; None when that is not possible now. Also count missing vectors."""
    space = SearchSpace.objects.filter(pk=access.space_id).first()
    if space is None:
        return None, 0
    _embed_pending_of(space)
    pending = pending_count(space)
    try:
        provider = provider_for(space.model)
        vector = query_vector(access.space_id, provider, q)
    except EmbeddingError:
        return None, pending
    return Meaning(space, provider, vector), pending


def _embed_pending_of(space: SearchSpace) -> None:
    """With a local model, embed the few newest memories that wait, so that what was just written is found."""
    if not pending_count(space):
        return
    try:
        provider = provider_for(space.model)
    except EmbeddingError:
        return
    if provider.is_local:
        embed_newest(space, provider, EMBEDDED_ON_SEARCH)


def _fused(
    access: Access, query: SearchQuery, analysed: keyword.KeywordQuery, condition: Condition, meaning: Meaning
) -> list[Hit]:
    """Rank by meaning alone, or by both: each side scores what the other side found, too."""
    depth = max(ranking.CANDIDATES, query.limit)
    near = semantic.nearest(meaning.space, meaning.vector, condition, depth)
    if query.mode == "semantic":
        hits = [Hit(memory_id, similarity, {"semantic": similarity}) for memory_id, similarity in near.items()]
        return hits[: query.limit]
    words = keyword.KeywordSearch(access.space_id, analysed, condition)
    scale = ranking.scale_of(near, meaning.provider.scale)
    weight = ranking.SEMANTIC_WEIGHT * meaning.provider.familiarity(query.q)
    matched = words.best(depth)
    if weight == 0:  # the model does not know the script: the words decide, and only without any the meaning
        near = {} if matched else near
    matched |= words.scores_of([memory_id for memory_id in near if memory_id not in matched])
    if weight:
        unknown = [memory_id for memory_id in matched if memory_id not in near]
        near |= semantic.similarities(meaning.space, meaning.vector, unknown)
    hits = ranking.fuse(matched, near, ideal=words.ideal(), scale=scale, semantic_weight=weight if matched else 1.0)
    hits.sort(key=lambda hit: (-hit.score, hit.memory_id))
    return ranking.ordered(hits[:depth], _ties(access.space_id, [hit.memory_id for hit in hits[:depth]]))


def _ties(space_id: int, ids: list[str]) -> dict[str, ranking.Tie]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT memory_id, pinned, created_at FROM memories_searchable WHERE memory_id = ANY(%s)", [ids]
        )
        return {memory_id: ranking.Tie(pinned, created_at) for memory_id, pinned, created_at in cursor.fetchall()}


def _reranked(access: Access, q: str, hits: list[Hit], provider: EmbeddingProvider) -> list[Hit]:
    """Order the best hits anew by late interaction: each word of the query looks for its nearest in the text."""
    if not isinstance(provider, LateInteraction):
        return hits
    best = hits[: ranking.RERANKED]
    with space_transaction(access):
        rows = Memory.objects.visible_to(access).filter(id__in=[hit.memory_id for hit in best])
        contents = dict(rows.values_list("id", "content"))
    asked = provider.token_states(q, is_query=True)
    scored = []
    for hit in best:
        if hit.memory_id in contents:
            said = provider.token_states(contents[hit.memory_id], is_query=False)
            closeness = float((asked @ said.T).max(axis=1).mean())
            score = hit.score + ranking.RERANK_WEIGHT * closeness
            scored.append(replace(hit, score=score, scores=hit.scores | {"rerank": closeness}))
    return sorted(scored, key=lambda hit: -hit.score) + hits[ranking.RERANKED :]


def _floats(stored: str) -> list[float]:
    return [float(value) for value in stored.strip("[]").split(",")]
