"""A valid call of every tool, for clients that try them all."""

from __future__ import annotations

from typing import Any

from tests.mcpserver.client import Mcp


def calls_for(mcp: Mcp) -> list[tuple[str, dict[str, Any]]]:
    """Return (tool, arguments) for each tool, each of which succeeds; what they name is made through `mcp` first."""
    record = mcp.call("record_put", collection="tasks", key="first", status="open")["record"]
    return [
        ("remember", {"text": "Olga prefers green tea", "subject": "Olga", "tags": ["drinks"]}),
        ("recall", {"q": "tea", "limit": 5}),
        ("journal_write", {"date": "2026-06-29", "summary": "A quiet day"}),
        ("record_put", {"collection": "tasks", "key": "second", "data": {"title": "Water the plants"}}),
        ("record_query", {"collection": "tasks", "status": "open,done"}),
        ("record_update", {"collection": "tasks", "id": record["id"], "status": "done"}),
        ("kv_set", {"ns": "agent", "key": "cursor", "value": {"page": 3}}),
        ("kv_get", {"ns": "agent"}),
    ]
