"""/v1/context and /v1/memories/forget: what reads and clears across the whole agent state."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import idempotent
from api.views import ApiView
from context.forgetting import facts_forget
from context.services import context_get
from memories.schemas import Forget


class ContextView(ApiView):
    """/v1/context. Each section needs its own read scope; those that the key may not read are empty."""

    scopes: ClassVar = {"GET": None}

    def get(self, request: Request) -> Response:
        """Return core facts, due and open records, pending actions, recent journal and selected key-value state."""
        return Response(context_get(access=self.access))


class ForgetView(ApiView):
    """/v1/memories/forget. What lies outside of memories needs the scopes of its own."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request) -> Response:
        """Forget facts by id or words, and a phrase in records and journal; `dry_run` only counts and previews."""
        return Response(facts_forget(access=self.access, data=self.body(Forget)))
