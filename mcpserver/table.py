"""The table of tools by name, and which of them a credential sees."""

from functools import cache

from django.conf import settings

from accounts.access import Access
from mcpserver.rows import AI_ROWS, ROWS
from mcpserver.tools import Tool

TOOLS: dict[str, Tool] = {tool.name: tool for tool in [*ROWS, *AI_ROWS]}


def tool_names(access: Access) -> tuple[str, ...]:
    """Return the names of the tools that an access may use, in the table's order; the others do not exist for it."""
    return _names(access.scopes, settings.MCP_AI_TOOLS)


@cache
def _names(scopes: frozenset[str], with_ai: bool) -> tuple[str, ...]:
    rows = [*ROWS, *AI_ROWS] if with_ai else ROWS
    return tuple(tool.name for tool in rows if not tool.scopes.isdisjoint(scopes))
