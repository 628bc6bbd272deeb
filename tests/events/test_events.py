"""GET /v1/events: who did what, with which ids, from where, never the text."""

from __future__ import annotations

import re

import pytest
from django.db import ProgrammingError, transaction

from accounts.access import space_transaction
from events.models import Event
from events.services import event_record
from tests.contract import CheckedApi, checked
from tests.factories import People, memory_body


@pytest.fixture
def api(people: People) -> CheckedApi:
    return checked(people)


def types(api: CheckedApi, **query: object) -> list[str]:
    return [event["type"] for event in api.get("/v1/events", **query).json()["events"]]


def test_every_write_and_read_by_key_is_an_event(api: CheckedApi) -> None:
    path = f"/v1/memories/{api.created()['id']}"
    api.get(path)
    api.get("/v1/memories")
    api.post("/v1/memories/search", {"q": "dark", "mode": "keyword"})
    api.put(path, {"content": "Changed"})
    api.delete(path)

    assert types(api, type="memory.") == [
        "memory.deleted", "memory.updated", "memory.searched", "memory.listed", "memory.read", "memory.created",
    ]  # fmt: skip


def test_tells_who_what_and_from_where(people: People) -> None:
    made = checked(people, "member").created()

    response = checked(people).get("/v1/events", type="memory.created")

    event = response.json()["events"][0]
    assert (event["actor"]["kind"], event["actor"]["name"]) == ("key", "member")
    assert event["object"] == {"kind": "memory", "id": made["id"]}
    assert (event["channel"], event["ip"]) == ("rest", "127.0.0.1")
    assert event["request_id"]


def test_the_owner_reads_which_tool_read_a_memory(people: People) -> None:
    memory_id = checked(people).created()["id"]
    checked(people, "tool").get(f"/v1/memories/{memory_id}")

    events = checked(people).get("/v1/events", object=memory_id).json()["events"]

    assert [(event["type"], event["actor"]["name"]) for event in events] == [
        ("memory.read", "tool"), ("memory.created", "owner"),
    ]  # fmt: skip


def test_a_failed_write_leaves_no_event(api: CheckedApi) -> None:
    api.post("/v1/memories", memory_body(type="x"))

    assert types(api, type="memory.") == []


def test_an_event_goes_with_the_transaction_of_its_write(people: People) -> None:
    with space_transaction(people.access()):
        before = Event.objects.visible_to(people.access()).count()
        with transaction.atomic():
            event_record(access=people.access(), type="memory.created")
            transaction.set_rollback(True)
        assert Event.objects.visible_to(people.access()).count() == before


def test_pages_by_cursor(api: CheckedApi) -> None:
    for _ in range(5):
        api.created()
    seen, cursor = [], None
    while True:
        body = api.get("/v1/events", type="memory.created", limit=2, **({"cursor": cursor} if cursor else {})).json()
        seen += [event["id"] for event in body["events"]]
        cursor = body["next_cursor"]
        if cursor is None:
            break

    assert len(seen) == len(set(seen)) == 5
    assert seen == sorted(seen, key=int, reverse=True)


def test_pages_by_link(api: CheckedApi) -> None:
    for _ in range(3):
        api.created()
    seen: list[str] = []
    path = "/v1/events?type=memory.created&limit=2"
    while path:
        response = api.get(path)
        seen += [event["id"] for event in response.json()["events"]]
        link = re.fullmatch(r'<https?://[^/]+(/v1/events\?[^>]+)>; rel="next"', response.headers.get("Link", ""))
        path = link[1] if link else ""

    assert len(seen) == len(set(seen)) == 3


@pytest.mark.parametrize("query", [{"limit": "0"}, {"after": "yesterday"}, {"cursor": "x"}, {"nonsense": "1"}])
def test_refuses_what_does_not_fit(api: CheckedApi, query: dict[str, str]) -> None:
    response = api.get("/v1/events", **query)

    assert (response.status_code, list(response.json()["details"]["fields"])) == (422, list(query))


def test_the_log_of_another_space_is_not_shown(people: People) -> None:
    checked(people).created()

    assert types(checked(people, "outsider"), type="memory.") == []
    assert checked(people, "write").get("/v1/events").status_code == 403


def test_what_happened_cannot_be_changed_afterwards(people: People) -> None:
    people.api().created()

    with space_transaction(people.access()), pytest.raises(ProgrammingError, match="permission denied"):
        Event.objects.update(actor_name="somebody else")
