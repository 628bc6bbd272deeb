"""Undo, and what becomes of before-images (agent-state.md, "Dreams")."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import Access, space_set
from api.errors import Conflict, Forbidden
from dreams.models import DreamChange, DreamRun
from dreams.services import dream_undo
from dreams.tasks import purge
from memories.models import Memory
from tests.clock import MovedClock
from tests.dreams.night import Night
from tests.factories import People


@pytest.fixture
def owner(people: People) -> Access:
    return people.access("decide")


def undo(owner: Access) -> dict[str, Any]:
    space_set(owner.space_id)
    return dream_undo(access=owner, run_id=DreamRun.objects.get().id)


def dreamt(night: Night) -> dict[str, str]:
    """Have a dream of a merge, an update and an added fact; return the ids it touched."""
    keep = night.remember("Anna lives in Bonn", tags=["a"])
    drop = night.remember("Anna lives in Bonn!", tags=["b"])
    night.clock.forward(hours=25)
    outcome = night.dream(
        {"op": "merge", "keep_id": keep, "drop_ids": [drop], "text": "Anna, she lives in Bonn"},
        {"op": "update", "id": night.ids[0], "text": "plain fact, number 0"},
        {"op": "add", "text": "New insight", "evidence": [keep]},
        summary="Tidied.",
    )
    assert (outcome["applied"], outcome["rejected"]) == (3, [])
    return {"keep": keep, "drop": drop, "update": night.ids[0], "add": Memory.objects.get(content="New insight").id}


def test_undo_brings_the_exact_earlier_state_back(night: Night, owner: Access) -> None:
    before = night.state()
    ids = dreamt(night)
    after = night.state()
    assert undo(owner) == {"restored": 4, "skipped": []}
    restored = night.state()
    assert ids["add"] not in restored
    assert {id: restored[id] for id in before} == before
    assert restored != after
    assert DreamRun.objects.get().status == "undone"
    assert set(DreamChange.objects.values_list("status", flat=True)) == {"undone"}
    found = night.people.api().get("/v1/memories/recall", q="Bonn").json()["memories"]
    assert {item["id"] for item in found} == {ids["keep"], ids["drop"]}


def test_rows_changed_since_are_left_and_reported(night: Night, owner: Access) -> None:
    ids = dreamt(night)
    night.people.api().put(f"/v1/memories/{ids['update']}", {"content": "edited since 0"})
    night.people.api().put(f"/v1/memories/{ids['add']}", {"tags": ["mine"]})
    answer = undo(owner)
    skipped = [{"id": ids["add"], "reason": "changed_since"}, {"id": ids["update"], "reason": "changed_since"}]
    assert answer == {"restored": 2, "skipped": skipped}
    assert night.fact(ids["update"]).content == "edited since 0"
    assert night.fact(ids["add"]).status == "active"
    assert night.fact(ids["drop"]).status == "active"


def test_a_forgotten_fact_stays_forgotten(night: Night, owner: Access) -> None:
    ids = dreamt(night)
    night.people.api().delete(f"/v1/memories/{ids['keep']}")
    answer = undo(owner)
    # What was merged into it has gone with it.
    forgotten = [{"id": id, "reason": "forgotten"} for id in (ids["keep"], ids["drop"])]
    assert answer == {"restored": 2, "skipped": forgotten}
    assert not Memory.objects.filter(id__in=[ids["keep"], ids["drop"]]).exists()


def test_recalling_a_fact_is_no_change(night: Night, owner: Access) -> None:
    dreamt(night)
    night.people.api().get("/v1/memories/recall", limit=100)
    assert undo(owner)["skipped"] == []


def test_that_evidence_was_deleted_is_no_change(night: Night, owner: Access) -> None:
    ids = dreamt(night)
    night.people.api().delete(f"/v1/memories/{ids['keep']}")
    assert night.fact(ids["add"]).evidence_deleted
    assert ids["add"] not in {skipped["id"] for skipped in undo(owner)["skipped"]}
    assert not Memory.objects.filter(id=ids["add"]).exists()


def test_only_the_owner_undoes(people: People, night: Night) -> None:
    dreamt(night)
    for kind in ("owner", "member", "read"):
        with pytest.raises(Forbidden):
            undo(people.access(kind))


def test_undo_is_possible_for_7_days(night: Night, owner: Access, clock: MovedClock) -> None:
    dreamt(night)
    clock.forward(days=7)
    with pytest.raises(Conflict):
        undo(owner)


def test_before_images_are_purged_after_7_days(night: Night, owner: Access, clock: MovedClock) -> None:
    dreamt(night)
    clock.forward(days=7, seconds=-1)
    purge()
    space_set(owner.space_id)
    assert all(change.after for change in DreamChange.objects.all())
    clock.forward(seconds=1)
    purge()
    space_set(owner.space_id)
    assert [(change.before, change.after) for change in DreamChange.objects.all()] == [({}, {})] * 3
    assert DreamRun.objects.get().snapshot == []
    shown = night.people.api().get(f"/v1/dreams/{DreamRun.objects.get().id}").json()
    assert [change["before"] for change in shown["changes"]] == [{}, {}, {}]


def test_what_a_model_wrote_about_a_fact_goes_with_it(night: Night) -> None:
    id = night.ids[0]
    night.dream(
        {"op": "update", "id": id, "text": "plain fact, number 0", "reason": "secret reason"},
        {"op": "suggest", "kind": "delete", "ids": [id, night.ids[1]], "text": "secret text"},
        summary="secret summary",
    )
    night.people.api().delete(f"/v1/memories/{id}")
    shown = night.people.api().get(f"/v1/dreams/{DreamRun.objects.get().id}").json()
    assert (shown["summary"], shown["changes"][0]["reason"]) == ("", "")
    assert shown["changes"][0]["before"] == {id: None}
    assert night.people.api().get("/v1/dreams/suggestions").json()["suggestions"] == []
