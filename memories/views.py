"""/v1/memories: create, list, get, update, delete, batch, search (OMP 0.1, section 3.3)."""

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db.models import Q
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import Access, space_transaction
from api.errors import ApiError, MemoryNotFound
from api.idempotency import idempotent
from api.pagination import cursor_decode, cursor_encode, next_link
from api.schemas import parse
from api.views import ApiView, etag, if_match, none_match
from events.services import event_record
from memories.embeddings import embeddings_of
from memories.filters import filtered
from memories.models import Memory
from memories.quota import QuotaFull
from memories.representation import memory_present
from memories.schemas import (
    DeleteParams,
    GetParams,
    ListParams,
    MemoryBatch,
    MemoryCreate,
    MemoryUpdate,
    SearchBody,
    SimilarParams,
    ViewParams,
    WriteParams,
    query_params,
)
from memories.search import SearchFilters, SearchQuery, SearchResult, search_memories, similar_memories
from memories.services import (
    memories_create,
    memories_delete,
    memory_build,
    memory_create,
    memory_locked,
    memory_shown,
    memory_update,
)
from memories.tiers import CoreRoom

SORTS = {
    "created_at_desc": ("created_at", "-"),
    "created_at_asc": ("created_at", ""),
    "updated_at_desc": ("updated_at", "-"),
}


def present(access: Access, memories: list[Memory], params: ViewParams) -> list[dict[str, Any]]:
    """Return memories in the shape that the query parameters ask for, and note who read them."""
    shown = [memory_present(memory, full=params.view == "full") for memory in memories]
    if params.include == "embedding":
        vectors = embeddings_of(access, [memory.id for memory in memories])
        for item in shown:
            item["embedding"] = vectors.get(item["id"])
    return shown


class MemoriesView(ApiView):
    """/v1/memories."""

    scopes: ClassVar = {"GET": "memories:read", "POST": "memories:write"}
    query_params = query_params(ListParams)

    def get(self, request: Request) -> Response:
        """List memories that match every filter, one page at a time."""
        params = self.query(ListParams)
        column, direction = SORTS[params.sort]
        visible = Memory.objects.visible_to(self.access, include_expired=params.include_expired)
        rows = filtered(visible, params)
        total = rows.count()
        filters = params.applied() | {"sort": params.sort, "expired": params.include_expired}
        if params.cursor:
            at, last = cursor_decode(params.cursor, filters, (datetime, str))
            side = "lt" if direction else "gt"
            rows = rows.filter(Q(**{f"{column}__{side}": at}) | Q(**{column: at, f"id__{side}": last}))
        ordered = rows.order_by(f"{direction}{column}", f"{direction}id")
        page = list(ordered[params.offset : params.offset + params.limit + 1])
        more, page = len(page) > params.limit, page[: params.limit]
        event_record(
            access=self.access, type="memory.listed", object_kind="memory", object_ids=[memory.id for memory in page]
        )
        body: dict[str, Any] = {
            "memories": present(self.access, page, params),
            "total": total,
            "limit": params.limit,
            "offset": params.offset,
        }
        if not more:
            return Response(body)
        cursor = cursor_encode([getattr(page[-1], column).isoformat(), page[-1].id], filters)
        return Response(body, headers={"Link": next_link(request._request, cursor)})

    @idempotent
    def post(self, request: Request) -> Response:
        """Create a memory."""
        full = self.query(WriteParams).view == "full"
        memory = memory_create(access=self.access, data=self.body(MemoryCreate))
        return Response(memory_present(memory, full=full), status=201, headers=etag(memory.version))


class MemoryView(ApiView):
    """/v1/memories/{id}."""

    scopes: ClassVar = {
        "GET": "memories:read", "PUT": "memories:write", "PATCH": "memories:write", "DELETE": "memories:delete",
    }  # fmt: skip
    query_params = query_params(GetParams, DeleteParams)

    def get(self, request: Request, memory_id: str) -> Response:
        """Return one memory."""
        params = self.query(GetParams)
        memory = Memory.objects.one(self.access, memory_id, include_expired=params.include_expired)
        if memory is None:
            raise MemoryNotFound()
        event_record(access=self.access, type="memory.read", object_kind="memory", object_ids=[memory.id])
        tags = etag(memory.version)
        if none_match(request, memory.version):
            return Response(status=304, headers=tags)
        return Response(present(self.access, [memory], params)[0], headers=tags)

    def put(self, request: Request, memory_id: str) -> Response:
        """Change the fields that the body gives."""
        full, data = self.query(WriteParams).view == "full", self.body(MemoryUpdate)
        memory = memory_locked(access=self.access, memory_id=memory_id)
        memory_shown(self.access, memory)
        if_match(request, memory.version)
        memory = memory_update(access=self.access, memory=memory, data=data)
        return Response(memory_present(memory, full=full), headers=etag(memory.version))

    patch = put

    def delete(self, request: Request, memory_id: str) -> Response:
        """Delete a memory for good; with `receipt=true`, answer what was removed."""
        params = self.query(DeleteParams)
        if params.receipt:
            self.access.require("memories:read")
        memory = memory_locked(access=self.access, memory_id=memory_id)
        if_match(request, memory.version)
        memories_delete(access=self.access, memories=[memory], derived=params.derived)
        if params.receipt:
            return Response({"deleted": memory_present(memory, full=True)})
        return Response(status=204)


