"""/v1/memories/remember, /recall, /{id}/history and /{id}/restore: memories as facts of the agent state."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import idempotent
from api.pagination import next_link
from api.views import ApiView, etag, if_match
from memories.facts import fact_remember, facts_recall
from memories.history import history_list, memory_restore
from memories.representation import memory_present
from memories.schemas import HistoryParams, Recall, Remember, Restore, query_params
from memories.services import memory_locked


class RememberView(ApiView):
    """/v1/memories/remember."""

    scopes: ClassVar = {"POST": "memories:write"}

    @idempotent
    def post(self, request: Request) -> Response:
        """Store a fact unless the same fact is there; answer it with `deduplicated`."""
        memory, there = fact_remember(access=self.access, data=self.body(Remember))
        body = memory_present(memory, full=True) | {"deduplicated": there}
        return Response(body, status=200 if there else 201, headers=etag(memory.version))


class RecallView(ApiView):
    """/v1/memories/recall."""

    scopes: ClassVar = {"GET": "memories:read"}
    query_params = query_params(Recall)

    def get(self, request: Request) -> Response:
        """Find facts by words, subject, tier and tag, best first; each is counted as recalled."""
        memories = facts_recall(access=self.access, params=self.query(Recall))
        return Response({"memories": [memory_present(memory, full=True) for memory in memories]})


class HistoryView(ApiView):
    """/v1/memories/{id}/history."""

    scopes: ClassVar = {"GET": "memories:read"}
    query_params = query_params(HistoryParams)

    def get(self, request: Request, memory_id: str) -> Response:
        """List the versions of a memory, the current one first."""
        page, cursor = history_list(access=self.access, memory_id=memory_id, params=self.query(HistoryParams))
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        return Response({"versions": page, "next_cursor": cursor}, headers=headers)


class RestoreView(ApiView):
    """/v1/memories/{id}/restore."""

    scopes: ClassVar = {"POST": "memories:write"}

    @idempotent
    def post(self, request: Request, memory_id: str) -> Response:
        """Bring back the text and fields of an earlier version."""
        self.access.require("memories:read")
        data = self.body(Restore)
        memory = memory_locked(access=self.access, memory_id=memory_id)
        if_match(request, memory.version)
        memory = memory_restore(access=self.access, memory=memory, version=data.version)
        return Response(memory_present(memory, full=True), headers=etag(memory.version))
