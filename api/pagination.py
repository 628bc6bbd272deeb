"""Keyset cursors: a walk sees each row once while others write."""

import base64
import hashlib
import json
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest

from api.errors import Invalid


def _mark(filters: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(filters, sort_keys=True, default=str).encode()).hexdigest()[:12]


def cursor_encode(position: list[Any], filters: dict[str, Any]) -> str:
    """Return an opaque cursor: the last row's sort values, tied to the filters it was made with."""
    text = json.dumps([_mark(filters), *position], separators=(",", ":"), default=str)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def cursor_decode(cursor: str, filters: dict[str, Any], kinds: tuple[type, ...]) -> list[Any]:
    """Return the sort values that a cursor holds, one of each of `kinds`.

    Raises Invalid for a damaged cursor and for one made with other filters.
    """
    try:
        mark, *position = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True))
    except (ValueError, TypeError):
        raise Invalid.field("cursor", "It is damaged. Take it from Link or next_cursor unchanged.") from None
    if len(position) != len(kinds) or not all(
        isinstance(value, kind) and not isinstance(value, bool) for value, kind in zip(position, kinds, strict=True)
    ):
        raise Invalid.field("cursor", "It is damaged. Take it from Link or next_cursor unchanged.")
    if mark != _mark(filters):
        raise Invalid.field("cursor", "It belongs to other filters. Begin again without a cursor.")
    return list(position)


def next_link(request: HttpRequest, cursor: str) -> str:
    """Return the value of a Link header that leads to the next page."""
    query = [(name, value) for name, value in request.GET.items() if name not in {"cursor", "offset"}]
    url = request.build_absolute_uri(request.path)
    return f'<{url}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'
