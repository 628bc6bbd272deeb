"""GET /v1/events: who did what to which ids and from where, never the text."""

from __future__ import annotations

import re

from tests.contract import checked
from tests.factories import People, memory_body

SECRET = "zanzibar"


def test_every_write_and_every_read_by_key_is_one_row(people: People) -> None:
    api = checked(people)
    made = api.created(content=SECRET, tags=[SECRET])
    path = f"/v1/memories/{made['id']}"
    api.get(path)
    api.get("/v1/memories")
    api.post("/v1/memories/search", {"q": SECRET, "mode": "keyword"})
    api.put(path, {"content": f"{SECRET} two"})
    b"".join(api.get("/v1/export").streaming_content)
    api.delete(path)

    answer = api.get("/v1/events", type="memory.")

    events = answer.json()["events"]
    assert [event["type"] for event in events] == [
        "memory.deleted", "memory.exported", "memory.updated", "memory.searched", "memory.listed", "memory.read",
        "memory.created",
    ]  # fmt: skip
    assert SECRET not in answer.content.decode()
    for event in events:
        assert {"id", "type", "actor", "object", "at", "details"} <= set(event)
        assert (event["actor"]["kind"], event["actor"]["name"], event["ip"]) == ("key", "owner", "127.0.0.1")
        assert event["request_id"]
    assert {event["object"]["id"] for event in events if event["type"] != "memory.exported"} == {made["id"]}


def test_a_refused_write_leaves_no_event(people: People) -> None:
    api = people.api()
    made = api.created()
    api.put(f"/v1/memories/{made['id']}", {"content": "Other"}, headers={"If-Match": '"9"'})
    api.post("/v1/memories", memory_body(type="x"))

    types = [event["type"] for event in api.get("/v1/events", type="memory.").json()["events"]]
    assert types == ["memory.created"]


def test_link_and_next_cursor_lead_through_the_log(people: People) -> None:
    api = checked(people)
    ids = [api.created()["id"] for _ in range(5)]
    seen, query = [], {"type": "memory.created", "limit": "2"}
    while query:
        answer = api.get("/v1/events", **query)
        seen += [event["object"]["id"] for event in answer.json()["events"]]
        cursor = answer.json()["next_cursor"]
        link = re.search(r'[?&]cursor=([^&>]+)>; rel="next"$', answer.headers.get("Link", ""))
        assert (link[1] if link else None) == cursor
        query = query | {"cursor": cursor} if cursor else {}
        api.created(content="written while somebody reads")

    assert seen == ids[::-1]


def test_bounds_and_object(people: People) -> None:
    api = checked(people)
    first, second = api.created(), api.created()
    listed = api.get("/v1/events", type="memory.created").json()["events"]

    one = api.get("/v1/events", object=first["id"]).json()["events"]
    after = api.get("/v1/events", type="memory.created", after=listed[1]["at"]).json()["events"]
    before = api.get("/v1/events", type="memory.created", before=listed[0]["at"]).json()["events"]

    assert [event["object"]["id"] for event in one] == [first["id"]]
    assert [event["object"]["id"] for event in after] == [second["id"]]
    assert [event["object"]["id"] for event in before] == [first["id"]]


def test_another_space_has_its_own(people: People) -> None:
    made = people.api().created()

    assert people.api("outsider").get("/v1/events", object=made["id"]).json()["events"] == []
