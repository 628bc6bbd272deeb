"""Keys bound to tools, a namespace or a type read and forget over MCP what they do over REST, and nothing else."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.access import space_transaction
from memories.models import Memory
from tests.factories import People
from tests.mcpserver.client import Mcp

MEMORIES: dict[str, dict[str, Any]] = {
    "claude's": {"source": {"tool": "claude"}},
    "windsurf's": {"source": {"tool": "windsurf"}},
    "of project a": {"source": {"tool": "cursor"}, "namespace": "project:a"},
    "an event": {"source": {"tool": "claude"}, "type": "episodic"},
}
#: What each kind of key reads of them.
READS = {
    "owner": set(MEMORIES),
    "tool": {"claude's", "of project a", "an event"},
    "namespace": {"of project a"},
    "type": {"claude's", "windsurf's", "of project a"},
    "nothing": set(),
}
LIMITED = [kind for kind in READS if kind != "owner"]


@pytest.fixture
def stored(people: People) -> dict[str, str]:
    """Give the ids of four core memories; each is of falcons, and says which it is."""
    same = {"tags": ["birds"], "subject": "Falcons", "tier": "core"}
    return {
        name: people.api().created(content=f"falcon {name}", **same | changes)["id"]
        for name, changes in MEMORIES.items()
    }


def names(memories: list[dict[str, Any]], field: str = "text") -> set[str]:
    return {memory[field].removeprefix("falcon ") for memory in memories}


def left(people: People) -> set[str]:
    return names(people.api().get("/v1/memories").json()["memories"], "content")


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("asked", [{}, {"q": "falcon"}, {"tag": "birds"}, {"subject": "Falcons"}, {"tier": "core"}])
def test_recall(people: People, stored: dict[str, str], kind: str, asked: dict[str, str]) -> None:
    found = Mcp(people.keys[kind]).call("recall", **asked)["memories"]

    assert names(found) == READS[kind]
    over_rest = people.api(kind).get("/v1/memories/recall", **asked).json()["memories"]
    assert [memory["id"] for memory in over_rest] == [memory["id"] for memory in found]


@pytest.mark.parametrize("kind", LIMITED)
def test_recall_counts_nothing_that_it_does_not_show(people: People, stored: dict[str, str], kind: str) -> None:
    Mcp(people.keys[kind]).call("recall", q="falcon")

    counts = {
        memory["content"].removeprefix("falcon "): memory["recall_count"]
        for memory in people.api().get("/v1/memories", view="full").json()["memories"]
    }
    assert {name for name, count in counts.items() if count} == READS[kind]


@pytest.mark.parametrize("kind", READS)
def test_prompt(people: People, stored: dict[str, str], kind: str) -> None:
    result = Mcp(people.keys[kind]).result("prompts/get", {"name": "load_memories", "arguments": {"topic": "falcon"}})

    text = result["messages"][0]["content"]["text"]
    assert {name for name, memory_id in stored.items() if memory_id in text} == READS[kind]
    assert {name for name in stored if f"falcon {name}" in text} == READS[kind]


@pytest.mark.parametrize("kind", READS)
def test_context(people: People, stored: dict[str, str], kind: str) -> None:
    mcp = Mcp(people.keys[kind])

    context = mcp.call("get_context")

    assert names(context["core"]) == READS[kind]
    assert context["core"] == people.api(kind).get("/v1/context").json()["core"]
    [resource] = mcp.result("resources/read", {"uri": "commonplace://context"})["contents"]
    assert json.loads(resource["text"])["core"] == context["core"]


@pytest.mark.parametrize("kind", READS)
def test_journal_records_and_values_know_no_such_limits(people: People, kind: str) -> None:
    """Tools, namespaces and types are those of memories; what else a key reads, its scopes say."""
    owner, mcp, api = Mcp(people.keys["owner"]), Mcp(people.keys[kind]), people.api(kind)
    today = owner.call("get_context")["today"]
    owner.call("journal_write", date=today, summary="A falcon was seen")
    record = owner.call("record_put", collection="birds", key="falcon", status="open")["record"]
    owner.call("kv_set", ns="birds", key="falcon", value=1)

    assert mcp.call("record_query", collection="birds")["records"] == [record]
    assert api.get("/v1/records/birds").json()["records"] == [record]
    assert mcp.call("kv_get", ns="birds", key="falcon")["value"] == 1
    assert api.get("/v1/kv/birds/falcon").json()["value"] == 1
    context = mcp.call("get_context")
    assert [entry["summary"] for entry in context["journal"]] == ["A falcon was seen"]
    assert [one["key"] for one in context["records"]["open"]] == ["falcon"]
    assert api.get("/v1/context").json()["journal"] == context["journal"]


@pytest.mark.parametrize("kind", READS)
def test_forget_previews_what_the_key_reads(people: People, stored: dict[str, str], kind: str) -> None:
    asked = {"query": "falcon", "dry_run": True}

    answer = Mcp(people.keys[kind]).call("forget", **asked)

    assert names(answer["previews"]) == READS[kind]
    assert answer["memories"] == len(READS[kind])
    over_rest = people.api(kind).post("/v1/memories/forget", asked).json()
    assert {name: answer[name] for name in over_rest} == over_rest


@pytest.mark.parametrize("kind", ["namespace", "type", "nothing"])
@pytest.mark.parametrize("by", ["ids", "query"])
def test_forget_reaches_nothing_else(people: People, stored: dict[str, str], kind: str, by: str) -> None:
    asked: dict[str, Any] = {"ids": list(stored.values())} if by == "ids" else {"query": "falcon"}

    answer = Mcp(people.keys[kind]).call("forget", **asked)

    assert answer["memories"] == len(READS[kind])
    assert left(people) == set(stored) - READS[kind]


def test_forget_takes_nothing_of_another_tool_that_the_key_reads(people: People, stored: dict[str, str]) -> None:
    mcp = Mcp(people.keys["tool"])

    assert mcp.refused("forget", {"query": "falcon"})["code"] == "forbidden"
    assert people.api("tool").post("/v1/memories/forget", {"query": "falcon"}).json()["error"] == "forbidden"
    assert left(people) == set(stored)
    assert mcp.call("forget", ids=[stored["claude's"], stored["windsurf's"]])["memories"] == 1
    assert left(people) == set(stored) - {"claude's"}


@pytest.mark.parametrize("kind", LIMITED)
def test_forget_previews_no_past_beyond_the_limits(people: People, kind: str) -> None:
    """What a fact said before it came into the key's reach stays hidden, as in its history over REST."""
    made = people.api().created(content="falcon secret", source={"tool": "windsurf"}, type="episodic", namespace=None)
    now = {"content": "sparrow", "source": {"tool": "claude"}, "type": "semantic", "namespace": "project:a"}
    assert people.api().put(f"/v1/memories/{made['id']}", now).status_code == 200

    answer = Mcp(people.keys[kind]).call("forget", query="falcon secret")

    assert answer["memories"] == 0
    history = people.api().get(f"/v1/memories/{made['id']}/history").text
    assert "falcon secret" in history, "the past that the key may not read is not its to remove"
    assert "falcon secret" not in people.api(kind).get(f"/v1/memories/{made['id']}/history").text


@pytest.mark.parametrize("kind", ["tool", "namespace"])
def test_remember_does_not_tell_that_a_fact_is_there_out_of_reach(people: People, kind: str) -> None:
    owners = Mcp(people.keys["owner"]).call("remember", text="The falcon nests on the tower")

    own = Mcp(people.keys[kind]).call("remember", text="The falcon nests on the tower")

    assert (own["deduplicated"], own["id"] != owners["id"]) == (False, True)


@pytest.mark.parametrize("kind", ["tool", "namespace"])
def test_a_dream_shows_only_what_the_key_reads(people: People, kind: str) -> None:
    mcp = Mcp(people.keys[kind])
    for number in range(6):
        Mcp(people.keys["owner"]).call("remember", text=f"falcon number {number}")
        mcp.call("remember", text=f"sparrow number {number}")
    before = timezone.now() - timedelta(days=2)
    with space_transaction(people.access()):
        Memory.objects.visible_to(people.access()).update(created_at=before, updated_at=before)

    answer = mcp.call("dream_next_job")

    assert {fact["text"][:7] for fact in answer["job"]["input"]["facts"]} == {"sparrow"}
    assert "falcon" not in json.dumps(answer)
