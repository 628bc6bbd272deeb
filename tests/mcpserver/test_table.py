"""The table of tools beside the page that names them: arguments, defaults, enums, what is required, annotations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from api.text import NOTICE
from mcpserver.rows import ROWS
from tests.factories import People
from tests.mcpserver.calls import calls_for
from tests.mcpserver.client import Mcp

TOOLS = {tool.name: tool.present() for tool in ROWS}

#: For each tool of the page: its arguments in no order, and those that are required.
ARGUMENTS: dict[str, tuple[str, str]] = {
    "get_context": ("", ""),
    "remember": ("text subject tier tags source_ref pinned origin expires_at", "text"),
    "recall": ("q subject tier tag limit", ""),
    "forget": ("ids query scopes journal_mode dry_run", ""),
    "journal_write": ("date summary decisions open_loops source_refs kind merge", "date"),
    "record_put": ("collection key status due_at data origin", "collection"),
    "record_query": ("collection status key due_before limit cursor", "collection"),
    "record_update": ("collection id status due_at data expected_version", "collection id"),
    "action_propose": (
        "class summary payload idempotency_key preconditions meta expires_at",
        "class summary payload idempotency_key",
    ),
    "action_list": ("status limit", ""),
    "action_transition": ("id from to receipt", "id from to"),
    "kv_get": ("ns key", "ns"),
    "kv_set": ("ns key value expected_version", "ns key value"),
    "dream_next_job": ("start_if_due", ""),
    "dream_submit": ("run_id result", "run_id result"),
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "remember": {"tier": "long", "origin": "agent"},
    "recall": {"limit": 20},
    "forget": {"scopes": ["memories"], "journal_mode": "redact"},
    "journal_write": {"kind": "day"},
    "record_query": {"limit": 50},
    "action_list": {"status": "pending,approved,executing", "limit": 50},
    "dream_next_job": {"start_if_due": True},
}
STATUSES = ["pending", "approved", "rejected", "cancelled", "executing", "done", "failed", "expired"]
ENUMS: dict[str, dict[str, list[str]]] = {
    "remember": {"tier": ["core", "long", "scratch"], "origin": ["user", "agent"]},
    "recall": {"tier": ["core", "long", "scratch"]},
    "forget": {"scopes": ["memories", "records", "journal"], "journal_mode": ["redact", "delete"]},
    "journal_write": {"kind": ["day", "week"]},
    "record_put": {"origin": ["user", "agent"]},
    "action_transition": {"from": STATUSES, "to": STATUSES},
}
#: readOnlyHint, destructiveHint, idempotentHint.
HINTS = {
    (True, False, True): {"get_context", "recall", "record_query", "action_list", "kv_get"},
    (False, False, True): {"remember", "action_propose", "dream_next_job"},
    (False, True, False): {"journal_write", "record_put", "record_update", "kv_set", "forget", "dream_submit"},
    (False, False, False): {"action_transition"},
}
#: What the answers hold, in their order where the notice comes first.
MEMORY = [
    "id",
    "content",
    "type",
    "source",
    "tags",
    "namespace",
    "created_at",
    "updated_at",
    "expires_at",
    "metadata",
    "tier",
    "subject",
    "origin",
    "pinned",
    "source_ref",
    "status",
    "channel",
    "version",
    "recall_count",
    "last_recalled_at",
    "evidence_deleted",
    "text",
]
ACTION = [
    "id",
    "class",
    "summary",
    "status",
    "proposed_by",
    "expires_at",
    "payload",
    "preconditions",
    "meta",
    "idempotency_key",
    "decided_by",
    "receipt",
    "history",
    "created_at",
    "updated_at",
]
RECORD = ["id", "collection", "key", "status", "due_at", "data", "origin", "version", "created_at", "updated_at"]
ENTRY = ["kind", "date", "summary", "decisions", "open_loops", "source_refs", "version", "created_at", "updated_at"]
CONTEXT = ["today", "generated_at", "space", "core", "records", "actions", "journal", "kv", "dream", "truncated"]
ANSWERS: dict[str, list[str]] = {
    "get_context": [
        "today",
        "generated_at",
        "space",
        "core",
        "records",
        "actions",
        "journal",
        "kv",
        "dream",
        "truncated",
    ],
    "remember": [*MEMORY, "deduplicated"],
    "recall": ["memories"],
    "forget": ["dry_run", "memories", "records", "journal", "previews"],
    "journal_write": ENTRY,
    "record_put": ["record", "created"],
    "record_query": ["records", "next_cursor"],
    "record_update": RECORD,
    "action_propose": ACTION,
    "action_list": ["actions"],
    "action_transition": ACTION,
    "kv_get": ["ns", "values"],
    "kv_set": ["ns", "key", "value", "version", "updated_at"],
    "dream_next_job": ["job", "due"],
    "dream_submit": ["run_id", "status", "applied", "rejected"],
}
INNER = {"recall": ("memories", MEMORY), "record_query": ("records", RECORD), "action_list": ("actions", ACTION)}


def test_there_are_the_fifteen_of_the_page_in_its_order() -> None:
    assert list(TOOLS) == list(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name: str) -> None:
    schema = TOOLS[name]["inputSchema"]
    every, required = (text.split() for text in ARGUMENTS[name])

    assert set(schema["properties"]) == set(every)
    assert set(schema.get("required", [])) == set(required)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_defaults_and_enums(name: str) -> None:
    properties = TOOLS[name]["inputSchema"]["properties"]
    defaults = {key: value["default"] for key, value in properties.items() if "default" in value}
    enums = {key: value.get("items", value).get("enum") for key, value in properties.items()}

    assert defaults == DEFAULTS.get(name, {})
    assert {key: value for key, value in enums.items() if value} == ENUMS.get(name, {})


@pytest.mark.parametrize("name", ["recall", "record_query", "action_list"])
def test_limits_are_1_to_100(name: str) -> None:
    limit = TOOLS[name]["inputSchema"]["properties"]["limit"]

    assert (limit["minimum"], limit["maximum"]) == (1, 100)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_annotations(name: str) -> None:
    hints = TOOLS[name]["annotations"]
    found = (hints["readOnlyHint"], hints["destructiveHint"], hints["idempotentHint"])

    assert name in HINTS[found]
    assert hints["openWorldHint"] is False


def test_answers(people: People) -> None:
    mcp = Mcp(people.keys["owner"])

    for name, arguments in calls_for(people, mcp):
        text = mcp.result("tools/call", {"name": name, "arguments": arguments})["content"][0]["text"]
        answer = json.loads(text)
        if "notice" in answer:
            assert next(iter(answer)) == "notice"
            assert answer.pop("notice") == NOTICE
        else:
            assert name in {"dream_next_job", "dream_submit"}
        answer.pop("reason", None)
        assert set(answer) == set(ANSWERS[name]), name
        if name in INNER:
            key, fields = INNER[name]
            assert answer[key], name
            assert all(set(item) == set(fields) for item in answer[key]), name


def test_answer_of_a_dream_job(people: People) -> None:
    mcp = Mcp(people.keys["owner"])
    calls_for(people, mcp)

    answer = mcp.call("dream_next_job", start_if_due=False)

    assert list(answer)[:1] == ["notice"]
    assert set(answer) == {"notice", "job", "due"}
    assert set(answer["job"]) == {"run_id", "instructions", "input", "output_schema", "max_changes"}
    facts = [
        "id",
        "version",
        "text",
        "subject",
        "tier",
        "tags",
        "origin",
        "pinned",
        "age_days",
        "recall_count",
        "protected",
    ]
    assert answer["job"]["input"]["facts"]
    assert all(set(fact) == set(facts) for fact in answer["job"]["input"]["facts"])


def test_answer_of_one_value(people: People) -> None:
    mcp = Mcp(people.keys["owner"])
    mcp.call("kv_set", ns="a", key="k", value=[1])

    answer = mcp.call("kv_get", ns="a", key="k")

    assert {name: answer[name] for name in ("notice", "ns", "key", "value", "version")} == {
        "notice": NOTICE, "ns": "a", "key": "k", "value": [1], "version": 1,
    }  # fmt: skip


def test_a_move_that_was_made_already_says_so(people: People) -> None:
    mcp = Mcp(people.keys["owner"])
    proposed = mcp.call("action_propose", idempotency_key="k", summary="s", payload={}, **{"class": "c"})
    move = {"id": proposed["id"], "from": "pending", "to": "cancelled"}

    first, again = (mcp.call("action_transition", **move) for _ in range(2))

    assert "unchanged" not in first
    assert again["unchanged"] is True
