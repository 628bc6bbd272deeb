"""The table of tools: what each is called, what a model reads about it, and who may use it."""

from functools import cache

from django.conf import settings

from accounts.access import Access
from mcpserver.rows import AI_ROWS, ROWS
from mcpserver.tools import Tool

TOOLS: dict[str, Tool] = {tool.name: tool for tool in [*ROWS, *(AI_ROWS if settings.MCP_AI_TOOLS else [])]}


def tool_names(access: Access) -> tuple[str, ...]:
    """Return the names of the tools that an access may use, in the table's order; the others do not exist for it."""
    return _names(access.scopes)


@cache
def _names(scopes: frozenset[str]) -> tuple[str, ...]:
    return tuple(name for name, tool in TOOLS.items() if not tool.scopes.isdisjoint(scopes))
