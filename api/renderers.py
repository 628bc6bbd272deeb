"""JSON out: compact UTF-8, times in one form."""

import json
from datetime import datetime
from typing import Any

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer

from api.timestamps import timestamp_format


def _default(value: Any) -> str:
    if isinstance(value, datetime):
        return timestamp_format(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def json_text(data: Any) -> str:
    """Return data as compact JSON text; times become RFC 3339 in UTC."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=_default)


class JsonRenderer(BaseRenderer):
    """Renders every answer of the API as application/json."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the body's bytes; a replayed answer comes back as it was stored."""
        response = (renderer_context or {}).get("response")
        stored: bytes | None = getattr(response, "stored_body", None)
        if stored is not None:
            return stored
        return b"" if data is None else json_text(data).encode()


class JsonOnly(BaseContentNegotiation):
    """Answers JSON whatever Accept says: every client of this API reads nothing else."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        """Return None: bodies are read by api.body."""
        return None

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        """Return the JSON renderer."""
        return renderers[0], renderers[0].media_type
