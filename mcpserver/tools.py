"""A tool: what a model reads about it, and how it is called."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from django.db import connection, transaction
from django.http import HttpRequest
from pydantic import BaseModel

from accounts.access import Access
from api.errors import ApiError, Invalid, error_from
from api.middleware import log_details
from api.renderers import json_text
from api.schemas import parse
from mcpserver.arguments import input_schema

Kind = Literal["read", "add", "destroy", "step", "ai"]
HINTS: dict[Kind, dict[str, bool]] = {
    "read": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "add": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False},
    "destroy": {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False},
    "step": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
    "ai": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": True},
}
MAX_FIELDS_SHOWN = 20


@dataclass(frozen=True)
class Tool:
    """One row of the table of tools.

    Any one of `scopes` shows the tool to a credential. `texts` describes each argument. A tool that is not `atomic`
    waits for the work of others, so it runs after the request's transaction and opens its own.
    """

    name: str
    title: str
    description: str
    arguments: type[BaseModel]
    handler: Callable[[Access, Any], dict[str, Any]]
    scopes: frozenset[str]
    kind: Kind
    texts: dict[str, str] = field(default_factory=dict)
    atomic: bool = True

    @cached_property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return input_schema(self.arguments, self.texts)

    def present(self) -> dict[str, Any]:
        """Return the tool as tools/list shows it."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.schema,
            "annotations": {"title": self.title} | HINTS[self.kind],
        }


def tool_call(request: HttpRequest, access: Access, tool: Tool, arguments: Any) -> dict[str, Any]:
    """Return a tool's result, or its error as a result; an error undoes the request's transaction."""
    if tool.kind != "read":
        with connection.cursor() as cursor:
            # What is stored must be on the disk before it is confirmed; what only reads need not wait for it.
            cursor.execute("SET LOCAL synchronous_commit = on")
    try:
        return _outcome(request, tool, text_result(_run(access, tool, arguments)))
    except Exception as exception:
        transaction.set_rollback(True)
        return _failed(request, tool, exception)


def tool_call_later(request: HttpRequest, access: Access, tool: Tool, arguments: Any) -> dict[str, Any]:
    """Return the result, or the error, of a tool that opens its own transactions."""
    try:
        return _outcome(request, tool, text_result(_run(access, tool, arguments)))
    except Exception as exception:
        return _failed(request, tool, exception)


def _run(access: Access, tool: Tool, arguments: Any) -> dict[str, Any]:
    if arguments is not None and not isinstance(arguments, dict):
        raise Invalid.field("arguments", "It must be an object.")
    return tool.handler(access, parse(tool.arguments, arguments or {}))


def _failed(request: HttpRequest, tool: Tool, exception: Exception) -> dict[str, Any]:
    error = error_from(exception)
    return _outcome(request, tool, text_result({"error": error_present(error)}, is_error=True), error.code)


def _outcome(request: HttpRequest, tool: Tool, result: dict[str, Any], code: str = "ok") -> dict[str, Any]:
    log_details(request, mcp_tool=tool.name, mcp_outcome=code)
    return result


def text_result(value: dict[str, Any], *, is_error: bool = False) -> dict[str, Any]:
    """Return a tool result: the value as JSON in one block of text."""
    return {"content": [{"type": "text", "text": json_text(value)}], "isError": is_error}


def error_present(error: ApiError) -> dict[str, Any]:
    """Return {code, message, details} of an error; the message of a validation error says what is wrong."""
    details, message = error.details, error.message
    fields = details.get("fields")
    if isinstance(error, Invalid) and isinstance(fields, dict):
        shown = dict(list(fields.items())[:MAX_FIELDS_SHOWN])
        details = details | {"fields": shown}
        sentences = [f"{name}: {' '.join(texts)}" for name, texts in shown.items()]
        message = f"These arguments do not fit. {' '.join(sentences)}"
    return {"code": error.code, "message": message, "details": details}
