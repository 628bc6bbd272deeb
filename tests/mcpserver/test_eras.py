"""What both eras answer, checked by the protocol's own types."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from mcp_types.methods import validate_server_result

from mcpserver.instructions import INSTRUCTIONS
from mcpserver.protocol import HANDSHAKE_VERSIONS, META_SERVER, MODERN_VERSIONS
from mcpserver.table import TOOLS
from tests.factories import People
from tests.mcpserver.calls import calls_for
from tests.mcpserver.client import Mcp

ERAS = [("handshake", version) for version in HANDSHAKE_VERSIONS] + [("modern", version) for version in MODERN_VERSIONS]
LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_initialize(people: People, version: str) -> None:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}

    result = Mcp(people.keys["owner"]).result("initialize", params)

    validate_server_result("initialize", version, result)
    assert result["protocolVersion"] == version
    assert result["instructions"] == INSTRUCTIONS


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", "x"])
def test_initialize_with_another_revision_offers_the_newest_that_has_it(people: People, version: str) -> None:
    assert (
        Mcp(people.keys["owner"]).result("initialize", {"protocolVersion": version})["protocolVersion"] == "2025-11-25"
    )


@pytest.mark.parametrize("params", [{}, {"protocolVersion": None}, {"protocolVersion": 1}, {"protocolVersion": ["x"]}])
def test_initialize_without_a_revision(people: People, params: dict[str, Any]) -> None:
    assert Mcp(people.keys["owner"]).error("initialize", params)["code"] == -32602


def test_ping(people: People) -> None:
    assert Mcp(people.keys["owner"]).result("ping") == {}


def test_discover(people: People) -> None:
    result = Mcp(people.keys["owner"], "modern").result("server/discover")

    validate_server_result("server/discover", "2026-07-28", result)
    assert "2026-07-28" in result["supportedVersions"]
    assert result["instructions"] == INSTRUCTIONS
    assert result["cacheScope"] == "private"
    assert result["_meta"][META_SERVER]["name"] == "commonplace"


def test_instructions_say_what_the_specification_s_page_says() -> None:
    for word in ("get_context", "remember", "recall", "action_propose", "action_transition", "data"):
        assert word in INSTRUCTIONS


@pytest.mark.parametrize(("era", "version"), ERAS)
@pytest.mark.parametrize("method", LISTS)
def test_lists(people: People, era: str, version: str, method: str) -> None:
    result = Mcp(people.keys["owner"], era).result(method)

    validate_server_result(method, version, result)
    if era == "modern":
        assert result["resultType"] == "complete"
        assert result["cacheScope"] == "private"
        assert result["ttlMs"] > 0
    else:
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(result)


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_every_tool_s_answer(people: People, era: str, version: str) -> None:
    mcp = Mcp(people.keys["owner"], era)

    for name, arguments in calls_for(people, mcp):
        result = mcp.result("tools/call", {"name": name, "arguments": arguments})

        validate_server_result("tools/call", version, result)
        assert result["isError"] is False, (name, result)
        assert [block["type"] for block in result["content"]] == ["text"]
        assert "structuredContent" not in result


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_error_of_a_tool(people: People, era: str, version: str) -> None:
    mcp = Mcp(people.keys["owner"], era)

    result = mcp.result("tools/call", {"name": "remember", "arguments": {}})

    validate_server_result("tools/call", version, result)
    error = mcp.refused("remember", {})
    assert error["code"] == "validation_error"
    assert error["details"] == {"fields": {"text": ["It is required."]}}
    assert "text: It is required." in error["message"]


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_prompt(people: People, era: str, version: str) -> None:
    mcp = Mcp(people.keys["owner"], era)
    mcp.call("remember", text="Olga prefers green tea")

    prompt = mcp.result("prompts/get", {"name": "load_memories", "arguments": {"topic": "tea"}})

    validate_server_result("prompts/get", version, prompt)
    assert "Olga prefers green tea" in prompt["messages"][0]["content"]["text"]


@pytest.mark.parametrize(("era", "version"), ERAS)
def test_resource(people: People, era: str, version: str) -> None:
    mcp = Mcp(people.keys["owner"], era)
    mcp.call("remember", text="Olga prefers green tea", tier="core")

    (resource,) = mcp.result("resources/list")["resources"]
    read = mcp.result("resources/read", {"uri": resource["uri"]})

    validate_server_result("resources/read", version, read)
    assert read["contents"][0]["mimeType"] == "application/json"
    assert json.loads(read["contents"][0]["text"])["core"][0]["text"] == "Olga prefers green tea"


@pytest.mark.parametrize(
    "arguments",
    [None, {}, {"topic": ""}, {"topic": " "}, {"topic": 1}, {"topic": "a", "b": "c"}, [], {"topic": "\x00"}],
)
def test_prompt_without_a_topic(people: People, arguments: Any) -> None:
    mcp = Mcp(people.keys["owner"])

    assert mcp.error("prompts/get", {"name": "load_memories", "arguments": arguments})["code"] == -32602


@pytest.mark.parametrize(("era", "code"), [("handshake", -32002), ("modern", -32602)])
def test_unknown_resource(people: People, era: str, code: int) -> None:
    error = Mcp(people.keys["owner"], era).error("resources/read", {"uri": "commonplace://other"})

    assert error["code"] == code
    assert error["data"] == {"uri": "commonplace://other"}


def test_unknown_prompt(people: People) -> None:
    assert Mcp(people.keys["owner"]).error("prompts/get", {"name": "other"})["code"] == -32602


def test_schemas_are_closed_and_of_the_named_dialect() -> None:
    for tool in TOOLS.values():
        jsonschema.Draft202012Validator.check_schema(tool.schema)
        assert tool.schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert tool.schema["type"] == "object"
        assert tool.schema["additionalProperties"] is False
        assert all(value["description"] for value in tool.schema["properties"].values())
        assert "$ref" not in str(tool.schema)
