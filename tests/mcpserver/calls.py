"""A valid call of every tool, for clients that try them all."""

from __future__ import annotations

from typing import Any

from tests.mcpserver.client import Mcp


def calls_for(mcp: Mcp) -> list[tuple[str, dict[str, Any]]]:
    """Return (tool, arguments) for each tool, each of which succeeds; what they name is made through `mcp` first."""
    record = mcp.call("record_put", collection="tasks", key="first", status="open")["record"]
    action = mcp.call("action_propose", **proposal("first"))
    return [
        ("remember", {"text": "Olga prefers green tea", "subject": "Olga", "tags": ["drinks"]}),
        ("recall", {"q": "tea", "limit": 5}),
        ("journal_write", {"date": "2026-06-29", "summary": "A quiet day"}),
        ("record_put", {"collection": "tasks", "key": "second", "data": {"title": "Water the plants"}}),
        ("record_query", {"collection": "tasks", "status": "open,done"}),
        ("record_update", {"collection": "tasks", "id": record["id"], "status": "done"}),
        ("kv_set", {"ns": "agent", "key": "cursor", "value": {"page": 3}}),
        ("kv_get", {"ns": "agent"}),
        ("action_propose", proposal("second")),
        ("action_list", {"status": "pending,approved"}),
        ("action_transition", {"id": action["id"], "from": "pending", "to": "cancelled"}),
    ]


def proposal(key: str) -> dict[str, Any]:
    """Return the arguments of a valid proposal."""
    payload = {"to": "ann@example.com", "text": "See you at ten."}
    return {"class": "email.send", "summary": "Write to Ann", "payload": payload, "idempotency_key": key}
