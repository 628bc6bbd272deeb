"""The past of a memory that came into a key's limits only later, and answers kept of what is gone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import People

pytestmark = pytest.mark.django_db

MOVES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "namespace": ({"namespace": "private"}, {"namespace": "project:a"}),
    "tool": ({"source": {"tool": "secretary"}}, {"source": {"tool": "claude"}}),
    "type": ({"type": "episodic"}, {"type": "semantic"}),
}


@pytest.mark.parametrize("kind", MOVES)
def test_versions_outside_of_the_limits_stay_hidden(people: People, kind: str) -> None:
    before, after = MOVES[kind]
    made = people.api().created(content="A pineapple secret", **before)
    people.api().put(f"/v1/memories/{made['id']}", {"content": "Harmless"} | after)
    people.api().put(f"/v1/memories/{made['id']}", {"content": "Still harmless"})

    shown = people.api(kind).get(f"/v1/memories/{made['id']}/history")
    restored = people.api(kind).post(f"/v1/memories/{made['id']}/restore", {"version": 1})

    assert [version["version"] for version in shown.json()["versions"]] == [3, 2]
    assert "pineapple" not in shown.content.decode()
    assert restored.status_code == 404
    assert people.api(kind).post(f"/v1/memories/{made['id']}/restore", {"version": 2}).json()["content"] == "Harmless"


@pytest.mark.parametrize("kind", MOVES)
def test_a_limited_key_that_deletes_leaves_no_version_behind(people: People, kind: str) -> None:
    before, after = MOVES[kind]
    made = people.api().created(content="A pineapple secret", **before)
    people.api().put(f"/v1/memories/{made['id']}", {"content": "Harmless"} | after)

    assert people.api(kind).delete(f"/v1/memories/{made['id']}").status_code == 204
    assert people.api().post("/v1/import", {"memories": [made]}).json()["imported"] == 1
    history = people.api().get(f"/v1/memories/{made['id']}/history").json()["versions"]
    assert [version["version"] for version in history] == [1]


def test_a_key_bound_to_a_tool_forgets_no_past_of_another_tools_memory(people: People) -> None:
    made = people.api().created(content="A pineapple plan", source={"tool": "cursor"})
    people.api().put(f"/v1/memories/{made['id']}", {"content": "A plan"})

    people.api("tool").post("/v1/memories/forget", {"query": "pineapple"})

    assert len(people.api().get(f"/v1/memories/{made['id']}/history").json()["versions"]) == 2


def test_if_match_tells_a_write_only_key_nothing(people: People) -> None:
    made = people.api().created()
    stale = {"If-Match": '"99"'}

    hidden = people.api("write").put(f"/v1/memories/{made['id']}", {}, headers=stale)
    absent = people.api("write").put("/v1/memories/mem_0000000000000000", {}, headers=stale)

    assert (hidden.status_code, hidden.content) == (404, absent.content)


def test_a_brief_goes_with_the_conversation_that_it_quotes(people: People) -> None:
    api = people.api()
    talk = {"model": "chatgpt", "messages": [{"role": "user", "content": "My pineapple plan"}]}
    id = api.post("/v1/conversations", talk).json()["id"]
    asked, once = {"conversation_id": id, "target_model": "claude"}, {"Idempotency-Key": "brief"}
    assert "pineapple" in api.post("/v1/handoff", asked, headers=once).json()["brief"]

    api.delete(f"/v1/conversations/{id}")

    assert api.post("/v1/handoff", asked, headers=once).status_code == 409


def test_the_answer_to_a_put_goes_with_the_record(people: People) -> None:
    api = people.api()
    body, once = {"key": "a", "data": {"plan": "pineapple"}}, {"Idempotency-Key": "put"}
    record = api.post("/v1/records/tasks", body, headers=once).json()

    api.delete(f"/v1/records/tasks/{record['id']}")

    assert api.post("/v1/records/tasks", body, headers=once).status_code == 409


@pytest.mark.parametrize("kind", MOVES)
def test_the_log_tells_a_limited_key_only_of_its_own_doings(people: People, kind: str) -> None:
    hidden = people.api().created(namespace="private", source={"tool": "secretary"}, type="episodic")
    people.api().put("/v1/kv/prefs/a", {"value": 1})
    people.api(kind).get("/v1/memories")

    events = people.api(kind).get("/v1/events").json()["events"]

    types = {event["type"] for event in events}
    assert {"kv.set", "memory.listed"} <= types
    assert "memory.created" not in types
    assert people.api(kind).get("/v1/events", object=hidden["id"]).json()["events"] == []
    assert people.api("member").get("/v1/events", object=hidden["id"]).json()["events"] != []
