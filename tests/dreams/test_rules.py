"""What a dream may do, and each rule that stops it (agent-state.md, "Dreams")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from api.timestamps import timestamp_format
from memories.models import Memory, MemoryVersion
from notebook.journal import journal_write
from notebook.schemas import JournalWrite
from tests.dreams.night import Night
from tests.factories import People

ELSEWHERE = "mem_0000000000000000"
DAY = timedelta(days=1)


def protected(night: Night) -> dict[str, str]:
    """Store one fact of each kind that no dream may change; return their ids."""
    return {
        "core": night.remember("core thing", tier="core"),
        "pinned": night.remember("pinned thing", pinned=True),
        "user": night.remember("user thing", origin="user"),
    }


def old(night: Night) -> None:
    night.clock.forward(hours=25)


class TestUpdate:
    def test_it_changes_the_text_and_keeps_the_version_before(self, night: Night) -> None:
        id = night.ids[3]
        assert night.dream({"op": "update", "id": id, "text": "The plain fact is number 3."})["applied"] == 1
        fact = night.fact(id)
        assert (fact.content, fact.version, fact.dreamed_at) == ("The plain fact is number 3.", 2, night.clock.at)
        assert MemoryVersion.objects.get(memory_id=id).fields["content"] == "plain fact number 3"

    def test_it_must_keep_numbers(self, night: Night) -> None:
        assert night.rejected({"op": "update", "id": night.ids[3], "text": "plain fact"}) == ["loses_detail"]

    def test_it_must_say_something_else(self, night: Night) -> None:
        change = {"op": "update", "id": night.ids[3], "text": " plain  fact number 3"}
        assert night.rejected(change) == ["no_change"]

    def test_it_must_not_repeat_another_fact(self, night: Night) -> None:
        other = night.remember("plain fact number 3 4")
        old(night)
        change = {"op": "update", "id": night.ids[3], "text": night.fact(other).content}
        assert night.rejected(change) == ["duplicate"]


class TestMerge:
    def pair(self, night: Night, **changes: Any) -> tuple[str, str]:
        keep = night.remember("Anna lives in Bonn since 2019", tags=["a"], **changes)
        drop = night.remember("Since 2019 Anna lives in Bonn", tags=["b"])
        old(night)
        return keep, drop

    def test_the_survivor_stays_and_the_other_is_superseded(self, night: Night) -> None:
        keep, drop = self.pair(night)
        assert night.dream({"op": "merge", "keep_id": keep, "drop_ids": [drop]})["applied"] == 1
        kept, dropped = night.fact(keep), night.fact(drop)
        assert (kept.status, kept.tags, kept.content) == ("active", ["a", "b"], "Anna lives in Bonn since 2019")
        assert (dropped.status, dropped.superseded_by) == ("superseded", keep)
        assert night.people.api().get(f"/v1/memories/{drop}").status_code == 404
        assert night.people.api().get("/v1/memories/recall", q="Bonn").json()["memories"][0]["id"] == keep

    def test_it_may_give_the_survivor_a_text_that_holds_everything(self, night: Night) -> None:
        keep = night.remember("Anna lives in Bonn")
        drop = night.remember("Anna moved in 2019")
        old(night)
        text = "Anna moved to Bonn in 2019"
        assert night.dream({"op": "merge", "keep_id": keep, "drop_ids": [drop], "text": text})["applied"] == 1
        assert night.fact(keep).content == text

    @pytest.mark.parametrize("text", [None, "Anna lives in Bonn", "Anna lives there since 2019"])
    def test_nothing_may_be_lost(self, night: Night, text: str | None) -> None:
        keep = night.remember("Anna lives in Bonn")
        drop = night.remember("Anna moved in 2019")
        old(night)
        change = {"op": "merge", "keep_id": keep, "drop_ids": [drop]} | ({"text": text} if text else {})
        assert night.rejected(change) == ["loses_detail"]

    def test_only_within_one_subject(self, night: Night) -> None:
        keep = night.remember("lives alone", subject="Anna")
        drop = night.remember("lives alone", subject="Bob")
        old(night)
        assert night.rejected({"op": "merge", "keep_id": keep, "drop_ids": [drop]}) == ["other_subject"]

    @pytest.mark.parametrize("kind", ["core", "pinned", "user"])
    def test_a_protected_fact_may_survive_with_its_text_unchanged(self, night: Night, kind: str) -> None:
        fields: dict[str, Any] = {"core": {"tier": "core"}, "pinned": {"pinned": True}, "user": {"origin": "user"}}[
            kind
        ]
        keep, drop = self.pair(night, **fields)
        changed = {"op": "merge", "keep_id": keep, "drop_ids": [drop], "text": "Since 2019 Anna lives in Bonn!"}
        outcome = night.dream(changed, {"op": "merge", "keep_id": keep, "drop_ids": [drop]})
        assert (outcome["applied"], outcome["rejected"]) == (1, [(0, "protected")])
        kept = night.fact(keep)
        assert (kept.version, kept.tags, kept.dreamed_at) == (1, ["a"], None)
        assert night.fact(drop).status == "superseded"

    def test_a_protected_fact_is_never_dropped(self, night: Night) -> None:
        ids = protected(night)
        old(night)
        changes = [{"op": "merge", "keep_id": night.ids[0], "drop_ids": [id]} for id in ids.values()]
        assert night.rejected(*changes) == ["protected"] * 3

    def test_a_fact_is_not_merged_into_one_that_expires_before_it(self, night: Night) -> None:
        soon = night.remember("Anna lives in Bonn since 2019", expires_at=timestamp_format(night.clock.at + 3 * DAY))
        later = night.remember("Anna, in Bonn since 2019", expires_at=timestamp_format(night.clock.at + 9 * DAY))
        lasting = night.remember("Since 2019 Anna lives in Bonn")
        old(night)
        into_soon = [{"op": "merge", "keep_id": soon, "drop_ids": [id]} for id in (later, lasting)]
        outcome = night.dream(*into_soon, {"op": "merge", "keep_id": later, "drop_ids": [soon]})
        assert (outcome["applied"], outcome["rejected"]) == (1, [(0, "expiry_too_soon"), (1, "expiry_too_soon")])
        assert [night.fact(id).status for id in (soon, later, lasting)] == ["superseded", "active", "active"]

    def test_a_fact_is_not_merged_into_itself(self, night: Night) -> None:
        keep, drop = self.pair(night)
        changes = [
            {"op": "merge", "keep_id": keep, "drop_ids": [keep]},
            {"op": "merge", "keep_id": keep, "drop_ids": [drop, drop]},
        ]
        assert night.rejected(*changes) == ["already_changed"] * 2


class TestSetTierAndExpire:
    def test_scratch_and_long(self, night: Night) -> None:
        scratch = night.remember("passing", tier="scratch")
        old(night)
        outcome = night.dream(
            {"op": "set_tier", "id": night.ids[0], "tier": "scratch"}, {"op": "set_tier", "id": scratch, "tier": "long"}
        )
        assert outcome["applied"] == 2
        assert night.fact(night.ids[0]).expires_at == night.clock.at + timedelta(days=7)
        kept = night.fact(scratch)
        assert (kept.tier, kept.expires_at) == ("long", None)

    def test_an_expiry_is_at_least_7_days_away(self, night: Night) -> None:
        soon = timestamp_format(night.clock.at + timedelta(days=7, seconds=-1))
        fits = timestamp_format(night.clock.at + timedelta(days=7))
        outcome = night.dream(
            {"op": "expire", "id": night.ids[0], "expires_at": soon},
            {"op": "expire", "id": night.ids[1], "expires_at": fits},
            {"op": "expire", "id": night.ids[2]},
        )
        assert outcome["rejected"] == [(0, "expiry_too_soon")]
        for id in night.ids[1:3]:
            assert night.fact(id).expires_at == night.clock.at + timedelta(days=7)

    def test_what_changes_nothing_is_no_change(self, night: Night) -> None:
        assert night.rejected({"op": "set_tier", "id": night.ids[0], "tier": "long"}) == ["no_change"]


class TestAdd:
    def test_what_is_added_is_the_agents_and_names_its_evidence(self, night: Night) -> None:
        journal_write(access=night.access, data=JournalWrite(date=night.clock.at.date(), summary="Something"))
        address = f"day:{night.clock.at.date().isoformat()}"
        change = {
            "op": "add",
            "text": "Likes numbers",
            "subject": "Anna",
            "tags": ["x"],
            "evidence": [night.ids[0], address],
        }
        assert night.dream(change)["applied"] == 1
        added = Memory.objects.get(content="Likes numbers")
        assert (added.origin, added.tier, added.pinned, added.channel) == ("agent", "long", False, "dream")
        assert (added.subject, added.tags, added.metadata) == ("Anna", ["x"], {"evidence": [night.ids[0], address]})
        assert added.source_ref.startswith("dream_")

    @pytest.mark.parametrize("evidence", [[ELSEWHERE], ["day:2001-01-01"], ["because"]])
    def test_evidence_is_of_this_dreams_input(self, night: Night, evidence: list[str]) -> None:
        assert night.rejected({"op": "add", "text": "x", "evidence": evidence}) == ["unknown_evidence"]

    def test_a_known_fact_is_not_added_again(self, night: Night) -> None:
        change = {"op": "add", "text": "plain  fact number 1", "evidence": [night.ids[0]]}
        assert night.rejected(change) == ["duplicate"]

    def test_a_forgotten_text_does_not_come_back(self, night: Night) -> None:
        night.people.api().delete(f"/v1/memories/{night.ids[1]}")
        add = {"op": "add", "text": "Plain fact number 1", "evidence": [night.ids[0]]}
        update = {"op": "update", "id": night.ids[11], "text": "plain fact number 11"}
        night.people.api().delete(f"/v1/memories/{night.ids[12]}")
        update = {"op": "update", "id": night.ids[2], "text": "PLAIN fact number 2"}
        merge = {"op": "merge", "keep_id": night.ids[3], "drop_ids": [night.ids[1]]}
        assert night.rejected(add, merge) == ["forgotten", "unknown_id"]
        assert update["op"] == "update"


class TestEveryChange:
    OPERATIONS = [
        lambda id: {"op": "update", "id": id, "text": "other thing"},
        lambda id: {"op": "merge", "keep_id": "other", "drop_ids": [id]},
        lambda id: {"op": "set_tier", "id": id, "tier": "scratch"},
        lambda id: {"op": "expire", "id": id},
    ]

    @pytest.mark.parametrize("kind", ["core", "pinned", "user"])
    def test_protected_facts_never_change(self, night: Night, kind: str) -> None:
        id = protected(night)[kind]
        old(night)
        changes = [operation(id) for operation in self.OPERATIONS]
        changes[1]["keep_id"] = night.ids[0]
        changes[2]["tier"] = "long" if kind == "core" else "scratch"
        assert night.rejected(*changes) == ["protected"] * 4

    def test_ids_are_of_this_snapshot(self, people: People, night: Night) -> None:
        young = night.remember("too young to dream of")
        other = people.api("outsider").post("/v1/memories/remember", {"text": "elsewhere"}).json()["id"]
        changes = [operation(id) for id in (young, other, ELSEWHERE) for operation in self.OPERATIONS]
        for change in changes:
            if "keep_id" in change:
                change["keep_id"] = night.ids[0]
        suggest = {"op": "suggest", "kind": "delete", "ids": [young], "text": "x"}
        keep = {"op": "merge", "keep_id": young, "drop_ids": [night.ids[0]]}
        # Of a change beyond max_changes nothing is said but that; none of these counts, since none is applied.
        assert night.rejected(*changes, suggest, keep) == ["unknown_id"] * 14

    def test_versions_are_unmoved(self, night: Night) -> None:
        job = night.job()
        night.people.api().put(f"/v1/memories/{night.ids[0]}", {"tags": ["edited"]})
        changes = [operation(night.ids[0]) for operation in self.OPERATIONS]
        changes[1]["keep_id"] = night.ids[1]
        assert (
            night.rejected(*changes, {"op": "suggest", "kind": "core", "ids": [night.ids[0]], "text": "x"})
            == ["version_moved"] * 5
        )
        assert job["input"]["facts"]

    def test_one_change_a_fact(self, night: Night) -> None:
        id, other = night.ids[0], night.ids[1]
        outcome = night.dream(
            {"op": "expire", "id": id},
            {"op": "set_tier", "id": id, "tier": "scratch"},
            {"op": "update", "id": id, "text": "plain fact number 0 x"},
            {"op": "merge", "keep_id": id, "drop_ids": [other]},
            {"op": "merge", "keep_id": other, "drop_ids": [id]},
        )
        assert outcome["rejected"] == [(index, "already_changed") for index in range(1, 5)]

    def test_no_more_than_max_changes(self, night: Night) -> None:
        changes = [{"op": "update", "id": id, "text": f"{night.fact(id).content} x"} for id in night.ids[:5]]
        outcome = night.dream(*changes)
        assert (outcome["applied"], outcome["rejected"]) == (3, [(3, "too_many_changes"), (4, "too_many_changes")])

    @pytest.mark.parametrize("leave", ["expire", "scratch", "merge"])
    def test_no_more_than_a_tenth_leave(self, people: People, night: Night, leave: str) -> None:
        twins = [night.remember("no details", tags=[str(n)], subject="Anna") for n in range(1)]
        drops = [night.remember(f"no{' ' * n}t details{'!' * n}", subject="Anna") for n in range(5)]
        old(night)
        changes: list[dict[str, Any]] = {
            "expire": [{"op": "expire", "id": id} for id in night.ids[:5]],
            "scratch": [{"op": "set_tier", "id": id, "tier": "scratch"} for id in night.ids[:5]],
            "merge": [{"op": "merge", "keep_id": twins[0], "drop_ids": drops[1:]}],
        }[leave]
        outcome = night.dream(*changes)
        # Of 36 facts three may leave.
        left = [id for id, fact in night.state().items() if fact["status"] != "active" or fact["expires_at"]]
        assert len(left) <= 3
        assert outcome["rejected"][0][1] in {"too_many_leave", "too_many_changes"}

    def test_the_rest_is_applied_when_one_is_rejected(self, night: Night) -> None:
        outcome = night.dream({"op": "expire", "id": ELSEWHERE}, {"op": "expire", "id": night.ids[0]})
        assert (outcome["status"], outcome["applied"]) == ("applied", 1)
        assert outcome["rejected"] == [(0, "unknown_id")]
