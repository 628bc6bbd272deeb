"""Keyset cursors: a walk sees each row once while others write."""

import base64
import hashlib
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from api.errors import Invalid
from api.text import text_problem


def cursor_damaged() -> Invalid:
    """Return the error for a cursor that this service did not make."""
    return Invalid.field("cursor", "It is damaged. Take it from Link or next_cursor unchanged.")


def cursor_time(text: str) -> datetime:
    """Return the time in UTC that a cursor holds as ISO 8601. Raises Invalid."""
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise cursor_damaged() from None


def _mark(filters: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(filters, sort_keys=True, default=str).encode()).hexdigest()[:12]


def cursor_encode(position: list[Any], filters: dict[str, Any]) -> str:
    """Return an opaque cursor: the last row's sort values, tied to the filters it was made with."""
    text = json.dumps([_mark(filters), *position], ensure_ascii=False, separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def cursor_decode(cursor: str, filters: dict[str, Any], kinds: tuple[type, ...]) -> list[Any]:
    """Return the sort values that a cursor holds, one of each of `kinds` (datetime: a time in UTC).

    A cursor is not signed: whatever a client puts into one must be as harmless as a filter. Raises Invalid for a
    damaged cursor and for one made with other filters.
    """
    try:
        mark, *position = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, TypeError, RecursionError):
        raise cursor_damaged() from None
    if len(position) != len(kinds):
        raise cursor_damaged()
    values = [_value(value, kind) for value, kind in zip(position, kinds, strict=True)]
    if mark != _mark(filters):
        raise Invalid.field("cursor", "It belongs to other filters. Begin again without a cursor.")
    return values


def _value(value: Any, kind: Any) -> Any:
    """Return one sort value, checked like any other input. Raises Invalid."""
    stored = str if kind is datetime else kind
    if not isinstance(value, stored) or isinstance(value, bool):
        raise cursor_damaged()
    if isinstance(value, str) and text_problem(value):
        raise cursor_damaged()
    return cursor_time(value) if kind is datetime else value


def next_link(request: HttpRequest, cursor: str) -> str:
    """Return the value of a Link header that leads to the next page."""
    query = [(name, value) for name, value in request.GET.items() if name not in {"cursor", "offset"}]
    url = request.build_absolute_uri(request.path)
    return f'<{url}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'
