"""What each method of the protocol answers, by era."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest

from accounts.access import Access
from api.renderers import json_text
from mcpserver import prompts, resources
from mcpserver.envelope import Message
from mcpserver.instructions import INSTRUCTIONS
from mcpserver.protocol import (
    CAPABILITIES,
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    META_SERVER,
    SERVER_INFO,
    SUPPORTED_VERSIONS,
    Era,
    JsonText,
    ProtocolError,
)
from mcpserver.table import TOOLS, tool_names
from mcpserver.tools import tool_call, tool_call_later

# How long a client may keep an answer, in milliseconds. Lists depend on the credential, which may be narrowed.
LIST_TTL = 60_000
DISCOVERY_TTL = 300_000
RESOURCE_TTL = 0


@dataclass(frozen=True)
class Call:
    """One request, past every check of its envelope."""

    access: Access
    message: Message
    era: Era
    request: HttpRequest

    @property
    def params(self) -> dict[str, Any]:
        """Return the request's parameters."""
        return self.message.params

    def text(self, name: str) -> str:
        """Return a parameter that must be a string. Raises ProtocolError -32602."""
        value = self.params.get(name)
        if not isinstance(value, str):
            raise ProtocolError(INVALID_PARAMS, f"params.{name} must be a string.")
        return value

    def first_page(self) -> None:
        """Raise ProtocolError -32602 for a cursor: every list fits on one page, so none was ever given out."""
        if self.params.get("cursor") is not None:
            raise ProtocolError(INVALID_PARAMS, "Everything is on the first page; call without a cursor.")


Result = dict[str, Any] | JsonText | Callable[[], dict[str, Any]]


def complete(era: Era, result: dict[str, Any], ttl: int | None = None) -> dict[str, Any]:
    """Return a result with what the modern era adds; with `ttl` it is one that a client may keep."""
    if era == "handshake":
        return result
    added: dict[str, Any] = {"resultType": "complete", "_meta": {META_SERVER: SERVER_INFO}}
    if ttl is not None:
        added |= {"ttlMs": ttl, "cacheScope": "private"}
    return result | added


def initialize(call: Call) -> dict[str, Any]:
    """Answer the handshake: the client's revision when it is known, else the newest one that has a handshake."""
    wanted = call.text("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
        "capabilities": CAPABILITIES,
        "serverInfo": SERVER_INFO,
        "instructions": INSTRUCTIONS,
    }


def ping(call: Call) -> dict[str, Any]:
    """Answer that the server is there."""
    return {}


def discover(call: Call) -> dict[str, Any]:
    """Answer what the server is and which revisions it speaks."""
    result = {
        "supportedVersions": list(SUPPORTED_VERSIONS),
        "capabilities": CAPABILITIES,
        "instructions": INSTRUCTIONS,
    }
    return complete(call.era, result, DISCOVERY_TTL)


def tools_list(call: Call) -> JsonText:
    """Return the tools that the credential may use."""
    call.first_page()
    return tools_json(tool_names(call.access), call.era)


@cache
def tools_json(names: tuple[str, ...], era: Era) -> JsonText:
    """Return the result of tools/list for these tools, made once for each set of them."""
    return JsonText(json_text(complete(era, {"tools": [TOOLS[name].present() for name in names]}, LIST_TTL)))


def tools_call(call: Call) -> dict[str, Any] | Callable[[], dict[str, Any]]:
    """Return what a tool answers; its errors are answers too, for the model to read."""
    name = call.text("name")
    if name not in tool_names(call.access):
        raise ProtocolError(
            INVALID_PARAMS, "This credential has no tool of that name. tools/list names those that it may use."
        )
    tool, arguments = TOOLS[name], call.params.get("arguments")
    if tool.atomic:
        return complete(call.era, tool_call(call.request, call.access, tool, arguments))
    return lambda: complete(call.era, tool_call_later(call.request, call.access, tool, arguments))


def resources_list(call: Call) -> dict[str, Any]:
    """Return the resources that the credential may read."""
    call.first_page()
    return complete(call.era, {"resources": resources.resources_for(call.access)}, LIST_TTL)


def resource_templates_list(call: Call) -> dict[str, Any]:
    """Return no templates: there is one resource, and its address is fixed."""
    call.first_page()
    return complete(call.era, {"resourceTemplates": []}, LIST_TTL)


def resources_read(call: Call) -> dict[str, Any]:
    """Return a resource."""
    contents = resources.resource_read(call.access, call.text("uri"), call.era)
    return complete(call.era, {"contents": contents}, RESOURCE_TTL)


def prompts_list(call: Call) -> dict[str, Any]:
    """Return the prompts that the credential may use."""
    call.first_page()
    return complete(call.era, {"prompts": prompts.prompts_for(call.access)}, LIST_TTL)


def prompts_get(call: Call) -> dict[str, Any]:
    """Return a prompt, filled in."""
    return complete(call.era, prompts.prompt_get(call.access, call.text("name"), call.params.get("arguments")))


SHARED: dict[str, Callable[[Call], Result]] = {
    "tools/list": tools_list,
    "tools/call": tools_call,
    "resources/list": resources_list,
    "resources/templates/list": resource_templates_list,
    "resources/read": resources_read,
    "prompts/list": prompts_list,
    "prompts/get": prompts_get,
}
METHODS: dict[Era, dict[str, Callable[[Call], Result]]] = {
    "handshake": SHARED | {"initialize": initialize, "ping": ping},
    "modern": SHARED | {"server/discover": discover},
}
