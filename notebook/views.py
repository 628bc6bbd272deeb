"""/v1/journal: list, read, write, delete."""

from typing import ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import NotFound, PreconditionFailed
from api.pagination import next_link
from api.schemas import parse
from api.views import ApiView, etag, if_match
from notebook.journal import entry_delete, entry_get, entry_locked, entry_write, journal_list
from notebook.models import JournalEntry
from notebook.representation import entry_present
from notebook.schemas import JournalAddress, JournalParams, JournalPutParams, JournalText, JournalWrite


class JournalView(ApiView):
    """/v1/journal."""

    scopes: ClassVar = {"GET": "journal:read"}
    query_params = frozenset({"from", "to", "kind", "limit", "cursor"})

    def get(self, request: Request) -> Response:
        """List journal entries, the latest first."""
        page, cursor = journal_list(access=self.access, params=self.query(JournalParams))
        headers = {"Link": next_link(request._request, cursor)} if cursor else {}
        return Response({"entries": [entry_present(entry) for entry in page], "next_cursor": cursor}, headers=headers)


class JournalEntryView(ApiView):
    """/v1/journal/{kind}/{date}."""

    scopes: ClassVar = {"GET": "journal:read", "PUT": "journal:write", "DELETE": "journal:write"}
    query_params = frozenset(JournalPutParams.model_fields)

    def get(self, request: Request, kind: str, date: str) -> Response:
        """Return the entry of a day, or of the week that a day is in."""
        address = parse(JournalAddress, {"kind": kind, "date": date})
        entry = entry_get(access=self.access, kind=address.kind, day=address.date)
        return Response(entry_present(entry), headers=etag(entry.version))

    def put(self, request: Request, kind: str, date: str) -> Response:
        """Write the fields that the body gives; with `merge=true`, append them."""
        merge = self.query(JournalPutParams).merge == "true"
        self.body(JournalText)  # its errors name its own fields
        data = parse(JournalWrite, self.json() | {"kind": kind, "date": date, "merge": merge})
        if "If-Match" in request.headers:
            self._matching(request, entry_locked(access=self.access, kind=data.kind, day=data.date))
        entry, new = entry_write(access=self.access, data=data)
        return Response(entry_present(entry), status=201 if new else 200, headers=etag(entry.version))

    def delete(self, request: Request, kind: str, date: str) -> Response:
        """Delete the entry for good."""
        address = parse(JournalAddress, {"kind": kind, "date": date})
        entry = entry_locked(access=self.access, kind=address.kind, day=address.date)
        if entry is None:
            raise NotFound("There is no journal entry for this date.")
        if_match(request, entry.version)
        entry_delete(access=self.access, entry=entry)
        return Response(status=204)

    def _matching(self, request: Request, entry: JournalEntry | None) -> None:
        if entry is None:
            raise PreconditionFailed("If-Match is given and there is no entry for this date.")
        if_match(request, entry.version)
