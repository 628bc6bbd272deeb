"""Stored orders come back as data: escaped, under the notice, and without characters that nobody sees."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.text import INVISIBLE, NOTICE, text_clean
from tests.factories import People
from tests.mcpserver.client import Mcp
from tests.mcpserver.corpus import HOSTILE


def result_of(mcp: Mcp, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return a tool's answer as the text that a model reads and as the value that it is."""
    result = mcp.result("tools/call", {"name": tool, "arguments": arguments})
    assert len(result["content"]) == 1
    text: str = result["content"][0]["text"]
    value: dict[str, Any] = json.loads(text)
    assert result["isError"] is False, value
    return text, value


def check(text: str, value: dict[str, Any]) -> None:
    """Check that the notice comes first and that nothing invisible is left."""
    assert text.startswith('{"notice":' + json.dumps(NOTICE))
    assert next(iter(value)) == "notice"
    assert not INVISIBLE.search(text)


def strings_in(value: Any) -> list[str]:
    """Return every string in a JSON value."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [found for item in value.values() for found in strings_in(item)]
    return [found for item in value for found in strings_in(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_hostile_text(people: People, number: int) -> None:
    mcp, hostile = Mcp(people.keys["owner"]), HOSTILE[number]
    shown = text_clean(hostile)
    fact = mcp.call("remember", text=hostile, subject="orders", tier="core")
    mcp.call("journal_write", date="2026-06-29", summary=hostile, decisions=[hostile])
    mcp.call("record_put", collection="orders", key="k", data={"text": hostile})
    mcp.call("kv_set", ns="orders", key="k", value=hostile)
    mcp.call("action_propose", idempotency_key="k", summary=hostile, payload={"text": hostile}, **{"class": "orders"})

    for tool, arguments in {
        "recall": {"subject": "orders"},
        "record_query": {"collection": "orders"},
        "kv_get": {"ns": "orders", "key": "k"},
        "action_list": {},
        "get_context": {},
        "forget": {"ids": [fact["id"]], "dry_run": True},
        "journal_write": {"date": "2026-06-29", "open_loops": ["x"]},
    }.items():
        text, value = result_of(mcp, tool, **arguments)

        check(text, value)
        assert shown in strings_in(value), tool
        assert hostile == shown or hostile not in text
