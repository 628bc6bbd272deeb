"""/v1/events: the log, newest first."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.pagination import cursor_decode, cursor_encode, next_link
from api.timestamps import timestamp_format
from api.views import ApiView
from events.models import Event
from events.schemas import EventParams


def event_present(event: Event) -> dict[str, Any]:
    """Return {id, type, actor, object, at, details}; an event about many objects lists their ids in details."""
    ids = event.object_ids
    details = dict(event.details)
    if len(ids) > 1:
        details["ids"] = ids
    return {
        "id": str(event.id),
        "type": event.type,
        "actor": {"kind": event.actor_kind, "id": event.actor_id, "name": event.actor_name},
        "object": {"kind": event.object_kind, "id": ids[0] if len(ids) == 1 else None},
        "at": timestamp_format(event.at),
        "channel": event.channel,
        "ip": event.ip,
        "request_id": event.request_id,
        "details": details,
    }


class EventsView(ApiView):
    """/v1/events."""

    scopes: ClassVar = {"GET": "events:read"}
    query_params = frozenset(EventParams.model_fields)

    def get(self, request: Request) -> Response:
        """List events, newest first; `type` takes a name or its beginning (`memory.`), `object` an id."""
        params = self.query(EventParams)
        filters = params.model_dump(include={"type", "object", "after", "before"}, exclude_none=True)
        rows = Event.objects.visible_to(self.access)
        if params.type:
            rows = rows.filter(**{"type__startswith" if params.type.endswith(".") else "type": params.type})
        if params.object:
            rows = rows.filter(object_ids__contains=[params.object])
        if params.after:
            rows = rows.filter(at__gt=params.after)
        if params.before:
            rows = rows.filter(at__lt=params.before)
        if params.cursor:
            rows = rows.filter(id__lt=cursor_decode(params.cursor, filters, (int,))[0])
        page = list(rows.order_by("-id")[: params.limit + 1])
        more, page = len(page) > params.limit, page[: params.limit]
        cursor = cursor_encode([page[-1].id], filters) if more else None
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        return Response({"events": [event_present(event) for event in page], "next_cursor": cursor}, headers=headers)
