"""The event log: who did what, which tool read what; as pages and as CSV."""

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, time
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_safe

from accounts.access import Access, space_transaction
from accounts.pageviews import PageRequest, page
from api.timestamps import timestamp_format
from events.models import Event
from events.words import GROUPS, event_nouns, event_words

PAGE = 50
CSV_PAGE = 2_000
CSV_ROWS = 100_000
COLUMNS = ("at", "actor_kind", "actor", "type", "object_kind", "object_ids", "channel", "ip", "request_id")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, slots=True)
class Filter:
    """Which events a page shows; a value that is none matches nothing, so that a filter never widens."""

    type: str = ""
    actor: str = ""
    object: str = ""
    after: str = ""
    before: str = ""
    upto: str = ""

    @classmethod
    def read(cls, query: QueryDict) -> "Filter":
        """Return the filter of a query string."""
        return cls(**{name: query.get(name, "").strip()[:200] for name in cls.__slots__})

    def url(self, path: str = "/events", **changes: str) -> str:
        """Return an address with some parts changed."""
        view = replace(self, **({"upto": ""} | changes))
        pairs = [(name, value) for name in self.__slots__ if (value := getattr(view, name))]
        return path + ("?" + urlencode(pairs) if pairs else "")

    def rows(self, access: Access) -> Any:
        """Return the events that match, newest first."""
        rows = Event.objects.visible_to(access)
        if self.type:
            rows = rows.filter(**{"type__startswith" if self.type.endswith(".") else "type": self.type})
        if self.actor:
            rows = rows.filter(actor_name=self.actor)
        if self.object:
            rows = rows.filter(object_ids__contains=[self.object])
        for name, lookup, moment in (("after", "at__gte", time.min), ("before", "at__lte", time.max)):
            if getattr(self, name):
                try:
                    day = parse_date(getattr(self, name))
                except ValueError:
                    day = None
                if day is None:
                    return rows.none()
                rows = rows.filter(**{lookup: timezone.make_aware(datetime.combine(day, moment))})
        if self.upto:
            rows = rows.filter(id__lt=int(self.upto)) if self.upto.isdecimal() and len(self.upto) < 19 else rows.none()
        return rows.order_by("-id")


@require_safe
@page("read")
def event_list(request: PageRequest) -> HttpResponse:
    """Show the log, newest first."""
    wanted = Filter.read(request.GET)
    rows = list(wanted.rows(request.access)[: PAGE + 1])
    more, rows = len(rows) > PAGE, rows[:PAGE]
    groups = [
        {
            "label": label, "on": wanted.type.startswith(prefix),
            "url": wanted.url(type="" if wanted.type.startswith(prefix) else prefix),
        }
        for prefix, label in GROUPS.items()
    ]  # fmt: skip
    events = [(event, event_words(event.type), event_nouns(event.object_kind)) for event in rows]
    context = {
        "filter": wanted, "groups": groups, "events": events,
        "older": wanted.url(upto=str(rows[-1].id)) if more else "", "csv": wanted.url("/events.csv"),
        "first_page": wanted.url(),
    }  # fmt: skip
    return render(request, "events/list.html", context)


def cell(value: object) -> str:
    """Return a value for a spreadsheet: text that it would take for a formula gets an apostrophe in front."""
    text = str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def csv_lines(access: Access, wanted: Filter) -> Iterator[str]:
    """Yield the log as CSV, a page of rows at a time, each in a transaction of its own."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    last, left = "", CSV_ROWS
    while left > 0:
        with space_transaction(access):
            rows = list((replace(wanted, upto=last) if last else wanted).rows(access)[: min(CSV_PAGE, left)])
        for event in rows:
            values = (
                timestamp_format(event.at), event.actor_kind, event.actor_name, event.type, event.object_kind,
                " ".join(event.object_ids), event.channel, event.ip or "", event.request_id,
            )  # fmt: skip
            writer.writerow([cell(value) for value in values])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        left -= len(rows)
        if len(rows) < CSV_PAGE:
            return
        last = str(rows[-1].id)


@require_safe
@page("read", atomic=False)
def event_csv(request: PageRequest) -> StreamingHttpResponse:
    """Return the log as CSV, newest first, up to 100,000 rows."""
    response = StreamingHttpResponse(csv_lines(request.access, Filter.read(request.GET)), content_type="text/csv")
    response.headers["Content-Disposition"] = 'attachment; filename="events.csv"'
    return response
