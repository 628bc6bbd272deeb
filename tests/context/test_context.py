"""get_context (agent-state.md, "Context")."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.access import Access, space_set
from accounts.models import Space
from actions.services import MAX_PENDING
from api.text import NOTICE
from api.timestamps import timestamp_format
from bench.context import fill
from context.services import BUDGET, context_get
from notebook.journal import journal_write
from notebook.kv import kv_set
from notebook.records import record_put
from notebook.schemas import JournalWrite, KvSet, RecordPut
from tests.actions.queue import proposed, put_into
from tests.clock import MovedClock
from tests.factories import People, access_of, key_create

CONTEXT = "/v1/context"


@pytest.fixture(autouse=True)
def _in_march(clock: MovedClock) -> None:
    clock.at = datetime(2026, 3, 4, 12, tzinfo=UTC)


def filled(access: Access, clock: MovedClock, size: int = 1) -> None:
    """Put `size` things into each section."""
    space_set(access.space_id)
    Space.objects.filter(pk=access.space_id).update(context_namespaces=["ui"])
    for number in range(size):
        due = clock.at + timedelta(hours=number)
        record_put(access=access, data=RecordPut(collection="tasks", due_at=due, data={"title": f"due {number} " * 20}))
        record_put(access=access, data=RecordPut(collection="tasks", data={"title": f"open {number} " * 20}))
        kv_set(access=access, data=KvSet(ns="ui", key=f"k{number:03}", value="v" * 100))
        kv_set(access=access, data=KvSet(ns="other", key=f"k{number:03}", value="hidden"))
    for number in range(min(size, 28)):
        entry = JournalWrite(date=clock.at.date() - timedelta(days=number), summary=f"day {number} " * 60)
        journal_write(access=access, data=entry)
    for number in range(min(size, MAX_PENDING)):
        proposed(access, idempotency_key=f"k{number}", summary=f"action {number} " * 20)


def test_every_section_is_there_and_the_notice_first(people: People, clock: MovedClock) -> None:
    api = people.api()
    core = api.post("/v1/memories/remember", {"text": "Is called Anna", "tier": "core", "subject": "me"}).json()
    api.post("/v1/memories/remember", {"text": "Not core"})
    filled(people.access(), clock)

    response = api.get(CONTEXT)

    assert response.status_code == 200
    body = response.json()
    assert list(body) == [
        "notice", "today", "generated_at", "space", "core", "records", "actions", "journal", "kv", "dream", "truncated",
    ]  # fmt: skip
    assert body["notice"] == NOTICE
    assert (body["today"], body["generated_at"]) == ("2026-03-04", "2026-03-04T12:00:00Z")
    assert body["space"]["timezone"] == "UTC"
    (fact,) = body["core"]
    assert fact == {
        "id": core["id"], "text": "Is called Anna", "subject": "me", "origin": "agent", "pinned": False,
        "tool": "owner",
    }  # fmt: skip
    assert [record["data"]["title"][:5] for record in body["records"]["due"]] == ["due 0"]
    assert [record["data"]["title"][:6] for record in body["records"]["open"]] == ["open 0"]
    (action,) = body["actions"]
    assert action["id"] == "A1"
    assert "payload" not in action
    assert body["journal"][0]["date"] == "2026-03-04"
    assert body["kv"] == {"ui": {"k000": "v" * 100}}
    assert (body["dream"], body["truncated"]) == ({"due": False}, {})


def test_today_is_the_spaces_and_decides_what_is_due(people: People, clock: MovedClock) -> None:
    Space.objects.filter(pk=people.space.pk).update(timezone="Pacific/Kiritimati")  # 14 hours ahead
    for hours in (-48, 20, 22):
        due_at = timestamp_format(clock.at + timedelta(hours=hours))
        people.api().post("/v1/records/tasks", {"due_at": due_at, "key": str(hours)})
    body = people.api().get(CONTEXT).json()
    assert body["today"] == "2026-03-05"
    assert [record["key"] for record in body["records"]["due"]] == ["-48", "20"][: len(body["records"]["due"])]
    assert {record["key"] for record in body["records"]["open"]} >= {"22"}


def test_closed_records_decided_actions_old_journal_and_expired_core_are_left_out(
    people: People, clock: MovedClock
) -> None:
    api, access = people.api(), people.access()
    for status in ("done", "Closed", "CANCELLED", "archived"):
        api.post("/v1/records/tasks", {"status": status})
    put_into(proposed(access, idempotency_key="a"), "approved")
    proposed(access, idempotency_key="b")
    clock.at += timedelta(days=8)
    api.put("/v1/journal/day/2026-02-20", {"summary": "old"})
    api.put("/v1/journal/week/2026-02-20", {"summary": "a recent week"})
    soon = timestamp_format(clock.at + timedelta(hours=1))
    api.post("/v1/memories/remember", {"text": "x", "tier": "core", "expires_at": soon})
    clock.forward(hours=2)
    body = api.get(CONTEXT).json()
    assert body["records"] == {"due": [], "open": []}
    assert (body["actions"], body["core"]) == ([], [])
    assert [(entry["kind"], entry["date"]) for entry in body["journal"]] == [("week", "2026-02-16")]


def test_the_whole_stays_within_its_budget_and_says_what_is_left_out(people: People, clock: MovedClock) -> None:
    api, access = people.api(), people.access()
    for number in range(50):
        assert (
            api.post("/v1/memories/remember", {"text": f"{number:03}" + "c" * 157, "tier": "core"}).status_code == 201
        )
    filled(access, clock, 60)

    response = api.get(CONTEXT)

    assert len(response.content.decode()) <= BUDGET
    body = response.json()
    assert len(body["core"]) == 50
    shown = {
        "records": len(body["records"]["due"]) + len(body["records"]["open"]), "actions": len(body["actions"]),
        "journal": len(body["journal"]), "kv": len(body["kv"]["ui"]),
    }  # fmt: skip
    there = {"records": 120, "actions": 50, "journal": 14, "kv": 60}
    assert body["truncated"] == {name: there[name] - shown[name] for name in there}
    assert all(count > 0 for count in shown.values())


def test_unused_room_flows_on(people: People, clock: MovedClock) -> None:
    filled(people.access(), clock, 28)
    full = people.api().get(CONTEXT).json()
    # Without core, the later sections get more than their own shares.
    records = full["records"]["due"] + full["records"]["open"]
    assert len(json.dumps(records)) > 5_000
    assert len(json.dumps(full)) <= BUDGET
    assert "journal" not in full["truncated"] or len(json.dumps(full["journal"])) > 5_000


def test_items_are_dropped_whole_and_smaller_ones_still_fit(people: People, clock: MovedClock) -> None:
    space = Space.objects.filter(pk=people.space.pk)
    space.update(context_namespaces=["ui"])
    people.api().put("/v1/kv/ui/a", {"value": "x" * 30_000})
    people.api().put("/v1/kv/ui/b", {"value": "fits"})
    body = people.api().get(CONTEXT).json()
    assert body["kv"] == {"ui": {"b": "fits"}}
    assert body["truncated"] == {"kv": 1}


@pytest.mark.parametrize(
    ("scope", "section"),
    [
        ("memories:read", "core"), ("records:read", "records"), ("journal:read", "journal"), ("kv:read", "kv"),
        ("actions:execute", "actions"),
    ],
)  # fmt: skip
def test_a_key_sees_the_sections_it_may_read(people: People, clock: MovedClock, scope: str, section: str) -> None:
    people.api().post("/v1/memories/remember", {"text": "core", "tier": "core"})
    filled(people.access(), clock)
    access = access_of(key_create(people.space, people.owner, scopes={scope}))
    space_set(access.space_id)
    context = context_get(access=access)
    empty: dict[str, Any] = {"core": [], "records": {"due": [], "open": []}, "journal": [], "kv": {}, "actions": []}
    assert {name for name in empty if context[name] != empty[name]} == {section}


def test_limits_of_a_key_hold_for_core(people: People, clock: MovedClock) -> None:
    people.api().post("/v1/memories/remember", {"text": "core", "tier": "core"})
    for kind in ("tool", "nothing", "namespace", "outsider"):
        assert people.api(kind).get(CONTEXT).json()["core"] == []


def test_it_counts_no_recall_and_tells_whether_a_dream_is_due(people: People, clock: MovedClock) -> None:
    made = [people.api().post("/v1/memories/remember", {"text": f"core {n}", "tier": "core"}).json() for n in range(5)]
    assert people.api().get(CONTEXT).json()["dream"] == {"due": True}
    assert people.api("read").get(CONTEXT).json()["dream"] == {"due": False}
    assert people.api().get(f"/v1/memories/{made[0]['id']}", view="full").json()["recall_count"] == 0


def test_one_query_a_section_however_much_there_is(people: People, clock: MovedClock) -> None:
    access = people.access()

    def queries(size: int) -> int:
        filled(access, clock, size)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            context_get(access=access)
        return len(captured)

    # The space, core, records, actions, journal, key-value, whether a dream is due, and the event.
    assert [queries(1), queries(30)] == [8, 8]


def test_at_full_size_it_is_one_query_a_section_and_inside_its_budget(people: People, clock: MovedClock) -> None:
    access = people.access()
    space_set(access.space_id)
    fill(access, facts=5_000, records=2_000, days=365)

    with CaptureQueriesContext(connection) as captured:
        context = context_get(access=access)

    assert len(captured) == 8
    assert len(json.dumps(context)) <= BUDGET
    assert len(context["core"]) == 50
    assert context["records"]["due"]
    assert context["journal"]
