"""The MCP endpoint as a client of either era calls it, message by message."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from mcpserver.protocol import META_CAPABILITIES, META_VERSION

MODERN = "2026-07-28"
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def modern_meta(version: str = MODERN) -> dict[str, Any]:
    """Return what every modern request says about itself."""
    return {META_VERSION: version, META_CAPABILITIES: {}}


@dataclass(frozen=True)
class Mcp:
    """POST /mcp with one credential; `era` decides what goes along with each request."""

    key: str | None
    era: str = "handshake"
    client: Client = field(default_factory=lambda: Client(raise_request_exception=False))

    def send(self, body: Any, *, content_type: str = "application/json", **headers: str) -> Any:
        """Return the response to a body: bytes as they are, anything else as JSON."""
        sent = {"Accept": "application/json, text/event-stream"}
        if self.key is not None:
            sent["Authorization"] = f"Bearer {self.key}"
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.client.generic("POST", "/mcp", data, content_type, headers=sent)

    def request(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> Any:
        """Return the response to a request with id 1, dressed for the era."""
        params = dict(params or {})
        if self.era == "modern":
            params["_meta"] = modern_meta()
            named = params.get(NAMED.get(method, ""))
            sent = {"Mcp_Protocol_Version": MODERN, "Mcp_Method": method}
            headers = sent | ({"Mcp_Name": named} if isinstance(named, str) else {}) | headers
        body = {"jsonrpc": "2.0", "id": 1, "method": method}
        return self.send(body | ({"params": params} if params else {}), **headers)

    def result(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the result of a request that succeeds."""
        response = self.request(method, params)
        body: dict[str, Any] = response.json()
        assert response.status_code == 200, body
        assert "result" in body, body
        result: dict[str, Any] = body["result"]
        return result

    def error(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the error of a request that fails."""
        error: dict[str, Any] = self.request(method, params).json()["error"]
        return error

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return what a tool answers, decoded; the call succeeds."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        value: dict[str, Any] = json.loads(result["content"][0]["text"])
        assert result["isError"] is False, value
        return value

    def refused(self, tool: str, arguments: Any) -> dict[str, Any]:
        """Return the error that a tool answers."""
        result = self.result("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"] is True, result
        error: dict[str, Any] = json.loads(result["content"][0]["text"])["error"]
        return error

    def tools(self) -> list[str]:
        """Return the names of the tools that the credential sees."""
        return [tool["name"] for tool in self.result("tools/list")["tools"]]
