"""What a credential may not do does not exist for it; nobody approves here; another space is out of reach."""

from __future__ import annotations

import json
from typing import Any

import pytest

from accounts.permissions import FULL_SCOPES, SCOPES
from mcpserver.rows import ROWS
from tests.factories import People, key_create, memory_make
from tests.mcpserver.calls import calls_for, dream_of, proposal
from tests.mcpserver.client import Mcp
from tests.oauth.flow import Assistant

NAMES = {tool.name for tool in ROWS}
READ = {"get_context", "recall", "record_query", "kv_get", "action_list"}
SECRET = "zanzibar"


def test_full_key_sees_every_tool(people: People) -> None:
    assert Mcp(people.keys["owner"]).tools() == [tool.name for tool in ROWS]


def test_read_only_key_sees_only_read_tools(people: People) -> None:
    mcp = Mcp(people.keys["read"])

    tools = mcp.result("tools/list")["tools"]
    assert {tool["name"] for tool in tools} == READ - {"action_list"}
    assert all(tool["annotations"]["readOnlyHint"] for tool in tools)


@pytest.mark.parametrize("tool", [tool.name for tool in ROWS if tool.name not in READ])
def test_read_only_key_cannot_call_the_others(people: People, tool: str) -> None:
    calls = dict(calls_for(people, Mcp(people.keys["owner"])))

    error = Mcp(people.keys["read"]).error("tools/call", {"name": tool, "arguments": calls[tool]})

    assert error["code"] == -32602


@pytest.mark.parametrize("scope", sorted(SCOPES))
def test_each_scope_alone_sees_only_the_tools_it_opens(people: People, scope: str) -> None:
    key = key_create(people.space, people.owner, scopes={scope})

    assert set(Mcp(key).tools()) == {tool.name for tool in ROWS if scope in tool.scopes}


@pytest.mark.parametrize("missing", sorted({scope for tool in ROWS for scope in tool.scopes}))
def test_no_tool_works_without_its_scopes(people: People, missing: str) -> None:
    mcp = Mcp(key_create(people.space, people.owner, scopes=FULL_SCOPES - {missing}))

    for tool in ROWS:
        if tool.scopes <= {missing}:
            assert mcp.error("tools/call", {"name": tool.name, "arguments": {}})["code"] == -32602


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        (["read"], READ - {"action_list"}),
        (["read", "propose"], READ | {"action_propose", "action_transition"}),
        (["read", "write", "propose"], NAMES),
        (["propose"], {"action_propose", "action_list", "action_transition"}),
    ],
)
def test_grant_sees_what_the_person_gave(people: People, settings: Any, given: list[str], seen: set[str]) -> None:
    settings.RATE_LIMIT_ON = False
    tokens = Assistant(people.owner).connect(people.space, given)

    assert set(Mcp(tokens["access_token"]).tools()) == seen


def test_grant_writes_under_its_tool_s_name(people: People, settings: Any) -> None:
    settings.RATE_LIMIT_ON = False
    tokens = Assistant(people.owner).connect(people.space, tool="desk-helper")

    fact = Mcp(tokens["access_token"]).call("remember", text="Olga prefers green tea")

    assert fact["source"]["tool"] == "desk-helper"
    assert fact["channel"] == "mcp"


# Nobody approves


@pytest.mark.parametrize("to", ["approved", "rejected"])
@pytest.mark.parametrize("kind", ["owner", "member", "tool"])
def test_nobody_decides_over_mcp(people: People, kind: str, to: str) -> None:
    action = Mcp(people.keys["member"]).call("action_propose", **proposal("first"))

    error = Mcp(people.keys[kind]).refused("action_transition", {"id": action["id"], "from": "pending", "to": to})

    assert error["code"] in {"forbidden", "invalid_transition"}
    assert error["details"]["page"].endswith(f"/a/{action['id']}")
    (listed,) = Mcp(people.keys["owner"]).call("action_list")["actions"]
    assert listed["status"] == "pending"


def test_key_that_decides_over_rest_has_no_way_here(people: People) -> None:
    action = Mcp(people.keys["owner"]).call("action_propose", **proposal("first"))
    both = key_create(people.space, people.owner, scopes={"actions:decide", "actions:execute"})
    move = {"id": action["id"], "from": "pending", "to": "approved"}

    alone = Mcp(people.keys["decide"])
    assert alone.tools() == ["action_list"]
    assert alone.error("tools/call", {"name": "action_transition", "arguments": move})["code"] == -32602
    assert Mcp(both).refused("action_transition", move)["code"] in {"forbidden", "invalid_transition"}


def test_grant_cannot_approve(people: People, settings: Any) -> None:
    settings.RATE_LIMIT_ON = False
    mcp = Mcp(Assistant(people.owner).connect(people.space)["access_token"])
    action = mcp.call("action_propose", **proposal("first"))

    error = mcp.refused("action_transition", {"id": action["id"], "from": "pending", "to": "approved"})

    assert error["code"] in {"forbidden", "invalid_transition"}


# Another space


