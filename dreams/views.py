"""/v1/dreams: runs, their jobs and results, undo, and what they suggest."""

from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import Access
from api.errors import Forbidden
from api.idempotency import idempotent
from api.pagination import cursor_decode, cursor_encode, next_link
from api.views import ApiView
from dreams.models import DreamRun, DreamSuggestion
from dreams.representation import dream_present, dream_summary, suggestion_present
from dreams.schemas import (
    DreamListParams,
    DreamNextJob,
    DreamSubmitBody,
    SuggestionDecision,
    SuggestionListParams,
)
from dreams.services import dream_cancel, dream_get, dream_next_job, dream_start, dream_submit, dream_undo
from dreams.suggestions import suggestion_decide
from events.services import event_record
from memories.models import Memory


def readable(access: Access) -> None:
    """Raise Forbidden unless the access holds `dreams`, or decides what dreams suggest."""
    if not (access.may("dreams") or access.may("actions:decide")):
        raise Forbidden("This key lacks the scope dreams.", {"scope": "dreams"})


def position(cursor: str, filters: dict[str, Any]) -> Q:
    """Return the condition of rows behind a cursor of creation time and id, the newest first. Raises Invalid."""
    at, id = cursor_decode(cursor, filters, (datetime, str))
    return Q(created_at__lt=at) | Q(created_at=at, id__lt=id)


class DreamsView(ApiView):
    """/v1/dreams. Reading needs `dreams` or actions:decide."""

    scopes: ClassVar = {"GET": None, "POST": None}
    query_params = frozenset(DreamListParams.model_fields)

    def get(self, request: Request) -> Response:
        """List dreams, the newest first."""
        readable(self.access)
        params = self.query(DreamListParams)
        rows = DreamRun.objects.visible_to(self.access)
        if params.cursor:
            rows = rows.filter(position(params.cursor, {}))
        page = list(rows.order_by("-created_at", "-id")[: params.limit + 1])
        more, page = len(page) > params.limit, page[: params.limit]
        cursor = cursor_encode([page[-1].created_at.isoformat(), page[-1].id], {}) if more else None
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        shown = [dream_summary(run, limited=self.access.limited) for run in page]
        return Response({"dreams": shown, "next_cursor": cursor}, headers=headers)

    @idempotent
    def post(self, request: Request) -> Response:
        """Start a dream; the owner may at any time, others when one is due."""
        readable(self.access)
        run = dream_start(access=self.access)
        return Response(dream_present(self.access, run), status=201)


class DreamView(ApiView):
    """/v1/dreams/{id}. Reading needs `dreams` or actions:decide."""

    scopes: ClassVar = {"GET": None}

    def get(self, request: Request, run_id: str) -> Response:
        """Return one dream with the diff of each change."""
        readable(self.access)
        run = dream_get(access=self.access, run_id=run_id)
        event_record(access=self.access, type="dream.read", object_kind="dream", object_ids=[run.id])
        return Response(dream_present(self.access, run))


class NextJobView(ApiView):
    """/v1/dreams/next-job."""

    scopes: ClassVar = {"POST": "dreams"}

    @idempotent
    def post(self, request: Request) -> Response:
        """Hand out the job that waits; start a dream first when one is due."""
        raw = self.raw_body()
        start_if_due = self.body(DreamNextJob).start_if_due if raw else True
        return Response(dream_next_job(access=self.access, start_if_due=start_if_due))


class SubmitView(ApiView):
    """/v1/dreams/{id}/submit."""

    scopes: ClassVar = {"POST": "dreams"}

    @idempotent
    def post(self, request: Request, run_id: str) -> Response:
        """Take the result of a job: apply what the rules allow."""
        result = self.body(DreamSubmitBody).result
        return Response(dream_submit(access=self.access, run_id=run_id, result=result))


class UndoView(ApiView):
    """/v1/dreams/{id}/undo. The owner's."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request, run_id: str) -> Response:
        """Undo a dream within 7 days."""
        return Response(dream_undo(access=self.access, run_id=run_id))


class CancelView(ApiView):
    """/v1/dreams/{id}/cancel. The owner's, or that of the key which has the job."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request, run_id: str) -> Response:
        """Cancel a dream that is going on."""
        return Response(dream_present(self.access, dream_cancel(access=self.access, run_id=run_id)))


class SuggestionsView(ApiView):
    """/v1/dreams/suggestions. Reading needs `dreams` or actions:decide."""

    scopes: ClassVar = {"GET": None}
    query_params = frozenset(SuggestionListParams.model_fields)

    def get(self, request: Request) -> Response:
        """List what dreams suggest to the owner, the newest first."""
        readable(self.access)
        params = self.query(SuggestionListParams)
        filters = {"status": params.status}
        rows = DreamSuggestion.objects.visible_to(self.access).filter(status=params.status)
        if params.cursor:
            rows = rows.filter(position(params.cursor, filters))
        page = list(rows.order_by("-created_at", "-id")[: params.limit + 1])
        more, page = len(page) > params.limit, page[: params.limit]
        cursor = cursor_encode([page[-1].created_at.isoformat(), page[-1].id], filters) if more else None
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        shown = [suggestion_present(suggestion) for suggestion in self._within_limits(page)]
        return Response({"suggestions": shown, "next_cursor": cursor}, headers=headers)

    def _within_limits(self, page: list[DreamSuggestion]) -> list[DreamSuggestion]:
        """Return the suggestions whose facts are all in the key's reach."""
        if not self.access.limited:
            return page
        ids = {id for suggestion in page for id in suggestion.memory_ids}
        readable = set(Memory.objects.any_status(self.access).filter(id__in=ids).values_list("id", flat=True))
        return [suggestion for suggestion in page if set(suggestion.memory_ids) <= readable]


class SuggestionView(ApiView):
    """/v1/dreams/suggestions/{id}. The owner's."""

    scopes: ClassVar = {"POST": None}

    @idempotent
    def post(self, request: Request, suggestion_id: str) -> Response:
        """Accept or dismiss a suggestion."""
        data = self.body(SuggestionDecision)
        suggestion = suggestion_decide(access=self.access, suggestion_id=suggestion_id, data=data)
        return Response(suggestion_present(suggestion))
