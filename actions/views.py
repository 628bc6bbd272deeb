"""/v1/actions: the queue of what waits for the owner."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from actions.representation import action_present, actions_present
from actions.schemas import ActionListParams, ActionPropose, ActionTransition, TransitionBody
from actions.services import action_get, action_propose, action_transition, actions_page
from api.idempotency import idempotent
from api.pagination import cursor_decode, cursor_encode, next_link
from api.schemas import parse
from api.views import ApiView


class ActionsView(ApiView):
    """/v1/actions. Any actions scope reads the queue."""

    scopes: ClassVar = {"GET": None, "POST": "actions:propose"}
    query_params = frozenset(ActionListParams.model_fields)

    def get(self, request: Request) -> Response:
        """List actions, the newest first; by default those that are not over."""
        params = self.query(ActionListParams)
        filters = {"status": params.status}
        before = cursor_decode(params.cursor, filters, (int,))[0] if params.cursor else None
        page = actions_page(access=self.access, params=params, before=before)
        more, page = len(page) > params.limit, page[: params.limit]
        cursor = cursor_encode([page[-1].number], filters) if more else None
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        return Response({"actions": actions_present(page), "next_cursor": cursor}, headers=headers)

    @idempotent
    def post(self, request: Request) -> Response:
        """Propose an action; the same idempotency_key and payload answer the one that is there."""
        action, new = action_propose(access=self.access, data=self.body(ActionPropose))
        return Response(action_present(action), status=201 if new else 200)


class ActionView(ApiView):
    """/v1/actions/{id}."""

    scopes: ClassVar = {"GET": None}

    def get(self, request: Request, action_id: str) -> Response:
        """Return one action with its payload and history."""
        return Response(action_present(action_get(access=self.access, id=action_id)))


class TransitionView(ApiView):
    """/v1/actions/{id}/transition. Who may make which move is a matter of the action."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request, action_id: str) -> Response:
        """Move an action, only if it is still in `from`."""
        self.body(TransitionBody)  # its errors name its own fields
        data = parse(ActionTransition, self.json() | {"id": action_id[:20]})
        action, unchanged = action_transition(access=self.access, data=data)
        return Response(action_present(action) | ({"unchanged": True} if unchanged else {}))
