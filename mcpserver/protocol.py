"""Names and numbers of the Model Context Protocol, in both of its eras, and the answers of JSON-RPC."""

from dataclasses import dataclass, field
from typing import Any, Literal

from django.conf import settings
from django.http import HttpResponse

from api.renderers import json_text

Era = Literal["handshake", "modern"]

#: Revisions that begin with `initialize`, oldest first.
HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
#: Revisions in which every request describes itself.
MODERN_VERSIONS = ("2026-07-28",)
SUPPORTED_VERSIONS = HANDSHAKE_VERSIONS + MODERN_VERSIONS

META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT = "io.modelcontextprotocol/clientInfo"
META_SERVER = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
RESOURCE_NOT_FOUND = -32002  # until 2025-11-25; the modern era says INVALID_PARAMS
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
# Refusals of HTTP itself, from the range that the protocol leaves to implementations.
UNAUTHORIZED = -32010
FORBIDDEN_ORIGIN = -32011
RATE_LIMITED = -32012
UNAVAILABLE = -32013

#: The HTTP status of a protocol error in the modern era; the handshake era answers 200.
MODERN_STATUS = {METHOD_NOT_FOUND: 404}

RequestId = str | int | None

SERVER_INFO = {"name": "commonplace", "title": "Commonplace", "version": settings.VERSION}
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}


class JsonText(str):
    """A result that is JSON text already."""


@dataclass
class ProtocolError(Exception):
    """A message that is answered by a JSON-RPC error; `status` is the one of the HTTP answer."""

    code: int
    message: str
    status: int = 400
    data: Any = None
    id: RequestId = None
    headers: dict[str, str] = field(default_factory=dict)

    def response(self) -> HttpResponse:
        """Return the HTTP answer."""
        error: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.data is not None:
            error["data"] = self.data
        body = {"jsonrpc": "2.0", "id": self.id, "error": error}
        return json_response(json_text(body), self.status, self.headers)


def json_response(text: str, status: int = 200, headers: dict[str, str] | None = None) -> HttpResponse:
    """Return JSON text as an answer that nobody may keep."""
    response = HttpResponse(text.encode(), content_type="application/json", status=status, headers=headers)
    response.headers["Cache-Control"] = "no-store"
    return response
