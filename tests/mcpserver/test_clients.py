"""The official clients, against the running server: they list and call every tool."""

from __future__ import annotations

from typing import Any

import pytest

from mcpserver.instructions import INSTRUCTIONS
from mcpserver.rows import ROWS
from tests.coroutines import in_thread
from tests.factories import People
from tests.mcpserver.calls import calls_for
from tests.mcpserver.client import Mcp
from tests.mcpserver.clients import python2
from tests.mcpserver.tooling import NODE, TYPESCRIPT, client_run, node_install, python1_install

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture
def task(live_server: Any, people: People) -> dict[str, Any]:
    """Give what a client needs: the server's address, a key, and a valid call of every tool."""
    key = people.keys["owner"]
    return {"url": f"{live_server.url}/mcp", "key": key, "calls": calls_for(people, Mcp(key))}


def check(seen: dict[str, Any], version: str) -> None:
    """Check what a client saw."""
    assert seen["version"] == version
    assert seen["server"] == "commonplace"
    assert seen["instructions"] == INSTRUCTIONS
    assert set(seen["tools"]) == {tool.name for tool in ROWS}
    assert set(seen["answers"]) == {tool.name for tool in ROWS}
    assert [name for name, answer in seen["answers"].items() if answer["isError"]] == []
    assert seen["answers"]["recall"]["value"]["memories"][0]["text"] == "Olga prefers green tea"
    assert seen["resources"] == ["commonplace://context"]
    assert seen["contents"][0]["space"]["name"] == "Team"
    assert seen["prompts"] == ["load_memories"]
    assert "Olga prefers green tea" in seen["messages"][0]


@pytest.mark.parametrize(
    ("mode", "version"), [("auto", "2026-07-28"), ("2026-07-28", "2026-07-28"), ("legacy", "2025-11-25")]
)
def test_python_2(task: dict[str, Any], mode: str, version: str) -> None:
    seen = in_thread(python2.run(task["url"], task["key"], task["calls"], mode))

    if mode == "2026-07-28":
        # Pinned to a revision, this client asks the server nothing about itself.
        seen |= {"server": "commonplace", "instructions": INSTRUCTIONS}
    check(seen, version)


def test_python_1(task: dict[str, Any]) -> None:
    python = python1_install()

    seen = client_run([str(python), "tests/mcpserver/clients/python1.py"], TYPESCRIPT.parent.parent.parent, task)

    check(seen, "2025-11-25")


@pytest.mark.parametrize(
    ("client", "version"),
    [("1", "2025-11-25"), ("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("pin", "2026-07-28")],
)
def test_typescript(task: dict[str, Any], client: str, version: str) -> None:
    node_install()

    seen = client_run([str(NODE), "clients.mjs"], TYPESCRIPT, task | {"client": client})

    check(seen, version)
