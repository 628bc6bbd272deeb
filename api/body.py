"""Reading a request body: its size, type, encoding and JSON, each refused with its own status."""

from collections.abc import Iterator
from typing import Any

import pydantic_core
from django.http import HttpRequest

from api.errors import Invalid, PayloadTooLarge, UnsupportedMediaType

CHUNK = 64 * 1024
JSON_TYPES = frozenset({"application/json"})


def body_given(request: HttpRequest) -> bool:
    """Return whether the request has a body: one of some length, or one in chunks, whose length nobody knows yet."""
    length = (request.META.get("CONTENT_LENGTH") or "").strip()
    return length.strip("0") != "" if length else bool(request.META.get("HTTP_TRANSFER_ENCODING"))


def body_chunks(request: HttpRequest, limit: int, types: frozenset[str] = JSON_TYPES) -> Iterator[bytes]:
    """Yield the body in pieces of up to 64 KiB.

    Raises UnsupportedMediaType for another type or a Content-Encoding, PayloadTooLarge beyond `limit` bytes.
    """
    media_type = request.content_type or ""
    if media_type.lower() not in types and not media_type.lower().endswith("+json"):
        raise UnsupportedMediaType(
            f"Send the body as {' or '.join(sorted(types))}.", {"content_type": media_type[:100]}
        )
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body without Content-Encoding.")
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > limit:
        raise PayloadTooLarge(f"The body has {length} bytes; at most {limit} are allowed.", {"limit": limit})
    # A chunked body has no length: the server ends its own stream, which Django's wrapper would not read.
    chunked = not request.META.get("CONTENT_LENGTH") and request.META.get("wsgi.input_terminated")
    stream = request.META["wsgi.input"] if chunked else request
    return _limited(stream, limit)


def _limited(stream: Any, limit: int) -> Iterator[bytes]:
    seen = 0
    while chunk := stream.read(CHUNK):
        seen += len(chunk)
        if seen > limit:
            raise PayloadTooLarge(f"The body has more than {limit} bytes.", {"limit": limit})
        yield chunk


def json_decode(raw: bytes) -> Any:
    """Return the JSON value of a body. Raises Invalid for what is no JSON: NaN and lone surrogates included."""
    if not raw.strip():
        raise Invalid.field("body", "The body is empty. Send a JSON object.")
    try:
        return pydantic_core.from_json(raw, allow_inf_nan=False)
    except (ValueError, RecursionError) as error:
        # Of the parser's sentence only the place is shown: the rest could quote the body.
        place = str(error).rpartition(" at line ")[2] if " at line " in str(error) else ""
        where = f" (line {place})" if place else ""
        raise Invalid.field("body", f"The body is no valid JSON{where}.") from None


def json_body(request: HttpRequest, limit: int) -> tuple[bytes, dict[str, Any]]:
    """Return a request's body as bytes and as a JSON object. Raises Invalid, UnsupportedMediaType, PayloadTooLarge."""
    raw = b"".join(body_chunks(request, limit))
    value = json_decode(raw)
    if not isinstance(value, dict):
        raise Invalid.field("body", "The body must be a JSON object.")
    return raw, value
