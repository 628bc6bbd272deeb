"""Suggestions: what a dream may not do and the owner decides (agent-state.md, "Dreams")."""

from __future__ import annotations

from typing import Any

import pytest

from dreams.models import DreamRun
from memories.models import Memory
from tests.dreams.night import Night
from tests.factories import People

SUGGESTIONS = "/v1/dreams/suggestions"


def suggested(night: Night, kind: str, *ids: str) -> dict[str, Any]:
    outcome = night.dream({"op": "suggest", "kind": kind, "ids": list(ids), "text": "Look at this"})
    assert (outcome["applied"], outcome["status"]) == (1, "applied")
    (suggestion,) = night.people.api().get(SUGGESTIONS).json()["suggestions"]
    assert suggestion["dream_id"] == DreamRun.objects.get().id
    assert (suggestion["kind"], suggestion["text"], suggestion["status"]) == (kind, "Look at this", "open")
    return dict(suggestion)


def decide(people: People, suggestion: dict[str, Any], decision: str, kind: str = "decide", **more: Any) -> Any:
    return people.api(kind).post(f"{SUGGESTIONS}/{suggestion['id']}", {"decision": decision, **more})


@pytest.mark.parametrize("kind", ["core", "contradiction", "delete"])
def test_a_suggestion_changes_nothing_until_the_owner_accepts(people: People, night: Night, kind: str) -> None:
    before = night.state()
    suggestion = suggested(night, kind, *night.ids[:2])
    assert night.state() == before
    dismissed = decide(people, suggestion, "dismiss")
    assert (dismissed.status_code, dismissed.json()["status"]) == (200, "dismissed")
    assert night.state() == before
    assert people.api().get(SUGGESTIONS).json()["suggestions"] == []
    assert len(people.api().get(SUGGESTIONS, status="dismissed").json()["suggestions"]) == 1


def test_accepting_a_promotion_moves_the_fact_to_core(people: People, night: Night) -> None:
    accepted = decide(people, suggested(night, "core", night.ids[0]), "accept")
    assert accepted.json()["decided_by"]["name"] == "decide"
    assert night.fact(night.ids[0]).tier == "core"


def test_a_promotion_into_a_full_core_stays_open(people: People, night: Night) -> None:
    suggestion = suggested(night, "core", night.ids[0])
    night.remember("c" * 8_000, tier="core")
    refused = decide(people, suggestion, "accept")
    assert refused.json()["error"] == "core_full"
    assert people.api().get(SUGGESTIONS).json()["suggestions"][0]["status"] == "open"


def test_accepting_a_deletion_deletes_for_good(people: People, night: Night) -> None:
    assert decide(people, suggested(night, "delete", night.ids[0]), "accept").status_code == 200
    assert not Memory.objects.filter(id=night.ids[0]).exists()
    # The suggestion spoke of the fact; it goes as well.
    assert people.api().get(SUGGESTIONS, status="accepted").json()["suggestions"] == []


def test_accepting_a_contradiction_lets_one_fact_stand(people: People, night: Night) -> None:
    suggestion = suggested(night, "contradiction", *night.ids[:2])
    assert decide(people, suggestion, "accept", keep_id="mem_0000000000000000").status_code == 422
    assert decide(people, suggestion, "accept", keep_id=night.ids[1]).status_code == 200
    assert night.fact(night.ids[0]).superseded_by == night.ids[1]
    assert night.fact(night.ids[1]).status == "active"


def test_a_decision_is_made_once(people: People, night: Night) -> None:
    suggestion = suggested(night, "core", night.ids[0])
    decide(people, suggestion, "dismiss")
    assert decide(people, suggestion, "dismiss").status_code == 200
    late = decide(people, suggestion, "accept")
    assert (late.status_code, late.json()["details"]) == (409, {"current_status": "dismissed"})


def test_only_the_owner_decides(people: People, night: Night) -> None:
    suggestion = suggested(night, "core", night.ids[0])
    for kind in ("owner", "member", "read"):
        assert decide(people, suggestion, "accept", kind).status_code == 403
    assert people.api("decide").post(f"{SUGGESTIONS}/sug_x", {"decision": "accept"}).status_code == 404
    assert people.api("outsider").get(SUGGESTIONS).json()["suggestions"] == []


def test_a_contradiction_is_between_two(night: Night) -> None:
    change = {"op": "suggest", "kind": "contradiction", "ids": [night.ids[0]], "text": "x"}
    assert night.rejected(change) == ["unknown_id"]


def test_undo_withdraws_open_suggestions(people: People, night: Night) -> None:
    suggested(night, "core", night.ids[0])
    people.api("decide").post(f"/v1/dreams/{DreamRun.objects.get().id}/undo")
    assert people.api().get(SUGGESTIONS).json()["suggestions"] == []
