"""The journal by day and week, records as tables, key-value state: read and corrected by people."""

import json
from datetime import date
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.dateparse import parse_date
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.pageviews import PageRequest, page
from api.body import json_decode
from api.errors import ApiError, Conflict, Invalid, NotFound
from api.schemas import parse
from notebook.journal import entry_delete, entry_get, entry_locked, journal_list
from notebook.kv import kv_delete, namespaces_list, value_get
from notebook.models import JournalEntry, KeyValue, Record
from notebook.records import collections_list, record_delete, record_locked
from notebook.schemas import JournalParams, JournalWrite, KvSet, RecordQuery, RecordUpdate
from notebook.services import journal_write, kv_set, record_update, records_query

KINDS = {"": "Days and weeks", "day": "Days", "week": "Weeks"}
ENTRIES = 30
RECORDS = 50
COLUMNS = 5  # as many fields of the records as a table shows
KEYS = 200


def sentences(error: ApiError) -> list[str]:
    """Return what is wrong, in the words of the error."""
    fields = error.details.get("fields", {}) if isinstance(error, Invalid) else {}
    return [f"{name}: {text}" for name, texts in fields.items() for text in texts] or [error.message]


# The journal


@require_safe
@page("read")
def journal(request: PageRequest) -> HttpResponse:
    """Show the journal, newest first."""
    kind = request.GET.get("kind", "")
    asked: dict[str, Any] = {"limit": ENTRIES}
    asked |= {"kind": kind} if kind else {}
    asked |= {"cursor": request.GET["cursor"]} if request.GET.get("cursor") else {}
    entries, cursor = journal_list(access=request.access, params=parse(JournalParams, asked))
    older = "?" + urlencode([("kind", kind), ("cursor", cursor)]) if cursor else ""
    context = {"entries": entries, "older": older, "kind": kind, "kinds": KINDS, "first": not request.GET.get("cursor")}
    return render(request, "notebook/journal.html", context)


def day_of(text: str) -> date:
    """Return the date of an address. Raises NotFound."""
    try:
        day = parse_date(text)
    except ValueError:
        day = None
    if day is None:
        raise NotFound()
    return day


@require_http_methods(["GET", "HEAD", "POST"])
@page("write")
def journal_edit(request: PageRequest, kind: str, day: str) -> HttpResponse:
    """Correct one entry, or write it when there is none."""
    access, when = request.access, day_of(day)
    entry = entry_locked(access=access, kind=kind, day=when)
    errors: list[str] = []
    values: dict[str, Any] = {
        "summary": entry.summary if entry else "", "decisions": "\n".join(entry.decisions) if entry else "",
        "open_loops": "\n".join(entry.open_loops) if entry else "",
    }  # fmt: skip
    if request.method == "POST":
        values = {name: request.POST.get(name, "").replace("\r\n", "\n") for name in values}
        body = {
            "date": when.isoformat(), "kind": kind, "summary": values["summary"],
            "decisions": lines(values["decisions"]), "open_loops": lines(values["open_loops"]),
        }  # fmt: skip
        try:
            journal_write(access=access, data=parse(JournalWrite, body))
        except ApiError as error:
            errors = sentences(error)
        else:
            messages.success(request, "Saved.")
            return redirect("journal")
    context = {"kind": kind, "day": when, "values": values, "errors": errors, "entry": entry}
    return render(request, "notebook/journal_edit.html", context, status=422 if errors else 200)


def lines(text: str) -> list[str]:
    """Return the lines of a text that are not blank."""
    return [line.strip() for line in text.split("\n") if line.strip()]


@require_POST
@page("write")
def journal_delete(request: PageRequest, kind: str, day: str) -> HttpResponse:
    """Delete one entry."""
    entry: JournalEntry = entry_get(access=request.access, kind=kind, day=day_of(day))
    entry_delete(access=request.access, entry=entry)
    messages.success(request, "The entry is deleted.")
    return redirect("journal")


# Records


@require_safe
@page("read")
def collections(request: PageRequest) -> HttpResponse:
    """List the collections of records."""
    return render(request, "notebook/collections.html", {"collections": collections_list(access=request.access)})


@require_safe
@page("read")
def records(request: PageRequest) -> HttpResponse:
    """Show the collection that the query names as a table, what is due first."""
    collection = request.GET.get("name", "")
    status = request.GET.get("status", "")
    asked: dict[str, Any] = {"collection": collection, "limit": RECORDS}
    asked |= {"status": status} if status else {}
    asked |= {"cursor": request.GET["cursor"]} if request.GET.get("cursor") else {}
    rows, cursor = records_query(access=request.access, params=parse(RecordQuery, asked))
    names: dict[str, int] = {}
    for row in rows:
        for name in row.data:
            names[name] = names.get(name, 0) + 1
    columns = sorted(names, key=lambda name: -names[name])[:COLUMNS]
    found = Record.objects.visible_to(request.access).filter(collection=collection)
    context = {
        "collection": collection, "status": status, "columns": columns,
        "statuses": found.order_by("status").values_list("status", flat=True).distinct()[:20],
        "rows": [(row, [(name, cell(row.data.get(name))) for name in columns]) for row in rows],
        "older": "?" + urlencode([("name", collection), ("status", status), ("cursor", cursor)]) if cursor else "",
    }  # fmt: skip
    return render(request, "notebook/records.html", context)


