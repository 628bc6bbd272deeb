"""Whatever a client's model submits: no protected fact changes, not too many leave, nothing is deleted, undo undoes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from accounts.access import Access, space_set
from api.errors import Invalid, PayloadTooLarge
from api.timestamps import timestamp_format
from dreams.details import keeps_details
from dreams.job import fact_protected
from dreams.models import DreamRun
from dreams.services import dream_next_job, dream_submit, dream_undo
from memories.models import Memory
from tests.clock import MovedClock
from tests.dreams.night import Night, facet
from tests.factories import People

ELSEWHERE = "mem_0000000000000000"
PAIRS = ["Anna lives in Bonn since 2019", "Since 2019 Anna lives in Bonn", "Anna, 2019, Bonn"]


class World:
    """A space with facts of every kind, one of them in another space, in which a dream is leased."""

    def __init__(self, people: People, clock: MovedClock) -> None:
        self.people, self.clock = people, clock
        night = Night(people, clock, facts=14)
        self.access, self.owner = night.access, people.access("decide")
        same = [night.remember(text, subject="Anna", tags=[f"t{n}"]) for n, text in enumerate(PAIRS)]
        kept = [
            night.remember("Core: Anna, Bonn, 2019", subject="Anna", tier="core"),
            night.remember("Pinned: Anna, Bonn, 2019", subject="Anna", pinned=True),
            night.remember("Said: Anna, Bonn, 2019", subject="Anna", origin="user"),
        ]
        scratch = night.remember("passing by", tier="scratch")
        clock.forward(hours=25)
        young = night.remember("too young")
        other = people.api("outsider").post("/v1/memories/remember", {"text": "other space"}).json()["id"]
        self.same, self.kept, self.plain = same, kept, night.ids
        self.ids = [*night.ids, *same, *kept, scratch, young, other, ELSEWHERE]
        self.own = [*night.ids, *same, *kept, scratch]
        self.night = night
        space_set(self.access.space_id)
        self.run_id = dream_next_job(access=self.access)["job"]["run_id"]

    def rows(self) -> dict[str, Memory]:
        return {memory.id: memory for memory in Memory.objects.filter(space_id=self.access.space_id)}


def submissions(world: World) -> st.SearchStrategy[Any]:
    """Return submissions that may be valid, clumsy or hostile."""
    now = world.clock.at
    ids = st.sampled_from(world.own) | st.sampled_from(world.ids)
    words = st.sampled_from(["Anna", "Bonn", "2019", "plain", "fact", "number", "3", "7", "not", "lives", "x", ""])
    texts = (
        st.lists(words, min_size=1, max_size=8).map(" ".join)
        | st.sampled_from([*PAIRS, "plain fact number 3", "plain fact, number 4", "Anna moved to Bonn in 2019"])
        | st.text(max_size=30)
    )
    moments = st.sampled_from([-1, 0, 6, 7, 8, 31, 400]).map(lambda days: timestamp_format(now + timedelta(days=days)))
    reason = st.fixed_dictionaries({}, optional={"reason": st.text(max_size=5)})

    def change(op: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({"op": st.just(op), **fields}).flatmap(lambda made: reason.map(lambda r: made | r))

    evidence = st.lists(ids | st.just("day:2026-01-01"), min_size=1, max_size=3)
    alike = st.sampled_from([*world.same, *world.kept])
    sound = st.one_of(
        change("merge", keep_id=alike, drop_ids=st.sampled_from(world.same).map(lambda id: [id])),
        st.sampled_from(list(enumerate(world.plain))).map(
            lambda pair: {"op": "update", "id": pair[1], "text": f"It is a plain fact, number {pair[0]}"}
        ),
        change("add", text=st.text("abc ", min_size=3, max_size=9), evidence=alike.map(lambda id: [id])),
    )
    valid = st.one_of(
        sound,
        sound,
        change("update", id=ids, text=texts),
        change("merge", keep_id=ids, drop_ids=st.lists(ids, min_size=1, max_size=4)),
        change("merge", keep_id=ids, drop_ids=st.lists(ids, min_size=1, max_size=4), text=texts),
        change("set_tier", id=ids, tier=st.sampled_from(["long", "scratch"])),
        change("expire", id=ids) | change("expire", id=ids, expires_at=moments),
        change("add", text=texts, evidence=evidence, tier=st.sampled_from(["long", "scratch"])),
        st.fixed_dictionaries(
            {
                "op": st.just("suggest"), "kind": st.sampled_from(["core", "delete", "contradiction"]),
                "ids": st.lists(ids, min_size=1, max_size=3), "text": texts,
            }
        ),
    )  # fmt: skip
    hostile = st.one_of(
        change("delete", id=ids), change("set_tier", id=ids, tier=st.just("core")),
        change("update", id=ids, text=texts, version=st.integers(), pinned=st.booleans()),
        change("add", text=texts, evidence=evidence, origin=st.just("user"), pinned=st.just(True)),
        st.just({"op": "expire", "id": None}), change("expire", id=st.just("")), st.integers(), st.none(),
    )  # fmt: skip
    bombs = st.one_of(
        st.integers(1, 200).map(lambda depth: nested(depth)),
        st.just({"changes": [], "summary": "x" * 300_000}),
        st.just({"changes": [{"op": "expire", "id": "x"}] * 5_000}),
        st.just({"changes": [], "n": 10**400}),
        st.just({"changes": [], "summary": "\x00"}),
        st.just({"changes": [], "summary": "\ud800"}),
        st.recursive(st.none() | st.booleans() | st.text(max_size=3), lambda inner: st.lists(inner, max_size=3)),
    )
    answers = st.fixed_dictionaries({"changes": st.lists(valid, min_size=1, max_size=9)})
    mixed = st.fixed_dictionaries({"changes": st.lists(valid | hostile, max_size=6)})
    return st.one_of(answers, answers, answers, mixed, bombs)


def nested(depth: int) -> Any:
    value: Any = {"changes": []}
    for _ in range(depth):
        value = {"changes": [value]}
    return value


def check_rules(world: World, before: dict[str, Memory], outcome: dict[str, Any] | None) -> None:
    """Assert what must hold after any submission."""
    after = world.rows()
    run = DreamRun.objects.get(space_id=world.access.space_id)
    assert before.keys() <= after.keys(), "nothing is deleted"
    changed = {id for id in before if facet(before[id]) != facet(after[id])}
    if outcome is None:
        assert (changed, after.keys() - before.keys(), run.status) == (set(), set(), "leased")
        return
    for id in changed:
        assert not fact_protected(before[id]), "protected facts never change"
        assert id in world.own
    active = sum(memory.status == "active" for memory in before.values())
    leaving = [id for id in changed if after[id].status != "active" or (
        after[id].expires_at is not None and after[id].expires_at != before[id].expires_at)]  # fmt: skip
    assert len(leaving) <= active // 10
    assert outcome["applied"] <= run.max_changes + 20
    for id in changed:
        assert after[id].expires_at == before[id].expires_at or after[id].expires_at is None or (
            after[id].expires_at >= world.clock.at + timedelta(days=7))  # fmt: skip
        survivor = after[id]
        while survivor.superseded_by is not None:
            survivor = after[survivor.superseded_by]
        assert survivor.status == "active"
        if survivor is not after[id] and survivor.expires_at is not None:
            assert before[id].expires_at is not None, "what is merged lasts as long as before"
            assert survivor.expires_at >= before[id].expires_at
        assert keeps_details(survivor.content, [before[id].content])
        assert survivor.subject == before[id].subject
    for id in after.keys() - before.keys():
        new = after[id]
        assert (new.origin, new.pinned, new.channel, new.status) == ("agent", False, "dream", "active")
        assert new.tier != "core"
        assert new.metadata["evidence"]


@pytest.fixture
def world(people: People, clock: MovedClock) -> World:
    return World(people, clock)


@settings(
    max_examples=100, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)  # fmt: skip
@given(data=st.data())
def test_no_submission_breaks_the_rules(world: World, data: st.DataObject) -> None:
    result = data.draw(submissions(world))
    edited = data.draw(st.sampled_from(["nothing", "nothing", "edit", "forget"]))
    with transaction.atomic():
        before = world.rows()
        outcome = submitted(world.access, world.run_id, result)
        note_kind(result, outcome)
        check_rules(world, before, outcome)
        if outcome is not None and outcome["status"] == "applied":
            check_undo(world, before, edited)
        transaction.set_rollback(True)


def note_kind(result: Any, outcome: dict[str, Any] | None) -> None:
    """Show in hypothesis's statistics what was tried."""
    event(f"outcome: {outcome['status'] if outcome else 'refused whole'}")
    if outcome is not None:
        refused = {item["index"]: item["code"] for item in outcome["rejected"]}
        for index, change in enumerate(result["changes"]):
            event(f"{change['op']}: {refused.get(index, 'applied')}")


