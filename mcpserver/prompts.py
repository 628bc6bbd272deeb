"""Prompts: one that loads what is remembered about a topic."""

from typing import Any

from accounts.access import Access
from mcpserver.protocol import INVALID_PARAMS, ProtocolError


def prompts_for(access: Access) -> list[dict[str, Any]]:
    """Return the prompts that an access may use."""
    return []


def prompt_get(access: Access, name: str, arguments: Any) -> dict[str, Any]:
    """Return a prompt with the memories about its topic. Raises ProtocolError -32602."""
    raise ProtocolError(INVALID_PARAMS, "There is no such prompt. prompts/list names those that there are.")