def cell(value: Any) -> str:
    """Return a value of a record for a cell of the table."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 120 else text[:119] + "…"


def record_shown(request: PageRequest, record_id: str) -> Record:
    """Return a record by its id alone. Raises NotFound."""
    rows = Record.objects.visible_to(request.access).filter(id=record_id[:20])
    row: Record | None = rows.first()
    if row is None:
        raise NotFound()
    return row


@require_http_methods(["GET", "HEAD", "POST"])
@page("read")
def record(request: PageRequest, record_id: str) -> HttpResponse:
    """Show one record; whoever may write changes its status and data."""
    access = request.access
    row = record_shown(request, record_id)
    errors: list[str] = []
    text = json.dumps(row.data, ensure_ascii=False, indent=2)
    if request.method == "POST" and "write" in request.may:
        text = request.POST.get("data", "")
        try:
            record_update(access=access, data=parse(RecordUpdate, record_changes(request, row, text)))
        except ApiError as error:
            errors = sentences(error)
        else:
            messages.success(request, "Saved.")
            return redirect("record-page", record_id)
    elif request.method == "POST":
        return render(request, "403.html", {"role": access.role}, status=403)
    context = {"record": row, "text": text, "errors": errors, "may_write": "write" in request.may}
    return render(request, "notebook/record.html", context, status=422 if errors else 200)


def record_changes(request: PageRequest, row: Record, text: str) -> dict[str, Any]:
    """Return the body of the update that a form asks for; a field that is gone from the text is removed."""
    try:
        data = json_decode(text.encode())
    except Invalid:
        raise Invalid("The data is no valid JSON, or is nested too deeply.") from None
    if not isinstance(data, dict):
        raise Invalid("The data must be a JSON object, in braces.")
    version = request.POST.get("version", "")
    return {
        "collection": row.collection, "id": row.id, "status": request.POST.get("status", "").strip() or row.status,
        "data": {name: None for name in row.data if name not in data} | data,
        "expected_version": int(version) if version.isdecimal() and len(version) < 18 else row.version,
    }  # fmt: skip


@require_POST
@page("write")
def record_remove(request: PageRequest, record_id: str) -> HttpResponse:
    """Delete one record."""
    shown = record_shown(request, record_id)
    row = record_locked(access=request.access, collection=shown.collection, id=shown.id)
    record_delete(access=request.access, record=row)
    messages.success(request, "The record is deleted.")
    return redirect(f"/records/in?{urlencode({'name': row.collection})}")


# Key-value state


@require_safe
@page("read")
def kv(request: PageRequest) -> HttpResponse:
    """List the namespaces, and the values of the one that was chosen."""
    ns = request.GET.get("ns", "")
    values = KeyValue.objects.visible_to(request.access).filter(ns=ns, deleted=False).order_by("key")[:KEYS]
    context = {"namespaces": namespaces_list(access=request.access), "ns": ns, "values": values if ns else []}
    return render(request, "notebook/kv.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@page("write")
def kv_edit(request: PageRequest) -> HttpResponse:
    """Set one value by hand; `ns` and `key` in the query choose it."""
    ns, key = request.GET.get("ns", ""), request.GET.get("key", "")
    errors: list[str] = []
    text, version = "", 0
    if key:
        value = value_get(access=request.access, ns=ns, key=key)
        text, version = json.dumps(value.value, ensure_ascii=False, indent=2), value.version
    if request.method == "POST":
        text = request.POST.get("value", "")
        ns, key = request.POST.get("ns", ns).strip(), request.POST.get("key", key).strip()
        try:
            kv_set(access=request.access, data=parse(KvSet, kv_body(request, ns, key, text)))
        except ApiError as error:
            errors = sentences(error)
        else:
            messages.success(request, "Saved.")
            return redirect(f"/kv?{urlencode({'ns': ns})}")
    context = {"ns": ns, "key": key, "text": text, "version": version, "errors": errors}
    return render(request, "notebook/kv_edit.html", context, status=422 if errors else 200)


def kv_body(request: PageRequest, ns: str, key: str, text: str) -> dict[str, Any]:
    """Return the arguments of kv_set that a form asks for."""
    try:
        value = json_decode(text.encode())
    except Invalid:
        raise Invalid(
            'The value is no valid JSON, or is nested too deeply. Text goes in quotation marks, like "this".'
        ) from None
    version = request.POST.get("version", "")
    known = version.isdecimal() and 0 < len(version) < 18
    return {"ns": ns, "key": key, "value": value} | ({"expected_version": int(version)} if known else {})


@require_POST
@page("write")
def kv_remove(request: PageRequest) -> HttpResponse:
    """Delete one value."""
    ns, key = request.POST.get("ns", ""), request.POST.get("key", "")
    try:
        kv_delete(access=request.access, ns=ns, key=key)
        messages.success(request, "The value is deleted.")
    except Conflict as error:
        messages.error(request, error.message)
    return redirect(f"/kv?{urlencode({'ns': ns})}")