class MemoriesBatchView(ApiView):
    """/v1/memories/batch."""

    scopes: ClassVar = {"POST": "memories:write"}
    query_params = query_params(WriteParams)
    max_body_bytes = settings.MAX_BATCH_BYTES

    @idempotent
    def post(self, request: Request) -> Response:
        """Create up to 500 memories; each one that fails says why and stops no other."""
        full = self.query(WriteParams).view == "full"
        results: list[dict[str, Any]] = []
        built: dict[int, Memory] = {}
        core: CoreRoom | None = None
        for index, item in enumerate(self.body(MemoryBatch).memories):
            try:
                memory = memory_build(access=self.access, data=parse(MemoryCreate, item))
                if memory.tier == Memory.Tier.CORE:
                    core = core or CoreRoom(self.access)
                    core.admit(memory)
                built[index] = memory
                results.append({})
            except ApiError as error:
                results.append({"index": index, "status": error.status} | error.envelope())
        for index, failed in self._store(built).items():
            results[index] = {"index": index, "status": failed.status} | failed.envelope()
        for index, memory in built.items():
            results[index] = {"index": index, "status": 201, "memory": memory_present(memory, full=full)}
        return Response({"results": results})

    def _store(self, built: dict[int, Memory]) -> dict[int, QuotaFull]:
        """Store the memories, of which those that the space has no room for are taken out and returned, the last."""
        refused: dict[int, QuotaFull] = {}
        while built:
            try:
                memories_create(access=self.access, memories=list(built.values()))
                break
            except QuotaFull as full:
                for index in list(built)[full.room :]:
                    refused[index] = full
                    del built[index]
        return refused


def search_answer(access: Access, found: SearchResult, params: ViewParams, *, explain: bool) -> dict[str, Any]:
    """Return {"memories", "total", "mode_used"} for ranked ids, read through the access, best first."""
    ids = [hit.memory_id for hit in found.hits]
    by_id = {memory.id: memory for memory in Memory.objects.visible_to(access).filter(id__in=ids)}
    hits = [hit for hit in found.hits if hit.memory_id in by_id]
    event_record(
        access=access, type="memory.searched", object_kind="memory", object_ids=[hit.memory_id for hit in hits],
        details={"mode": found.mode_used},
    )  # fmt: skip
    body: dict[str, Any] = {
        "memories": present(access, [by_id[hit.memory_id] for hit in hits], params),
        "total": found.total if found.mode_used == "keyword" else len(hits),
        "mode_used": found.mode_used,
    }
    if explain:
        body["scores"] = [{"id": hit.memory_id, "score": hit.score} | hit.scores for hit in hits]
    return body


class MemoriesSearchView(ApiView):
    """/v1/memories/search. The query is embedded outside of any transaction, hence `atomic` is off."""

    scopes: ClassVar = {"POST": "memories:read"}
    query_params = query_params(ViewParams)
    atomic = False

    @idempotent
    def post(self, request: Request) -> Response:
        """Find memories by keyword, meaning or both, best first."""
        params, body = self.query(ViewParams), self.body(SearchBody)
        filters = SearchFilters(**body.applied())
        query = SearchQuery(
            q=body.q, mode=body.mode, limit=body.limit, filters=filters, explain=body.explain, rerank=body.rerank
        )
        found = search_memories(self.access, query)
        with space_transaction(self.access):
            answer = search_answer(self.access, found, params, explain=body.explain)
        headers = {"X-Search-Pending": str(found.pending)} if found.pending else {}
        return Response(answer | {"filters_applied": body.applied()}, headers=headers)


class MemorySimilarView(ApiView):
    """/v1/memories/{id}/similar."""

    scopes: ClassVar = {"GET": "memories:read"}
    query_params = query_params(SimilarParams)
    atomic = False

    def get(self, request: Request, memory_id: str) -> Response:
        """Return the memories whose meaning is closest to this one, closest first."""
        params = self.query(SimilarParams)
        with space_transaction(self.access):
            if not Memory.objects.visible_to(self.access).filter(id=memory_id).exists():
                raise MemoryNotFound()
        found = similar_memories(self.access, memory_id, params.limit)
        with space_transaction(self.access):
            return Response(search_answer(self.access, found, params, explain=False))
