"""Approvals beyond the table (agent-state.md, "Actions")."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from accounts.access import Access, space_set, space_transaction
from actions.models import Action, ActionStep
from actions.services import actions_expire
from actions.tasks import expire
from api.errors import Conflict, Forbidden
from api.timestamps import timestamp_format
from apikeys.models import ApiKey
from tests.actions.queue import access_with, key_becomes, key_with, moved, proposal, proposed, put_into
from tests.clock import MovedClock
from tests.factories import Api, People
from tests.races import at_once

ACTIONS = "/v1/actions"


class Parties:
    """A proposer, an executor and a decider, each with a key over REST."""

    def __init__(self, people: People) -> None:
        self.proposer = Api(key_with(people, "actions:propose", name="proposer"))
        self.executor = Api(key_with(people, "actions:execute", name="executor"))
        self.decider = Api(key_with(people, "actions:decide", name="decider"))

    def propose(self, **changes: Any) -> dict[str, Any]:
        response = self.proposer.post(ACTIONS, proposal(**changes))
        assert response.status_code in {200, 201}, response.content
        body: dict[str, Any] = response.json()
        return body


@pytest.fixture
def parties(people: People) -> Parties:
    return Parties(people)


def move(api: Api, id: str, from_: str, to: str, **body: Any) -> Any:
    return api.post(f"{ACTIONS}/{id}/transition", {"from": from_, "to": to, **body})


class TestPropose:
    def test_a_proposal_is_shown_whole(self, people: People, parties: Parties, clock: MovedClock) -> None:
        response = parties.proposer.post(ACTIONS, proposal(meta={"chat": 1}))
        assert response.status_code == 201
        body = response.json()
        assert body["id"] == "A1"
        assert body == proposal() | {
            "id": "A1", "preconditions": [], "meta": {"chat": 1}, "status": "pending", "decided_by": None,
            "receipt": None, "history": [], "expires_at": timestamp_format(clock.at + timedelta(days=7)),
            "created_at": timestamp_format(clock.at), "updated_at": timestamp_format(clock.at),
            "proposed_by": {"kind": "key", "id": str(ApiKey.objects.get(name="proposer").pk), "name": "proposer"},
        }  # fmt: skip

    def test_ids_count_up_in_each_space(self, people: People, parties: Parties) -> None:
        assert [parties.propose(idempotency_key=f"k{n}")["id"] for n in range(3)] == ["A1", "A2", "A3"]
        assert people.api("outsider").post(ACTIONS, proposal()).json()["id"] == "A1"

    @pytest.mark.parametrize("status", ["pending", "rejected", "done", "expired"])
    def test_the_same_key_and_payload_return_the_action_whatever_its_status(
        self, people: People, parties: Parties, status: str
    ) -> None:
        first = parties.propose(payload={"b": 1.0, "a": [1, "é"]})
        space_set(people.space.pk)
        put_into(Action.objects.get(), status)
        response = parties.proposer.post(ACTIONS, proposal(payload={"a": [1, "é"], "b": 1}, summary="Other words"))
        assert response.status_code == 200
        assert (response.json()["id"], response.json()["status"]) == (first["id"], status)
        assert parties.propose(idempotency_key="next")["id"] == "A2"

    @pytest.mark.parametrize(
        "change",
        [{"payload": {}}, {"class": "email.read"}, {"preconditions": [{"type": "note", "text": "Ask first"}]}],
    )
    def test_the_same_key_with_anything_else_is_a_conflict(self, parties: Parties, change: dict[str, Any]) -> None:
        parties.propose()
        response = parties.proposer.post(ACTIONS, proposal(**change))
        assert (response.status_code, response.json()["error"]) == (422, "idempotency_conflict")

    @pytest.mark.parametrize(("days", "status"), [(-1, 422), (0, 422), (1, 201), (30, 201), (31, 422)])
    def test_expiry_is_in_the_future_and_within_30_days(
        self, parties: Parties, clock: MovedClock, days: int, status: int
    ) -> None:
        body = proposal(expires_at=timestamp_format(clock.at + timedelta(days=days)))
        assert parties.proposer.post(ACTIONS, body).status_code == status

    def test_at_most_50_wait(self, people: People, parties: Parties, clock: MovedClock) -> None:
        access = access_with(people, "actions:propose")
        for number in range(50):
            proposed(access, idempotency_key=f"k{number}")
        refused = parties.proposer.post(ACTIONS, proposal(idempotency_key="one more"))
        assert (refused.status_code, refused.json()["error"]) == (409, "too_many_pending")
        assert parties.proposer.post(ACTIONS, proposal(idempotency_key="k3")).status_code == 200
        assert move(parties.decider, "A1", "pending", "rejected").status_code == 200
        assert parties.propose(idempotency_key="one more")["id"] == "A51"
        clock.forward(days=8)
        assert parties.propose(idempotency_key="later")["id"] == "A52"

    @pytest.mark.parametrize(
        ("change", "status"),
        [
            ({"payload": {"a": "x" * (32 * 1024 - 8)}}, 201),
            ({"payload": {"a": "x" * (32 * 1024 - 7)}}, 413),
            ({"payload": {"a": 2**60}}, 422),
            ({"payload": []}, 422),
            ({"class": ""}, 422),
            ({"summary": None}, 422),
            ({"preconditions": [{"type": "weather"}]}, 422),
            ({"status": "approved"}, 422),
        ],
    )
    def test_limits(self, parties: Parties, change: dict[str, Any], status: int) -> None:
        assert parties.proposer.post(ACTIONS, proposal(**change)).status_code == status

    def test_only_a_key_with_the_scope_proposes(self, people: People, parties: Parties) -> None:
        for api in (parties.executor, parties.decider, people.api("read")):
            assert api.post(ACTIONS, proposal()).status_code == 403

    def test_no_key_holds_both_propose_and_decide(self, people: People) -> None:
        with pytest.raises(DatabaseError), transaction.atomic():
            key_with(people, "actions:propose", "actions:decide")


def test_what_was_proposed_never_changes(people: People) -> None:
    action = proposed(access_with(people, "actions:propose"))
    for change in ({"payload": {}}, {"action_class": "x"}, {"preconditions": [1]}, {"summary": "x"}):
        with pytest.raises(DatabaseError, match="never changes"), transaction.atomic():
            Action.objects.filter(number=action.number).update(**change)


def test_the_way_of_an_action(people: People, parties: Parties, clock: MovedClock) -> None:
    id = parties.propose()["id"]
    approved = move(parties.decider, id, "pending", "approved").json()
    assert (approved["status"], approved["decided_by"]["name"]) == ("approved", "decider")
    taken = move(parties.executor, id, "approved", "executing").json()
    assert taken["payload"] == proposal()["payload"]
    clock.forward(minutes=1)
    done = move(parties.executor, id, "executing", "done", receipt={"message_id": "m1"}).json()

    assert (done["status"], done["receipt"]) == ("done", {"message_id": "m1"})
    assert [(step["from"], step["to"], step["by"]["name"], step["receipt"]) for step in done["history"]] == [
        ("pending", "approved", "decider", None),
        ("approved", "executing", "executor", None),
        ("executing", "done", "executor", {"message_id": "m1"}),
    ]
    assert done["history"][2]["at"] == timestamp_format(clock.at)
    assert parties.proposer.get(f"{ACTIONS}/{id}").json() == done


def test_a_move_from_another_status_is_a_conflict(parties: Parties) -> None:
    id = parties.propose()["id"]
    response = move(parties.executor, id, "approved", "executing")
    assert response.status_code == 409
    assert (response.json()["error"], response.json()["details"]) == ("conflict", {"current_status": "pending"})


def test_the_same_move_again_by_the_same_actor_is_unchanged(people: People, parties: Parties) -> None:
    id = parties.propose()["id"]
    move(parties.decider, id, "pending", "approved")
    again = move(parties.decider, id, "pending", "approved")
    assert (again.status_code, again.json()["unchanged"]) == (200, True)
    assert len(again.json()["history"]) == 1
    other = Api(key_with(people, "actions:decide"))
    assert move(other, id, "pending", "approved").json()["details"] == {"current_status": "approved"}
    assert "unchanged" not in move(parties.executor, id, "approved", "executing").json()
    assert move(parties.executor, id, "approved", "executing").json()["unchanged"] is True


def test_nobody_decides_what_the_same_key_proposed(people: People) -> None:
    access = access_with(people, "actions:propose")
    action = proposed(access)
    same = key_becomes(access, "actions:decide")
    for to in ("approved", "rejected"):
        with pytest.raises(Forbidden, match="same key"):
            moved(same, action, "pending", to)
    assert moved(same, action, "pending", "cancelled")[0].status == "cancelled"


def test_mcp_never_approves_and_names_the_page(people: People) -> None:
    action = proposed(access_with(people, "actions:propose"))
    decider = replace(access_with(people, "actions:decide"), channel="mcp")
    for to in ("approved", "rejected"):
        with pytest.raises(Forbidden) as error:
            moved(decider, action, "pending", to)
        assert error.value.details["page"].endswith(f"/a/{action.short_id}")


def test_a_receipt_is_limited_to_16_kib(parties: Parties) -> None:
    id = parties.propose()["id"]
    move(parties.decider, id, "pending", "approved")
    move(parties.executor, id, "approved", "executing")
    refused = move(parties.executor, id, "executing", "done", receipt={"a": "x" * (16 * 1024 - 7)})
    assert (refused.status_code, refused.json()["error"]) == (413, "payload_too_large")
    assert move(parties.executor, id, "executing", "done", receipt={"a": "x" * (16 * 1024 - 8)}).status_code == 200


class TestTime:
    def test_a_proposal_expires_after_7_days(self, people: People, parties: Parties, clock: MovedClock) -> None:
        id = parties.propose()["id"]
        clock.forward(days=7, seconds=-1)
        assert parties.proposer.get(f"{ACTIONS}/{id}").json()["status"] == "pending"
        clock.forward(seconds=1)
        late = move(parties.decider, id, "pending", "approved")
        assert (late.status_code, late.json()["details"]) == (409, {"current_status": "expired"})
        body = parties.proposer.get(f"{ACTIONS}/{id}").json()
        assert (body["status"], body["history"][0]["by"]["kind"]) == ("expired", "system")

    def test_an_approval_lapses_after_24_hours(self, parties: Parties, clock: MovedClock) -> None:
        id = parties.propose()["id"]
        move(parties.decider, id, "pending", "approved")
        clock.forward(hours=24)
        late = move(parties.executor, id, "approved", "executing")
        assert late.json()["details"] == {"current_status": "expired"}

    def test_an_approval_does_not_outlive_the_proposal(self, parties: Parties, clock: MovedClock) -> None:
        id = parties.propose(expires_at=timestamp_format(clock.at + timedelta(hours=3)))["id"]
        clock.forward(hours=2)
        move(parties.decider, id, "pending", "approved")
        clock.forward(hours=1)
        assert move(parties.executor, id, "approved", "executing").json()["error"] == "conflict"

    def test_an_execution_times_out_after_24_hours(self, people: People, parties: Parties, clock: MovedClock) -> None:
        id = parties.propose()["id"]
        move(parties.decider, id, "pending", "approved")
        move(parties.executor, id, "approved", "executing")
        clock.forward(hours=24)
        space_set(people.space.pk)
        assert actions_expire(Access.system(people.space.pk)) == 1
        body = parties.proposer.get(f"{ACTIONS}/{id}").json()
        assert (body["status"], body["receipt"]) == ("failed", {"reason": "timeout", "outcome": "unknown"})
        assert move(parties.executor, id, "executing", "done").json()["details"] == {"current_status": "failed"}

    def test_the_periodic_task_visits_every_space(self, people: People, parties: Parties, clock: MovedClock) -> None:
        parties.propose()
        people.api("outsider").post(ACTIONS, proposal())
        clock.forward(days=7)
        expire()
        for space in (people.space, people.other):
            space_set(space.pk)
            assert Action.objects.get(space=space).status == "expired"


class TestPreconditions:
    def conditions(self, people: People) -> dict[str, tuple[dict[str, Any], Any]]:
        """Return for each thing an action may depend on: the precondition, and how the thing moves on."""
        api = people.api()
        record = api.post("/v1/records/tasks", {}).json()
        api.put("/v1/kv/ui/theme", {"value": 1})
        memory = api.created()
        return {
            "record": (
                {"type": "record", "collection": "tasks", "id": record["id"], "version": 1},
                lambda: api.patch(f"/v1/records/tasks/{record['id']}", {"status": "done"}),
            ),
            "kv": (
                {"type": "kv", "ns": "ui", "key": "theme", "version": 1},
                lambda: api.put("/v1/kv/ui/theme", {"value": 2}),
            ),
            "memory": (
                {"type": "memory", "id": memory["id"], "version": 1},
                lambda: api.put(f"/v1/memories/{memory['id']}", {"content": "Other"}),
            ),
        }

    @pytest.mark.parametrize("kind", ["record", "kv", "memory"])
    def test_a_thing_that_moved_on_stops_the_approval(self, people: People, parties: Parties, kind: str) -> None:
        condition, move_on = self.conditions(people)[kind]
        id = parties.propose(preconditions=[{"type": "note", "text": "advice"}, condition])["id"]
        move_on()
        response = move(parties.decider, id, "pending", "approved")
        assert response.status_code == 409
        assert (response.json()["error"], response.json()["details"]) == ("precondition_failed", {"index": 1})
        assert move(parties.decider, id, "pending", "rejected").status_code == 200

    @pytest.mark.parametrize("kind", ["record", "kv", "memory"])
    def test_a_thing_that_moved_on_stops_the_execution(self, people: People, parties: Parties, kind: str) -> None:
        condition, move_on = self.conditions(people)[kind]
        id = parties.propose(preconditions=[condition])["id"]
        assert move(parties.decider, id, "pending", "approved").status_code == 200
        move_on()
        assert move(parties.executor, id, "approved", "executing").json()["error"] == "precondition_failed"
        assert parties.proposer.get(f"{ACTIONS}/{id}").json()["status"] == "approved"

    def test_time_bounds(self, parties: Parties, clock: MovedClock) -> None:
        bounds = [
            {"type": "not_before", "at": timestamp_format(clock.at + timedelta(hours=1))},
            {"type": "not_after", "at": timestamp_format(clock.at + timedelta(hours=2))},
        ]
        id = parties.propose(preconditions=bounds)["id"]
        assert move(parties.decider, id, "pending", "approved").json()["details"] == {"index": 0}
        clock.forward(hours=1)
        assert move(parties.decider, id, "pending", "approved").status_code == 200
        clock.forward(hours=1, seconds=1)
        assert move(parties.executor, id, "approved", "executing").json()["details"] == {"index": 1}


class TestList:
    def test_by_default_what_is_not_over_newest_first(self, people: People, parties: Parties) -> None:
        access = access_with(people, "actions:propose")
        for number, status in enumerate(["pending", "done", "approved", "executing", "rejected"]):
            put_into(proposed(access, idempotency_key=f"k{number}"), status)
        assert [action["id"] for action in parties.executor.get(ACTIONS).json()["actions"]] == ["A4", "A3", "A1"]
        over = parties.executor.get(ACTIONS, status="done,rejected").json()["actions"]
        assert [action["id"] for action in over] == ["A5", "A2"]
        assert parties.executor.get(ACTIONS, status="lost").status_code == 422

    def test_pages(self, people: People, parties: Parties) -> None:
        access = access_with(people, "actions:propose")
        for number in range(5):
            proposed(access, idempotency_key=f"k{number}")
        seen, query = [], {"limit": 2}
        while True:
            page = parties.decider.get(ACTIONS, **query).json()
            seen += [action["id"] for action in page["actions"]]
            if page["next_cursor"] is None:
                break
            query["cursor"] = page["next_cursor"]
        assert seen == ["A5", "A4", "A3", "A2", "A1"]

    def test_any_actions_scope_reads_and_no_other(self, people: People, parties: Parties) -> None:
        id = parties.propose()["id"]
        for api in (parties.proposer, parties.executor, parties.decider, people.api("member")):
            assert api.get(ACTIONS).status_code == 200
        for path in (ACTIONS, f"{ACTIONS}/{id}"):
            assert people.api("read").get(path).status_code == 403
        assert move(people.api("read"), id, "pending", "cancelled").status_code == 403

    def test_others_actions_are_not_there(self, people: People, parties: Parties) -> None:
        id = parties.propose()["id"]
        outsider = people.api("outsider")
        assert outsider.get(ACTIONS).json()["actions"] == []
        for response in (outsider.get(f"{ACTIONS}/{id}"), move(outsider, id, "pending", "cancelled")):
            assert (response.status_code, response.json()["error"]) == (404, "not_found")
        for id in ("A0", "A99", "7", "Ax", "A" + "9" * 30):
            assert parties.proposer.get(f"{ACTIONS}/{id}").status_code == 404


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_of_twenty_parallel_moves_one_wins(self, people: People) -> None:
        with space_transaction(people.access()):
            action = proposed(access_with(people, "actions:propose"))
            put_into(action, "approved")
        executors = [access_with(people, "actions:execute") for _ in range(20)]

        def take(number: int) -> str:
            with space_transaction(executors[number]):
                return str(moved(executors[number], action, "approved", "executing")[0].executor_id)

        outcomes = at_once(20, take)

        won = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
        assert len(won) == 1
        conflicts = [outcome for outcome in outcomes if isinstance(outcome, Conflict)]
        assert [conflict.details for conflict in conflicts] == [{"current_status": "executing"}] * 19
        with space_transaction(people.access()):
            assert ActionStep.objects.filter(space=people.space).count() == 1

    def test_twenty_parallel_proposals_of_one_make_one(self, people: People) -> None:
        access = access_with(people, "actions:propose")

        def propose(number: int) -> str:
            with space_transaction(access):
                return proposed(access).short_id

        assert at_once(20, propose) == ["A1"] * 20