def submitted(access: Access, run_id: str, result: Any) -> dict[str, Any] | None:
    try:
        with transaction.atomic():
            return dream_submit(access=access, run_id=run_id, result=result)
    except (Invalid, PayloadTooLarge):
        return None


def check_undo(world: World, before: dict[str, Memory], edited: str) -> None:
    """Change or forget one row that the dream touched, undo, and compare with what was before."""
    dreamt = world.rows()
    touched = sorted(id for id in dreamt if id not in before or facet(dreamt[id]) != facet(before[id]))
    victim = next((id for id in touched if dreamt[id].status == "active"), None) if edited != "nothing" else None
    if victim is not None and edited == "edit":
        world.people.api().put(f"/v1/memories/{victim}", {"content": "edited by hand"})
    elif victim is not None:
        world.people.api().delete(f"/v1/memories/{victim}")
    gone = dreamt.keys() - world.rows().keys()  # with a forgotten fact goes what was merged into it
    answer = dream_undo(access=world.owner, run_id=world.run_id)

    after = world.rows()
    skipped = {skip["id"]: skip["reason"] for skip in answer["skipped"]}
    expected = dict.fromkeys(gone & set(touched), "forgotten")
    if victim is not None and edited == "edit":
        expected[victim] = "changed_since"
        assert after[victim].content == "edited by hand"
    assert skipped == expected
    assert answer["restored"] == len(touched) - len(skipped)
    for id in before.keys() - skipped.keys() - gone:
        assert facet(after[id]) == facet(before[id]), "undo brings the exact earlier state back"
    assert not gone & after.keys()
    assert after.keys() - before.keys() <= skipped.keys(), "what was added is gone again"