def furnish(people: People) -> list[tuple[str, dict[str, Any]]]:
    """Fill the outsider's space with a secret word everywhere, and return arguments that name each of its things."""
    outside = Mcp(people.keys["outsider"])
    fact = outside.call("remember", text=f"The word is {SECRET}", subject=SECRET, tier="core", tags=[SECRET])
    memory = memory_make(people.access("outsider"), content=f"{SECRET} over OMP", namespace=SECRET)
    record = outside.call("record_put", collection=SECRET, key=SECRET, status="open", data={"word": SECRET})["record"]
    outside.call("journal_write", date="2026-06-29", summary=SECRET)
    outside.call("kv_set", ns=SECRET, key=SECRET, value=SECRET)
    secret = proposal(SECRET) | {"summary": SECRET, "payload": {"word": SECRET}}
    action = outside.call("action_propose", **secret)
    own = Mcp(people.keys["owner"]).call("action_propose", **proposal("own"))
    assert own["id"] == action["id"], "Short ids are counted in each space, so A1 names another action here."
    page = outside.call("record_query", collection=SECRET, limit=1)
    run = dream_elsewhere(people)
    return [
        ("get_context", {}),
        ("remember", {"text": f"The word is {SECRET}"[:4] + " other"}),
        ("recall", {}), ("recall", {"q": SECRET}), ("recall", {"subject": SECRET}), ("recall", {"tag": SECRET}),
        ("recall", {"tier": "core", "limit": 100}),
        ("forget", {"ids": [fact["id"], memory.id], "dry_run": True}), ("forget", {"ids": [fact["id"], memory.id]}),
        ("forget", {"query": SECRET, "scopes": ["memories", "records", "journal"], "dry_run": True}),
        ("forget", {"query": SECRET, "scopes": ["memories", "records", "journal"]}),
        ("journal_write", {"date": "2026-06-29", "summary": "mine", "merge": True}),
        ("record_put", {"collection": "mine", "key": "k"}),
        ("record_query", {"collection": SECRET}), ("record_query", {"collection": SECRET, "key": SECRET}),
        ("record_query", {"collection": SECRET, "cursor": page["next_cursor"] or "x"}),
        ("record_update", {"collection": SECRET, "id": record["id"], "status": "stolen"}),
        ("record_update", {"collection": SECRET, "id": record["id"], "expected_version": 1, "data": {"word": None}}),
        ("action_propose", proposal("mine")),
        ("action_list", {"status": "pending,approved,executing,done,failed,rejected,cancelled,expired"}),
        ("action_transition", {"id": "A2", "from": "pending", "to": "cancelled"}),
        ("action_transition", {"id": "A999", "from": "approved", "to": "executing"}),
        ("kv_get", {"ns": SECRET}), ("kv_get", {"ns": SECRET, "key": SECRET}),
        ("kv_set", {"ns": SECRET, "key": SECRET, "value": "other", "expected_version": 1}),
        ("dream_next_job", {}), ("dream_next_job", {"start_if_due": False}),
        ("dream_submit", {"run_id": run, "result": {"changes": []}}),
        ("dream_submit", {"run_id": run, "result": {"changes": [{"op": "expire", "id": fact["id"]}]}}),
    ]  # fmt: skip


def dream_elsewhere(people: People) -> str:
    """Return the id of a run that the outsider has leased."""
    return str(dream_of(people.access("outsider"), Mcp(people.keys["outsider"]))["run_id"])


def state(people: People) -> str:
    """Return what the outsider's space holds."""
    outside = Mcp(people.keys["outsider"])
    seen = [
        outside.call("recall", subject=SECRET, limit=100)["memories"],
        outside.call("record_query", collection=SECRET),
        outside.call("kv_get", ns=SECRET),
        outside.call("action_list"),
    ]
    for memory in seen[0]:
        memory.pop("recall_count"), memory.pop("last_recalled_at")
    return json.dumps(seen)


def test_every_tool_is_tried_on_another_space(people: People) -> None:
    assert {name for name, _ in furnish(people)} == NAMES


@pytest.mark.parametrize("era", ["handshake", "modern"])
def test_another_space_is_out_of_reach(people: People, era: str) -> None:
    attempts, mcp = furnish(people), Mcp(people.keys["owner"], era)
    before = state(people)

    for name, arguments in attempts:
        result = mcp.result("tools/call", {"name": name, "arguments": arguments})
        text = result["content"][0]["text"]
        # What the caller itself said may come back: the namespace or collection that it named.
        said = json.dumps(arguments).count(SECRET)
        assert text.count(SECRET) <= said, (name, arguments, text)
        assert f"The word is {SECRET}" not in text

    assert state(people) == before


def candidates(schema: dict[str, Any], named: list[Any]) -> list[Any]:
    """Return the values of an argument to try: what another space holds, in the type that the schema asks for."""
    kinds = {schema.get("type")} | {option.get("type") for option in schema.get("anyOf", [])}
    found: list[Any] = list(schema.get("enum", []))
    if "array" in kinds:
        found += [[value] for value in named]
    if "object" in kinds:
        found += [{"word": SECRET}]
    if "integer" in kinds:
        found += [1]
    if "boolean" in kinds:
        found += [True, False]
    return found + ([] if schema.get("enum") else named)


def test_no_argument_of_any_tool_reaches_another_space(people: People, settings: Any) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False
    attempts, mcp = furnish(people), Mcp(people.keys["owner"])
    named: list[Any] = [SECRET, "A2"]
    for _, arguments in attempts:
        for name in ("ids", "id", "run_id"):
            given = arguments.get(name, [])
            named += [value for value in (given if isinstance(given, list) else [given]) if value not in named]
    before, tried = state(people), set()

    for tool in mcp.result("tools/list")["tools"]:
        base = next(arguments for name, arguments in attempts if name == tool["name"])
        for argument, schema in tool["inputSchema"].get("properties", {}).items():
            for value in candidates(schema, named):
                arguments = base | {argument: value}
                result = mcp.result("tools/call", {"name": tool["name"], "arguments": arguments})
                text = result["content"][0]["text"]
                assert f"The word is {SECRET}" not in text, (tool["name"], arguments)
                tried.add((tool["name"], argument))

    assert {name for name, _ in tried} == NAMES - {"get_context"}
    assert len(tried) > 55
    assert state(people) == before
