"""A valid call of every tool, for clients that try them all."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.access import Access, space_transaction
from memories.models import Memory
from tests.factories import People
from tests.mcpserver.client import Mcp


def calls_for(people: People, mcp: Mcp) -> list[tuple[str, dict[str, Any]]]:
    """Return (tool, arguments) for each tool, each of which succeeds; what they name is made through `mcp` first."""
    dream = dream_of(people.access(), mcp)
    record = mcp.call("record_put", collection="tasks", key="first", status="open")["record"]
    action = mcp.call("action_propose", **proposal("first"))
    return [
        ("get_context", {}),
        ("remember", {"text": "Olga prefers green tea", "subject": "Olga", "tags": ["drinks"]}),
        ("recall", {"q": "tea", "limit": 5}),
        ("forget", {"query": "window plant", "scopes": ["memories", "journal"], "dry_run": True}),
        ("journal_write", {"date": "2026-06-29", "summary": "A quiet day"}),
        ("record_put", {"collection": "tasks", "key": "second", "data": {"title": "Water the plants"}}),
        ("record_query", {"collection": "tasks", "status": "open,done"}),
        ("record_update", {"collection": "tasks", "id": record["id"], "status": "done"}),
        ("kv_set", {"ns": "agent", "key": "cursor", "value": {"page": 3}}),
        ("kv_get", {"ns": "agent"}),
        ("action_propose", proposal("second")),
        ("action_list", {"status": "pending,approved"}),
        ("action_transition", {"id": action["id"], "from": "pending", "to": "cancelled"}),
        ("dream_next_job", {"start_if_due": False}),
        ("dream_submit", {"run_id": dream["run_id"], "result": {"changes": []}}),
    ]


def dream_of(access: Access, mcp: Mcp) -> dict[str, Any]:
    """Return the job of a dream that the credential has leased, over facts that are old enough."""
    for number in range(6):
        mcp.call("remember", text=f"Plant number {number} stands in the window")
    before = timezone.now() - timedelta(days=2)
    with space_transaction(access):
        Memory.objects.visible_to(access).update(created_at=before, updated_at=before)
    job: dict[str, Any] = mcp.call("dream_next_job")["job"]
    return job


def proposal(key: str) -> dict[str, Any]:
    """Return the arguments of a valid proposal."""
    payload = {"to": "ann@example.com", "text": "See you at ten."}
    return {"class": "email.send", "summary": "Write to Ann", "payload": payload, "idempotency_key": key}
