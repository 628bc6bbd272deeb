"""Limited keys through every door of REST: what they read, what they write, what they cannot even tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.cache import cache

from tests.factories import MISSING_ID, Api, People, memory_body
from tests.search.support import embed_everything

#: What each kind of key reads of the memories below.
READS = {
    "owner": {"plain", "other tool", "namespace a", "episodic"},
    "member": {"plain", "other tool", "namespace a", "episodic"},
    "read": {"plain", "other tool", "namespace a", "episodic"},
    "quarantine": {"plain", "other tool", "namespace a", "episodic"},
    "tool": {"plain", "namespace a", "episodic"},
    "namespace": {"namespace a"},
    "type": {"plain", "other tool", "namespace a"},
    "nothing": set(),
    "outsider": set(),
}


@pytest.fixture
def stored(people: People) -> dict[str, str]:
    """Give the ids of four memories by content; all contain the word memory."""
    bodies = {
        "plain": {},
        "other tool": {"source": {"tool": "windsurf"}},
        "namespace a": {"namespace": "project:a", "source": {"tool": "cursor"}},
        "episodic": {"type": "episodic"},
    }
    return {
        name: people.api().created(content=f"memory {name}", **changes)["id"] for name, changes in bodies.items()
    }  # fmt: skip


def names(memories: list[dict[str, Any]]) -> set[str]:
    return {memory["content"].removeprefix("memory ") for memory in memories}


def by_get(api: Api, stored: dict[str, str]) -> set[str]:
    return {name for name, memory_id in stored.items() if api.get(f"/v1/memories/{memory_id}").status_code == 200}


def by_list(api: Api, stored: dict[str, str]) -> set[str]:
    body = api.get("/v1/memories").json()
    assert body["total"] == len(body["memories"])
    return names(body["memories"])


def by_search(api: Api, stored: dict[str, str]) -> set[str]:
    body = api.post("/v1/memories/search", {"q": "memory", "mode": "keyword"}).json()
    assert body["total"] == len(body["memories"])
    return names(body["memories"])


def by_hybrid_search(api: Api, stored: dict[str, str]) -> set[str]:
    return names(api.post("/v1/memories/search", {"q": "memory"}).json()["memories"])


def by_similar(api: Api, stored: dict[str, str]) -> set[str]:
    """Each of those that the key reads has all the others beside it, and no more."""
    embed_everything()
    seen = by_get(api, stored)
    for name in seen:
        body = api.get(f"/v1/memories/{stored[name]}/similar").json()
        assert names(body["memories"]) == seen - {name}
        assert body["total"] == len(seen) - 1
    assert {api.get(f"/v1/memories/{stored[name]}/similar").status_code for name in stored.keys() - seen} <= {404}
    return seen


def by_recall(api: Api, stored: dict[str, str]) -> set[str]:
    return names(api.get("/v1/memories/recall", limit=20).json()["memories"])


def by_export(api: Api, stored: dict[str, str]) -> set[str]:
    return names(json.loads(b"".join(api.get("/v1/export").streaming_content))["memories"])


def by_health(api: Api, stored: dict[str, str]) -> set[str]:
    # A count is all that it shows: compare it with the list's.
    assert api.get("/v1/health").json()["memories_count"] == api.get("/v1/memories").json()["total"]
    return by_list(api, stored)


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize(
    "door",
    [by_get, by_list, by_search, by_hybrid_search, by_similar, by_recall, by_export, by_health],
    ids=lambda door: door.__name__,
)
def test_reads_what_its_limits_leave_at_every_door(
    people: People, stored: dict[str, str], kind: str, door: Any
) -> None:
    if door in (by_recall,) and kind == "read":
        assert people.api(kind).get("/v1/memories/recall").status_code == 200
    assert door(people.api(kind), stored) == READS[kind]


@pytest.mark.parametrize("kind", ["tool", "namespace", "type", "nothing", "outsider"])
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_what_it_may_not_read_is_404_with_the_same_body(
    people: People, stored: dict[str, str], kind: str, method: str
) -> None:
    hidden = next(name for name in stored if name not in READS[kind])
    body = ({"content": "Changed"},) if method in {"PUT", "PATCH"} else ()

    seen = people.api(kind).call(method, f"/v1/memories/{stored[hidden]}", *body)
    missing = people.api(kind).call(method, f"/v1/memories/{MISSING_ID}", *body)

    assert (seen.status_code, seen.content) == (404, missing.content)
    assert people.api().get(f"/v1/memories/{stored[hidden]}").json()["content"] == f"memory {hidden}"


class TestToolBound:
    """A key that writes as claude and reads claude and cursor."""

    def test_fills_its_tool_in(self, people: People) -> None:
        assert people.api("tool").created(source={})["source"]["tool"] == "claude"
        response = people.api("tool").post("/v1/memories", {"content": "No source", "type": "semantic"})
        assert response.json()["source"]["tool"] == "claude"

    def test_writes_as_no_other(self, people: People) -> None:
        response = people.api("tool").post("/v1/memories", memory_body(source={"tool": "cursor"}))

        assert (response.status_code, response.json()["details"]) == (403, {"tool": "claude"})

    def test_changes_no_memory_of_another_tool_that_it_reads(self, people: People, stored: dict[str, str]) -> None:
        path = f"/v1/memories/{stored['namespace a']}"

        assert people.api("tool").put(path, {"content": "Changed"}).status_code == 403
        assert people.api("tool").delete(path).status_code == 403

    def test_gives_no_memory_to_another_tool(self, people: People) -> None:
        made = people.api("tool").created(source={"tool": "claude"})

        assert people.api("tool").put(f"/v1/memories/{made['id']}", {"source": {"tool": "x"}}).status_code == 403

    def test_in_a_batch_each_item_has_its_answer(self, people: People) -> None:
        body = {"memories": [memory_body(), memory_body(source={"tool": "cursor"})]}

        results = people.api("tool").post("/v1/memories/batch", body).json()["results"]

        assert [result["status"] for result in results] == [201, 403]


class TestNamespaceBound:
    """A key to project:a."""

    def test_fills_its_namespace_in(self, people: People) -> None:
        assert people.api("namespace").created(namespace=None)["namespace"] == "project:a"

    @pytest.mark.parametrize("namespace", ["project:b", "project:A", "project:a "])
    def test_writes_to_no_other(self, people: People, namespace: str) -> None:
        response = people.api("namespace").post("/v1/memories", memory_body(namespace=namespace))

        assert response.status_code == 403

    def test_moves_no_memory_out(self, people: People, stored: dict[str, str]) -> None:
        path = f"/v1/memories/{stored['namespace a']}"

        assert people.api("namespace").put(path, {"namespace": "project:b"}).status_code == 403


class TestTypeBound:
    """A key to semantic memories."""

    def test_writes_no_other_type(self, people: People, stored: dict[str, str]) -> None:
        api = people.api("type")

        assert api.post("/v1/memories", memory_body(type="episodic")).status_code == 403
        assert api.put(f"/v1/memories/{stored['plain']}", {"type": "procedural"}).status_code == 403


class TestReadOnly:
    """A key with the reading scopes."""

    def test_writes_through_no_door(self, people: People, stored: dict[str, str]) -> None:
        api, path = people.api("read"), f"/v1/memories/{stored['plain']}"

        answers = [
            api.post("/v1/memories", memory_body()),
            api.post("/v1/memories/batch", {"memories": [memory_body()]}),
            api.post("/v1/memories/remember", {"text": "A fact"}),
            api.post("/v1/import", {"memories": [memory_body()]}),
            api.post("/v1/extract", {"transcript": "a"}),
            api.put(path, {"content": "Changed"}),
            api.patch(path, {"content": "Changed"}),
            api.delete(path),
            api.patch("/v1/space", {"name": "Mine"}),
            api.put("/v1/kv/state/a", {"value": 1}),
        ]

        assert {answer.status_code for answer in answers} == {403}
        assert people.api().get("/v1/memories").json()["total"] == len(stored)


class TestWriteOnly:
    """A key with memories:write alone."""

    def test_reads_through_no_door(self, people: People, stored: dict[str, str]) -> None:
        api, path = people.api("write"), f"/v1/memories/{stored['plain']}"

        answers = [
            api.get("/v1/memories"),
            api.get(path),
            api.get(f"{path}/similar"),
            api.get(f"{path}/history"),
            api.post("/v1/memories/search", {"q": "memory"}),
            api.get("/v1/memories/recall"),
            api.get("/v1/export"),
            api.get("/v1/events"),
        ]

        assert {answer.status_code for answer in answers} == {403}

    def test_learns_no_number_of_memories(self, people: People, stored: dict[str, str]) -> None:
        people.api("outsider").created()
        cache.delete("health:memories")

        counts = [Api(key).get("/v1/health").json()["memories_count"] for key in (people.keys["write"], None)]

        assert counts[0] == counts[1]

    def test_writes(self, people: People) -> None:
        assert people.api("write").post("/v1/memories", memory_body()).status_code == 201

    def test_learns_nothing_from_an_update(self, people: People, stored: dict[str, str]) -> None:
        response = people.api("write").put(f"/v1/memories/{stored['plain']}", {})

        assert response.status_code == 404


class TestQuarantine:
    """A key whose writes wait for the owner."""

    def test_what_it_writes_is_seen_by_nobody(self, people: People) -> None:
        made = people.api("quarantine").created(content="memory waiting")

        for kind in ("owner", "quarantine"):
            api = people.api(kind)
            assert api.get(f"/v1/memories/{made['id']}").status_code == 404
            assert api.get("/v1/memories").json()["total"] == 0
            assert api.post("/v1/memories/search", {"q": "waiting", "mode": "keyword"}).json()["total"] == 0

    def test_changes_no_memory_of_others(self, people: People, stored: dict[str, str]) -> None:
        people.api("quarantine").put(f"/v1/memories/{stored['plain']}", {"content": "memory stolen"})

        assert people.api().get(f"/v1/memories/{stored['plain']}").json()["content"] == "memory plain"
