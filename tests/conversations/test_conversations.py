"""/v1/conversations."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import space_transaction
from conversations.models import Conversation
from events.models import Event
from tests.factories import Api, People, key_create, memory_make

MISSING = "conv_0000000000000000"
MESSAGES = [
    {"role": "user", "content": "How do I deploy to production?"},
    {"role": "assistant", "content": "Use Docker Compose."},
]


def body(**changes: Any) -> dict[str, Any]:
    return {"model": "chatgpt", "messages": MESSAGES} | changes


def saved(api: Api, **changes: Any) -> dict[str, Any]:
    response = api.post("/v1/conversations", body(**changes))
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()
    return made


def test_stores_what_the_command_line_sends(people: People) -> None:
    made = saved(people.api())

    assert made["id"].startswith("conv_")
    assert made["topic"] == "How do I deploy to production?"
    assert (made["message_count"], made["messages"], made["source_url"]) == (2, MESSAGES, None)
    assert made["created_at"] == made["updated_at"]
    assert people.api().get(f"/v1/conversations/{made['id']}").json() == made


def test_stores_what_the_browser_extension_sends(people: People) -> None:
    made = saved(people.api(), topic="Deploying", source_url="https://chatgpt.com/c/1")

    assert (made["topic"], made["source_url"]) == ("Deploying", "https://chatgpt.com/c/1")


def test_a_page_saved_again_as_it_grows_stays_one_conversation(people: People) -> None:
    api = people.api()
    half = [MESSAGES[0], {"role": "assistant", "content": "Use Dock"}]
    first = saved(api, messages=half, source_url="https://chatgpt.com/c/1")
    longer = [*MESSAGES, {"role": "user", "content": "Thanks"}]

    again = api.post("/v1/conversations", body(messages=longer, source_url="https://chatgpt.com/c/1"))

    assert (again.status_code, again.json()["id"], again.json()["message_count"]) == (200, first["id"], 3)
    assert api.get("/v1/conversations").json()["total"] == 1
    other = [{"role": "user", "content": "Something else"}]
    saved(api, messages=other, source_url="https://chatgpt.com/c/1")
    saved(api)
    saved(api)
    assert api.get("/v1/conversations").json()["total"] == 4


def test_lists_newest_first_without_messages(people: People) -> None:
    api = people.api()
    ids = [saved(api, topic=f"Topic {n}")["id"] for n in range(3)]

    listed = api.get("/v1/conversations").json()

    assert [item["id"] for item in listed["conversations"]] == ids[::-1]
    assert set(listed["conversations"][0]) == {
        "id", "model", "topic", "message_count", "source_url", "created_at", "updated_at",
    }  # fmt: skip
    assert (listed["total"], listed["next_cursor"]) == (3, None)


def test_lists_by_model_and_time_as_the_clients_ask(people: People) -> None:
    api = people.api()
    claude, chatgpt = saved(api, model="claude"), saved(api)

    def ids(**query: Any) -> list[str]:
        return [item["id"] for item in api.get("/v1/conversations", **query).json()["conversations"]]

    assert ids(limit=1, model="chatgpt") == [chatgpt["id"]]
    assert ids(limit=5, exclude_model="chatgpt", since="2020-01-01T00:00:00.000Z") == [claude["id"]]
    assert ids(since="2100-01-01T00:00:00Z") == []


def test_a_walk_by_cursor_sees_each_once(people: People) -> None:
    api = people.api()
    ids = {saved(api)["id"] for _ in range(5)}
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    while True:
        response = api.get("/v1/conversations", **query)
        page = response.json()
        seen += [item["id"] for item in page["conversations"]]
        if page["next_cursor"] is None:
            break
        assert f"cursor={page['next_cursor']}" in response["Link"]
        saved(api)
        query["cursor"] = page["next_cursor"]

    assert len(seen) == 5
    assert set(seen) == ids


@pytest.mark.parametrize(
    "query", [{"limit": "0"}, {"limit": "101"}, {"since": "yesterday"}, {"tool": "x"}, {"cursor": "%%"}, {"model": ""}]
)
def test_refuses_a_filter_that_does_not_fit(people: People, query: dict[str, str]) -> None:
    assert people.api().get("/v1/conversations", **query).status_code == 422


@pytest.mark.parametrize(
    "changes",
    [
        {"model": ""}, {"model": None}, {"messages": []}, {"messages": "x"}, {"topic": "x" * 201},
        {"messages": [{"role": "robot", "content": "x"}]}, {"messages": [{"role": "user"}]},
        {"messages": [{"role": "user", "content": "a\x00"}]},
        {"messages": [{"role": "user", "content": "x" * 200_001}]},
    ],
)  # fmt: skip
def test_refuses_what_does_not_fit(people: People, changes: dict[str, Any]) -> None:
    response = people.api().post("/v1/conversations", body(**changes))

    assert (response.status_code, response.json()["error"]) == (422, "validation_error")


def test_deletes_one(people: People) -> None:
    api = people.api()
    made = saved(api)

    assert api.delete(f"/v1/conversations/{made['id']}").status_code == 204
    gone = api.get(f"/v1/conversations/{made['id']}")
    assert (gone.status_code, gone.json()["error"]) == (404, "not_found")
    assert api.delete(f"/v1/conversations/{made['id']}").status_code == 404


def test_deletes_what_was_extracted_from_it_when_asked(people: People) -> None:
    api = people.api()
    made, kept = saved(api), saved(api)
    memory_make(people.access(), content="from it", source_ref=f"{made['id']}#0-5")
    memory_make(people.access(), content="from another", source_ref=f"{kept['id']}#0-5")

    api.delete(f"/v1/conversations/{made['id']}", memories="true")
    api.delete(f"/v1/conversations/{kept['id']}")

    assert [memory["content"] for memory in api.get("/v1/memories").json()["memories"]] == ["from another"]


def test_another_space_sees_none_of_it(people: People) -> None:
    made = saved(people.api())
    outsider = people.api("outsider")
    path = f"/v1/conversations/{made['id']}"
    missing = outsider.get(f"/v1/conversations/{MISSING}")

    assert (outsider.get(path).status_code, outsider.get(path).content) == (404, missing.content)
    assert outsider.delete(path).status_code == 404
    assert outsider.get("/v1/conversations").json()["total"] == 0
    with space_transaction(people.access("outsider")):
        assert not Conversation.objects.exists(), "row-level security"


def test_limited_keys_see_their_tools_or_their_own(people: People) -> None:
    saved(people.api(), model="chatgpt")
    saved(people.api(), model="cursor")
    own = saved(people.api("namespace"))

    assert people.api("tool").get("/v1/conversations").json()["total"] == 1
    assert people.api("nothing").get("/v1/conversations").json()["total"] == 0
    listed = people.api("namespace").get("/v1/conversations").json()["conversations"]
    assert [item["id"] for item in listed] == [own["id"]]


def test_needs_its_scopes(people: People) -> None:
    made = saved(people.api())
    read, write = people.api("read"), Api(key_create(people.space, people.owner, scopes={"conversations:write"}))

    assert read.post("/v1/conversations", body()).status_code == 403
    assert read.delete(f"/v1/conversations/{made['id']}").status_code == 403
    assert write.get("/v1/conversations").status_code == 403
    assert write.post("/v1/conversations", body()).status_code == 201
    assert people.api("quarantine").post("/v1/conversations", body()).status_code == 403


def test_events_name_it_and_hold_no_text(people: People) -> None:
    made = saved(people.api(), topic="marker-of-the-topic")
    people.api().get(f"/v1/conversations/{made['id']}")
    people.api().delete(f"/v1/conversations/{made['id']}")

    with space_transaction(people.access()):
        events = list(Event.objects.visible_to(people.access()).filter(object_kind="conversation").order_by("id"))
    assert [event.type for event in events] == ["conversation.created", "conversation.read", "conversation.deleted"]
    assert {tuple(event.object_ids) for event in events} == {(made["id"],)}
    assert "marker" not in str([event.details for event in events])
