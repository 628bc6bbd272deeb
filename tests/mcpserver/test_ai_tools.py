"""extract_memories and compress_conversation: there when the operator says so, and the worker does the work."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from aiworker.ai_views import waiting_place
from aiworker.fake.server import FakeProvider
from tests.aiworker.conftest import canned, found, provider, worker  # noqa: F401 - fixtures
from tests.factories import People
from tests.mcpserver.client import Mcp

AI = {"extract_memories", "compress_conversation"}
TRANSCRIPT = "Alice: I always use TypeScript. Bob: What about Python? Alice: Only for scripts."


def test_absent_unless_switched_on(people: People) -> None:
    mcp = Mcp(people.keys["owner"])

    assert not AI & set(mcp.tools())
    assert mcp.error("tools/call", {"name": "extract_memories", "arguments": {}})["code"] == -32602


def test_absent_without_the_scope(people: People, settings: Any) -> None:
    settings.MCP_AI_TOOLS = True

    assert set(Mcp(people.keys["owner"]).tools()) >= AI
    assert not AI & set(Mcp(people.keys["read"]).tools())


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_extract(people: People, settings: Any, provider: FakeProvider, era: str) -> None:  # noqa: F811
    settings.MCP_AI_TOOLS = True
    provider.answer = canned({"save_memories": {"memories": [found("Alice always uses TypeScript")]}})

    answer = Mcp(people.keys["owner"], era).call("extract_memories", transcript=TRANSCRIPT, source_tool="chat")

    assert next(iter(answer)) == "notice"
    assert answer["extracted"] == 1
    assert answer["memories"][0]["text"] == "Alice always uses TypeScript"
    assert answer["memories"][0]["source"]["tool"] == "chat"
    assert people.api().get(f"/v1/memories/{answer['memories'][0]['id']}").status_code == 200


def test_extract_after_the_wait_is_over(people: People, settings: Any) -> None:
    settings.MCP_AI_TOOLS, settings.AI_WAIT_SECONDS, settings.AI_API_KEY = True, 0, "sk-fake-ok"

    answer = Mcp(people.keys["owner"]).call("extract_memories", transcript=TRANSCRIPT)

    assert answer["job"]["status"] == "queued"
    assert people.api().get(f"/v1/jobs/{answer['job']['id']}").status_code == 200


def test_when_too_many_calls_wait_the_next_is_told_to_come_again(people: People, settings: Any) -> None:
    settings.MCP_AI_TOOLS, settings.AI_API_KEY = True, "sk-fake-ok"
    mcp = Mcp(people.keys["owner"])

    with ExitStack() as full:
        for _ in range(settings.AI_WAITING_REQUESTS):
            full.enter_context(waiting_place())
        error = mcp.refused("extract_memories", {"transcript": TRANSCRIPT})

    assert error["code"] == "rate_limited"


def test_without_a_provider_s_key(people: People, settings: Any) -> None:
    settings.MCP_AI_TOOLS, settings.AI_API_KEY = True, ""

    error = Mcp(people.keys["owner"]).refused("compress_conversation", {"transcript": TRANSCRIPT})

    assert error["code"] == "no_api_key"


@pytest.mark.parametrize("arguments", [{}, {"transcript": ""}, {"transcript": 1}, {"transcript": "x", "api_key": "sk"}])
def test_bad_arguments(people: People, settings: Any, arguments: dict[str, Any]) -> None:
    settings.MCP_AI_TOOLS = True

    assert Mcp(people.keys["owner"]).refused("extract_memories", arguments)["code"] == "validation_error"
