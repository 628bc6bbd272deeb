"""From an HTTP request to one JSON-RPC message: the rungs that a request climbs before its method is looked at."""

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Any

import pydantic_core
from django.conf import settings
from django.http import HttpRequest

from api.body import body_chunks
from api.errors import PayloadTooLarge
from mcpserver.protocol import (
    HANDSHAKE_VERSIONS,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    META_CAPABILITIES,
    META_CLIENT,
    META_VERSION,
    MODERN_VERSIONS,
    PARSE_ERROR,
    SUPPORTED_VERSIONS,
    UNSUPPORTED_VERSION,
    Era,
    ProtocolError,
    RequestId,
)

MAX_ID_CHARACTERS = 1_024
MAX_ID_BITS = 63
ACCEPTABLE = frozenset({"application/json", "application/*", "*/*"})
#: The parameter that the header Mcp-Name repeats, by method.
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
ENCODED = re.compile(r"=\?base64\?(.*)\?=")


@dataclass(frozen=True)
class Message:
    """A request, or a notification when it has no id."""

    method: str
    params: dict[str, Any]
    id: RequestId
    notification: bool


def body_read(request: HttpRequest) -> bytes:
    """Return the request's body. Raises ProtocolError with status 413, 415 or 406, in this order."""
    limit = settings.MAX_BODY_BYTES
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > limit:
        raise _too_large(limit)
    media_type = (request.content_type or "").lower()
    if media_type != "application/json" or request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise ProtocolError(
            INVALID_REQUEST, "Send the message as Content-Type: application/json, without Content-Encoding.", 415
        )
    accept = request.headers.get("Accept", "*/*")
    if ACCEPTABLE.isdisjoint(part.partition(";")[0].strip().lower() for part in accept.split(",")):
        raise ProtocolError(
            INVALID_REQUEST, "The answer is JSON: send Accept: application/json, text/event-stream.", 406
        )
    try:
        return b"".join(body_chunks(request, limit))
    except PayloadTooLarge:
        raise _too_large(limit) from None


def _too_large(limit: int) -> ProtocolError:
    return ProtocolError(INVALID_REQUEST, f"The message is larger than {limit} bytes.", 413)


def message_read(raw: bytes) -> Message:
    """Return the message in a body. Raises ProtocolError -32700 for what is no JSON, -32600 for no single message."""
    try:
        value = pydantic_core.from_json(raw, allow_inf_nan=False)
    except (ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "The body is no valid JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_REQUEST, "Send one JSON-RPC message, as an object; batches are not read.")
    method, given, params = value.get("method"), value.get("id"), value.get("params")
    identifier = given if _usable_id(given) else None
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, 'A message has "jsonrpc": "2.0" and a method.', id=identifier)
    if "id" in value and identifier is None:
        raise ProtocolError(INVALID_REQUEST, f"The id must be a whole number or up to {MAX_ID_CHARACTERS} characters.")
    if params is not None and not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "params must be an object.", id=identifier)
    return Message(method, params or {}, identifier, notification="id" not in value)


def _usable_id(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= MAX_ID_CHARACTERS
    return isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= MAX_ID_BITS


def era_of(request: HttpRequest, message: Message) -> Era:
    """Return the era that a request belongs to.

    A request is modern when its header names no handshake revision or its `_meta` names any revision: then a
    header that disagrees with `_meta` is told so.
    """
    header = request.headers.get("Mcp-Protocol-Version")
    meta = message.params.get("_meta")
    if header is not None and header not in HANDSHAKE_VERSIONS:
        return "modern"
    return "modern" if isinstance(meta, dict) and META_VERSION in meta else "handshake"


def modern_check(request: HttpRequest, message: Message) -> None:
    """Check what a modern request says about itself. Raises ProtocolError -32602, -32020 or -32022, in this order."""
    meta = message.params.get("_meta")
    if not isinstance(meta, dict):
        raise _invalid(message, f"params._meta must be an object with {META_VERSION} and {META_CAPABILITIES}.")
    for key in (META_VERSION, META_CAPABILITIES):
        if key not in meta:
            raise _invalid(message, f"params._meta lacks {key}.")
    version = meta[META_VERSION]
    expected = {"MCP-Protocol-Version": version, "Mcp-Method": message.method}
    name = message.params.get(NAMED[message.method]) if message.method in NAMED else None
    if name is not None:
        expected["Mcp-Name"] = name
    for header, value in expected.items():
        if header_value(request.headers.get(header)) != value:
            raise ProtocolError(HEADER_MISMATCH, f"The header {header} does not match the message.", id=message.id)
    if version not in MODERN_VERSIONS:
        raise ProtocolError(
            UNSUPPORTED_VERSION,
            "This revision of the protocol is not supported.",
            data={"supported": list(SUPPORTED_VERSIONS), "requested": version},
            id=message.id,
        )
    if not isinstance(meta[META_CAPABILITIES], dict) or not isinstance(meta.get(META_CLIENT, {}), dict):
        raise _invalid(message, f"{META_CAPABILITIES} and {META_CLIENT} in params._meta must be objects.")


def _invalid(message: Message, sentence: str) -> ProtocolError:
    return ProtocolError(INVALID_PARAMS, sentence, id=message.id)


def header_value(value: str | None) -> str | None:
    """Return what a header says: itself, or the UTF-8 text in its `=?base64?…?=`; None for a damaged one."""
    match = ENCODED.fullmatch(value or "")
    if match is None:
        return value
    try:
        decoded = base64.b64decode(match.group(1), validate=True)
        # Another spelling of the same bytes would be read differently by a stricter reader on the way.
        return decoded.decode() if base64.b64encode(decoded).decode() == match.group(1) else None
    except (binascii.Error, ValueError):
        return None
