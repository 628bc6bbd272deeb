"""When a dream is due, who gets its job, and how long (agent-state.md, "Dreams")."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from accounts.access import Access, space_set, space_transaction
from accounts.models import Space
from api.errors import Conflict, Forbidden, Invalid, NotFound
from dreams.models import DreamRun
from dreams.services import dream_cancel, dream_next_job, dream_start, dream_submit
from dreams.tasks import reap
from memories.facts import facts_recall
from memories.models import Memory
from memories.schemas import Recall
from notebook.journal import journal_write
from notebook.schemas import JournalWrite
from tests.clock import MovedClock
from tests.dreams.night import Night
from tests.factories import Api, People, key_create
from tests.races import at_once

EMPTY: dict[str, Any] = {"changes": []}


def asked(access: Access, **arguments: Any) -> dict[str, Any]:
    space_set(access.space_id)
    return dream_next_job(access=access, **arguments)


class TestDue:
    def test_a_space_with_changed_facts_is_due(self, night: Night) -> None:
        answer = asked(night.access)
        assert (answer["due"], answer["job"]["run_id"][:6]) == (True, "dream_")
        assert next(iter(answer)) == "notice"

    def test_a_disabled_space_never_is(self, night: Night) -> None:
        Space.objects.filter(pk=night.access.space_id).update(dreams_enabled=False)
        assert asked(night.access) == {"job": None, "due": False, "reason": "disabled"}

    def test_not_within_24_hours_of_the_last(self, night: Night, clock: MovedClock) -> None:
        night.dream()
        for number in range(5):
            night.remember(f"fact after the dream {number}")
        clock.forward(hours=23, minutes=59)
        assert asked(night.access)["reason"] == "too_soon"
        clock.forward(minutes=1)
        assert asked(night.access)["due"] is True

    def test_not_for_fewer_than_five_changed_facts(self, night: Night, clock: MovedClock) -> None:
        night.dream()
        for number in range(4):
            night.remember(f"fact after the dream {number}")
        clock.forward(hours=25)
        assert asked(night.access)["reason"] == "nothing_changed"
        night.remember("the fifth")
        assert asked(night.access)["due"] is True

    def test_what_only_dreams_changed_does_not_count(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=60)
        done = night.dream(*[{"op": "update", "id": id, "text": night.fact(id).content + " x"} for id in night.ids[:5]])
        assert done["applied"] == 5
        clock.forward(hours=25)
        assert asked(night.access)["reason"] == "nothing_changed"

    def test_a_closed_journal_day_counts(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=1)
        assert asked(night.access)["reason"] == "nothing_changed"
        journal_write(access=night.access, data=JournalWrite(date=clock.at.date(), summary="Today"))
        assert asked(night.access)["reason"] == "nothing_changed"
        clock.forward(days=1)
        assert asked(night.access)["due"] is True

    def test_core_over_80_percent_counts(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=1)
        night.remember("c" * 6_400, tier="core")
        assert asked(night.access)["reason"] == "nothing_changed"
        night.remember("d", tier="core")
        assert asked(night.access)["due"] is True

    def test_start_if_due_false_only_tells(self, night: Night) -> None:
        assert asked(night.access, start_if_due=False) == {"job": None, "due": True, "reason": "not_started"}
        assert DreamRun.objects.count() == 0
        job = night.job()
        assert asked(night.access, start_if_due=False)["job"] == job

    def test_facts_that_are_all_too_young_end_the_run(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=0)
        for number in range(5):
            night.remember(f"young {number}")
        assert asked(night.access) == {"job": None, "due": False, "reason": "nothing_eligible"}
        assert DreamRun.objects.get().status == "no_changes"


class TestJob:
    def test_it_holds_everything_a_model_needs(self, night: Night) -> None:
        protected = night.remember("Said so", origin="user", tags=["a"], subject="Anna")
        journal_write(
            access=night.access, data=JournalWrite(date=night.clock.at.date(), summary="Yesterday", decisions=["Go"])
        )
        night.clock.forward(hours=25)

        job = night.job()

        assert set(job) == {"run_id", "instructions", "input", "output_schema", "max_changes"}
        Draft202012Validator.check_schema(job["output_schema"])
        assert Draft202012Validator(job["output_schema"]).is_valid(EMPTY)
        assert not Draft202012Validator(job["output_schema"]).is_valid({"changes": [{"op": "delete", "id": "x"}]})
        by_id = {fact["id"]: fact for fact in job["input"]["facts"]}
        assert set(by_id) == {*night.ids, protected}
        assert by_id[protected] == {
            "id": protected, "version": 1, "text": "Said so", "subject": "Anna", "tier": "long", "tags": ["a"],
            "origin": "user", "pinned": False, "age_days": 1, "recall_count": 0, "protected": True,
        }  # fmt: skip
        assert job["input"]["journal"][0]["summary"] == "Yesterday"

    def test_it_stays_under_40000_characters_with_whole_facts(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=0)
        texts = {night.remember(f"{number:03} " + 'ü\n"' * 300): number for number in range(60)}
        for number in range(14):
            entry = JournalWrite(date=clock.at.date() - timedelta(days=number), summary="\\" * 4_000)
            journal_write(access=night.access, data=entry)
        clock.forward(hours=25)
        answer = asked(night.access)
        assert len(json.dumps(answer["job"], ensure_ascii=False)) < 40_000
        shown = answer["job"]["input"]["facts"]
        assert 10 < len(shown) < 60
        assert all(fact["text"] == night.fact(fact["id"]).content for fact in shown)
        assert {fact["id"] for fact in shown} < set(texts)

    def test_at_most_150_facts_oldest_untouched_and_new_by_turns(self, people: People, clock: MovedClock) -> None:
        night = Night(people, clock, facts=100)
        night.dream()
        new = [night.remember(f"new {number}") for number in range(100)]
        clock.forward(hours=25)
        shown = [fact["id"] for fact in night.job()["input"]["facts"]]
        assert len(shown) == 150
        assert shown[0] in new
        assert shown[1] in night.ids
        assert len(set(shown) & set(new)) == 75

    def test_facts_touched_by_a_dream_rest_for_7_days(self, night: Night, clock: MovedClock) -> None:
        touched = night.ids[0]
        night.dream({"op": "update", "id": touched, "text": "plain fact number 0 again"})
        for days, expected in ((6, False), (2, True)):
            clock.forward(days=days)
            for number in range(5):
                night.remember(f"more {days} {number}")
            job = night.job()
            assert (touched in {fact["id"] for fact in job["input"]["facts"]}) is expected
            dream_submit(access=night.access, run_id=job["run_id"], result=EMPTY)

    @pytest.mark.parametrize(("facts", "most"), [(5, 3), (40, 4), (150, 15), (230, 20)])
    def test_max_changes_is_a_tenth_between_3_and_20(
        self, people: People, clock: MovedClock, facts: int, most: int
    ) -> None:
        access = people.access()
        space_set(access.space_id)
        Memory.objects.bulk_create(
            Memory(
                space_id=access.space_id, content=f"f {number}", type="semantic", source_tool="x",
                source_timestamp=clock.at, created_at=clock.at, updated_at=clock.at,
            )
            for number in range(facts)
        )  # fmt: skip
        clock.forward(hours=25)
        assert asked(access)["job"]["max_changes"] == most

    def test_a_job_neither_counts_as_recall_nor_touches_a_version(self, night: Night) -> None:
        night.job()
        fact = night.fact(night.ids[0])
        assert (fact.recall_count, fact.version) == (0, 1)

    def test_a_limited_key_dreams_only_of_what_it_may_read(self, people: People, night: Night) -> None:
        own = [
            night.people.api("tool").post("/v1/memories/remember", {"text": f"mine {n}"}).json()["id"] for n in range(6)
        ]
        night.clock.forward(hours=25)
        shown = night.job(people.access("tool"))["input"]["facts"]
        assert {fact["id"] for fact in shown} == set(own)

    def test_the_journal_is_for_keys_that_may_read_it(self, people: People, night: Night) -> None:
        journal_write(access=night.access, data=JournalWrite(date=night.clock.at.date(), summary="Secret"))
        key = key_create(people.space, people.owner, scopes={"dreams", "memories:read"})
        assert Api(key).post("/v1/dreams/next-job", {}).json()["job"]["input"]["journal"] == []

    def test_a_quarantine_key_does_not_dream(self, people: People, night: Night) -> None:
        with pytest.raises(Forbidden):
            asked(people.access("quarantine"))


class TestLease:
    def test_the_same_key_gets_the_same_job_another_waits(self, people: People, night: Night) -> None:
        first = night.job()
        assert night.job() == first
        other = asked(people.access("member"))
        assert other == {"job": None, "due": False, "reason": "in_progress"}

    def test_a_repeated_job_leaves_out_what_moved_since(self, night: Night) -> None:
        first = night.job()
        night.people.api().put(f"/v1/memories/{night.ids[0]}", {"content": "edited"})
        night.people.api().delete(f"/v1/memories/{night.ids[1]}")
        again = night.job()
        assert again["run_id"] == first["run_id"]
        assert {f["id"] for f in first["input"]["facts"]} - {f["id"] for f in again["input"]["facts"]} == set(
            night.ids[:2]
        )

    def test_a_lease_lasts_30_minutes(self, people: People, night: Night, clock: MovedClock) -> None:
        run_id = night.job()["run_id"]
        clock.forward(minutes=29)
        assert asked(people.access("member"))["reason"] == "in_progress"
        clock.forward(minutes=1)
        with pytest.raises(Conflict) as error:
            dream_submit(access=night.access, run_id=run_id, result=EMPTY)
        assert error.value.details == {"current_status": "pending"}
        assert asked(people.access("member"))["job"]["run_id"] == run_id
        with pytest.raises(Conflict) as error:
            dream_submit(access=night.access, run_id=run_id, result=EMPTY)
        assert error.value.details == {"current_status": "leased"}

    def test_after_three_leases_the_run_has_failed(self, night: Night, clock: MovedClock) -> None:
        run_id = night.job()["run_id"]
        for attempt in (2, 3):
            clock.forward(minutes=30)
            assert night.job()["run_id"] == run_id
            assert DreamRun.objects.get().attempts == attempt
        clock.forward(minutes=30)
        reap()
        space_set(night.access.space_id)
        assert DreamRun.objects.get().status == "failed"
        assert asked(night.access)["reason"] == "too_soon"

    def test_a_cancelled_run_ends_and_does_not_hold_up_the_next(self, people: People, night: Night) -> None:
        run_id = night.job()["run_id"]
        with pytest.raises(Forbidden):
            dream_cancel(access=people.access("member"), run_id=run_id)
        assert dream_cancel(access=night.access, run_id=run_id).status == "cancelled"
        with pytest.raises(Conflict):
            dream_submit(access=night.access, run_id=run_id, result=EMPTY)
        assert night.job()["run_id"] != run_id

    def test_the_owner_may_start_at_any_time_others_when_due(self, people: People, night: Night) -> None:
        night.dream()
        with pytest.raises(Conflict) as error:
            dream_start(access=night.access)
        assert error.value.details == {"reason": "too_soon"}
        assert dream_start(access=people.access("decide")).status == "pending"
        with pytest.raises(Conflict) as error:
            dream_start(access=people.access("decide"))
        assert error.value.details == {"current_status": "pending"}
        assert night.job()["max_changes"] == 3

    def test_one_live_run_a_space_says_the_database(self, night: Night) -> None:
        night.job()
        with pytest.raises(Exception, match="dreams_run_one_live"):
            DreamRun.objects.create(space_id=night.access.space_id, created_at=night.clock.at)


class TestSubmit:
    def test_the_same_result_again_returns_the_stored_outcome(self, night: Night) -> None:
        run_id = night.job()["run_id"]
        result = {"changes": [{"op": "expire", "id": night.ids[0]}, {"op": "expire", "id": "mem_0000000000000000"}]}
        first = dream_submit(access=night.access, run_id=run_id, result=result)
        assert dream_submit(access=night.access, run_id=run_id, result=result) == first
        assert (first["status"], first["applied"]) == ("applied", 1)
        assert set(first) == {"run_id", "status", "applied", "rejected"}
        with pytest.raises(Conflict) as error:
            dream_submit(access=night.access, run_id=run_id, result=EMPTY)
        assert error.value.details == {"current_status": "applied"}
        assert night.fact(night.ids[0]).version == 2

    @pytest.mark.parametrize(
        "result",
        [
            None, [], "text", {}, {"changes": {}}, {"changes": [{"op": "delete", "id": "x"}]},
            {"changes": [], "more": 1},
            {"changes": [{"op": "update", "id": "x"}]}, {"changes": [{"op": "set_tier", "id": "x", "tier": "core"}]},
            {"changes": [{"op": "add", "text": "x", "evidence": []}]}, {"changes": [{"op": "expire", "id": "x"}] * 201},
            {"changes": [{"op": "add", "text": "x", "evidence": ["y"], "pinned": True}]},
            {"changes": [{"op": "add", "text": "x", "evidence": ["y"], "origin": "user"}]},
        ],
    )  # fmt: skip
    def test_a_result_that_breaks_the_schema_is_refused_whole_and_the_lease_stays(
        self, night: Night, result: Any
    ) -> None:
        run_id, before = night.job()["run_id"], night.state()
        with pytest.raises(Invalid):
            dream_submit(access=night.access, run_id=run_id, result=result)
        assert night.state() == before
        assert DreamRun.objects.get().status == "leased"
        assert dream_submit(access=night.access, run_id=run_id, result=EMPTY)["status"] == "no_changes"

    def test_an_unknown_run_is_not_found(self, people: People, night: Night) -> None:
        run_id = night.job()["run_id"]
        for access, id in ((night.access, "dream_x"), (people.access("outsider"), run_id)):
            space_set(access.space_id)
            with pytest.raises(NotFound):
                dream_submit(access=access, run_id=id, result=EMPTY)


class TestRest:
    def test_the_whole_way_over_rest(self, people: People, night: Night) -> None:
        api, owner = people.api(), people.api("decide")
        job = api.post("/v1/dreams/next-job", {}).json()["job"]
        change = {"op": "update", "id": night.ids[0], "text": "plain fact, number 0", "reason": "clearer"}
        outcome = api.post(f"/v1/dreams/{job['run_id']}/submit", {"result": {"changes": [change], "summary": "One."}})
        assert (outcome.status_code, outcome.json()["applied"]) == (200, 1)

        shown = api.get(f"/v1/dreams/{job['run_id']}").json()

        (diff,) = shown["changes"]
        assert diff["before"][night.ids[0]]["content"] == "plain fact number 0"
        assert diff["after"][night.ids[0]]["content"] == "plain fact, number 0"
        assert (diff["seq"], diff["op"], diff["memory_ids"], diff["reason"]) == (1, "update", [night.ids[0]], "clearer")
        assert (shown["status"], shown["summary"], diff["status"]) == ("applied", "One.", "applied")
        assert shown["undo_until"] > shown["applied_at"]
        assert [run["id"] for run in api.get("/v1/dreams").json()["dreams"]] == [job["run_id"]]
        assert api.post(f"/v1/dreams/{job['run_id']}/undo").status_code == 403
        undone = owner.post(f"/v1/dreams/{job['run_id']}/undo")
        assert undone.json() == {"restored": 1, "skipped": []}
        assert owner.post(f"/v1/dreams/{job['run_id']}/undo").status_code == 409
        assert api.get("/v1/dreams/" + job["run_id"]).json()["status"] == "undone"

    def test_start_and_cancel(self, people: People, night: Night) -> None:
        started = people.api("decide").post("/v1/dreams", {})
        assert (started.status_code, started.json()["status"]) == (201, "pending")
        assert people.api().post("/v1/dreams", {}).status_code == 409
        cancelled = people.api("decide").post(f"/v1/dreams/{started.json()['id']}/cancel", {})
        assert cancelled.json()["status"] == "cancelled"

    def test_scopes(self, people: People, night: Night) -> None:
        run_id = night.job()["run_id"]
        read = people.api("read")
        for path in ("/v1/dreams", f"/v1/dreams/{run_id}", "/v1/dreams/suggestions"):
            assert read.get(path).status_code == 403
            assert people.api("decide").get(path).status_code == 200
        for path in ("/v1/dreams", "/v1/dreams/next-job", f"/v1/dreams/{run_id}/submit", f"/v1/dreams/{run_id}/undo"):
            assert read.post(path, {"result": EMPTY} if "submit" in path else {}).status_code == 403
        assert people.api("outsider").get(f"/v1/dreams/{run_id}").status_code == 404

    def test_a_limited_key_sees_no_change_of_what_it_may_not_read(self, people: People, night: Night) -> None:
        night.dream({"op": "update", "id": night.ids[0], "text": "plain fact, number 0"}, summary="About fact 0.")
        run_id = DreamRun.objects.get().id
        shown = people.api("tool").get(f"/v1/dreams/{run_id}").json()
        assert (shown["changes"], shown["summary"]) == ([], "")
        assert people.api("tool").get("/v1/dreams").json()["dreams"][0]["summary"] == ""
        assert len(people.api().get(f"/v1/dreams/{run_id}").json()["changes"]) == 1


@pytest.mark.django_db(transaction=True)
def test_two_parallel_next_jobs_make_one_lease(people: People, clock: MovedClock) -> None:
    with space_transaction(people.access()):
        Night(people, clock)
    accesses = [people.access(), people.access("member")] * 2

    def ask(number: int) -> str:
        with space_transaction(accesses[number]):
            answer = dream_next_job(access=replace(accesses[number], actor_id=f"{number}"))
            return str(answer["job"]["run_id"] if answer["job"] else answer["reason"])

    outcomes = at_once(4, ask)

    assert sorted(str(outcome)[:6] for outcome in outcomes) == ["dream_", "in_pro", "in_pro", "in_pro"]
    with space_transaction(people.access()):
        assert DreamRun.objects.filter(space=people.space).count() == 1


def test_recall_counts_are_no_change(night: Night, clock: MovedClock) -> None:
    night.dream()
    clock.forward(hours=25)
    facts_recall(access=night.access, params=Recall(limit=50))
    assert asked(night.access)["reason"] == "nothing_changed"
    assert Api(key_create(night.people.space, night.people.owner)).post("/v1/dreams/next-job", {}).json()["job"] is None
