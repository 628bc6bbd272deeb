"""Bad arguments are results that say what is wrong; nothing that a client sends fails the server."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from mcpserver.rows import ROWS
from tests.factories import People
from tests.mcpserver.calls import calls_for
from tests.mcpserver.client import Mcp

TOOLS = {tool.name: tool for tool in ROWS}
DEEP: Any = "x"
for _ in range(60):
    DEEP = {"a": [DEEP]}

#: Values that fit almost no argument.
VALUES: list[Any] = [
    None, True, 0, -1, 1.5, 10**30, 2**63, "", " ", "\x00", "x" * 20_001, "20", "not-a-date", "A0", "A-1", "mem_", [],
    {}, [[]], [None], ["\x00"], {"\x00": 1}, {"a": "\x00"}, {"": ""}, DEEP, ["x"] * 1_001, "2026-13-45", "-infinity",
    "'; DROP TABLE memories_memory; --", "%", "\\", "😀", "\u202e", {"$ne": None},
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_rate_limit(settings: Any) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False


def outcome(mcp: Mcp, tool: str, arguments: Any) -> tuple[bool, dict[str, Any]]:
    """Return whether a call failed, and its answer; the server answers every call as the protocol says."""
    response = mcp.request("tools/call", {"name": tool, "arguments": arguments})
    assert response.status_code == 200, (tool, arguments, response.content)
    result = response.json()["result"]
    value: dict[str, Any] = json.loads(result["content"][0]["text"])
    return result["isError"], value


@pytest.mark.parametrize("tool", TOOLS)
def test_no_value_fails_the_server(people: People, tool: str) -> None:
    mcp = Mcp(people.keys["owner"])
    valid = dict(calls_for(people, mcp)).get(tool, {})

    for name in TOOLS[tool].schema["properties"]:
        for value in VALUES:
            failed, answer = outcome(mcp, tool, valid | {name: value})

            if failed:
                error = answer["error"]
                assert set(error) == {"code", "message", "details"}
                assert error["code"] != "internal_error", (tool, name, value, error)
                assert error["message"].endswith("."), error


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("arguments", [[], "text", 1, True, [{}]])
def test_arguments_that_are_no_object(people: People, tool: str, arguments: Any) -> None:
    failed, answer = outcome(Mcp(people.keys["owner"]), tool, arguments)

    assert failed
    assert answer["error"]["code"] == "validation_error"


@pytest.mark.parametrize("tool", TOOLS)
def test_argument_that_does_not_exist(people: People, tool: str) -> None:
    mcp = Mcp(people.keys["owner"])
    valid = dict(calls_for(people, mcp)).get(tool, {})

    failed, answer = outcome(mcp, tool, valid | {"surprise": 1})

    assert failed
    assert answer["error"]["details"]["fields"] == {"surprise": ["There is no such field here."]}


@pytest.mark.parametrize("tool", [name for name, tool in TOOLS.items() if tool.schema.get("required")])
def test_argument_that_is_missing(people: People, tool: str) -> None:
    failed, answer = outcome(Mcp(people.keys["owner"]), tool, {})

    assert failed
    assert set(answer["error"]["details"]["fields"]) == set(TOOLS[tool].schema["required"])


def test_unknown_arguments_by_the_thousand_are_named_up_to_a_limit(people: People) -> None:
    failed, answer = outcome(Mcp(people.keys["owner"]), "recall", {f"a{number}": 1 for number in range(2_000)})

    assert failed
    assert len(answer["error"]["details"]["fields"]) == 20


def test_what_the_schemas_allow_is_what_the_server_takes(people: People) -> None:
    mcp = Mcp(people.keys["owner"])

    for tool, arguments in calls_for(people, mcp):
        jsonschema.Draft202012Validator(TOOLS[tool].schema).validate(arguments)
        failed, answer = outcome(mcp, tool, arguments)
        assert not failed, (tool, answer)


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("record_update", {"collection": "tasks", "id": "rec_none"}, "not_found"),
        ("kv_get", {"ns": "none", "key": "none"}, "not_found"),
        ("kv_get", {"ns": "_system"}, "forbidden"),
        ("kv_set", {"ns": "_system", "key": "k", "value": 1}, "forbidden"),
        ("kv_set", {"ns": "a", "key": "k", "value": 1, "expected_version": 7}, "version_conflict"),
        ("kv_set", {"ns": "a", "key": "k", "value": "x" * 70_000}, "payload_too_large"),
        ("action_transition", {"id": "A9", "from": "pending", "to": "cancelled"}, "not_found"),
        ("dream_submit", {"run_id": "dream_none", "result": {"changes": []}}, "not_found"),
        ("remember", {"text": "x" * 10_001}, "validation_error"),
    ],
)
def test_codes_are_those_of_rest(people: People, tool: str, arguments: dict[str, Any], code: str) -> None:
    failed, answer = outcome(Mcp(people.keys["owner"]), tool, arguments)

    assert failed
    assert answer["error"]["code"] == code


def test_failed_call_leaves_nothing_behind(people: People) -> None:
    mcp = Mcp(people.keys["owner"])
    record = mcp.call("record_put", collection="tasks", key="k", data={"a": 1})["record"]
    arguments = {"collection": "tasks", "id": record["id"], "data": {"a": 2}, "expected_version": 9}

    assert mcp.refused("record_update", arguments)["code"] == "version_conflict"

    assert mcp.call("record_query", collection="tasks")["records"][0]["data"] == {"a": 1}


def test_one_log_line_without_content(people: People, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "commonplace.request")

    Mcp(people.keys["owner"]).call("remember", text="a word that no log may hold", subject="unlogged")

    (record,) = [record for record in caplog.records if record.name == "commonplace.request"]
    line = str(record.__dict__)
    assert (record.__dict__["mcp_tool"], record.__dict__["mcp_outcome"]) == ("remember", "ok")
    assert "no log may hold" not in line
    assert "unlogged" not in line
    assert people.keys["owner"] not in line
