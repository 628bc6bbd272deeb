"""Facts: remember keeps each once, recall finds and counts them (agent-state.md, "Facts are memories")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.access import Access, space_set, space_transaction
from accounts.models import Space
from api.timestamps import timestamp_format
from memories.facts import fact_remember
from memories.models import Memory
from memories.purging import memories_purge
from memories.schemas import Remember
from tests.clock import MovedClock
from tests.factories import Api, People, key_create
from tests.races import at_once

REMEMBER, RECALL = "/v1/memories/remember", "/v1/memories/recall"


def remembered(api: Api, text: str = "Prefers tea", **changes: Any) -> dict[str, Any]:
    response = api.post(REMEMBER, {"text": text, **changes})
    assert response.status_code in {200, 201}, response.content
    body: dict[str, Any] = response.json()
    return body


def row(people: People, memory_id: str) -> Memory:
    space_set(people.space.pk)
    return Memory.objects.get(space_id=people.space.pk, id=memory_id)


class TestRemember:
    def test_a_new_fact_has_the_defaults_of_the_tool(self, people: People) -> None:
        response = people.api().post(REMEMBER, {"text": "Prefers tea"})

        assert response.status_code == 201
        assert response.headers["ETag"] == '"1"'
        body = response.json()
        assert body["content"] == "Prefers tea"
        assert body["deduplicated"] is False
        expected = {"type": "semantic", "tier": "long", "origin": "agent", "pinned": False, "subject": "", "tags": []}
        assert {name: body[name] for name in expected} == expected
        assert (body["status"], body["channel"], body["version"], body["recall_count"]) == ("active", "rest", 1, 0)

    @pytest.mark.parametrize(
        "again",
        ["Prefers tea", "  Prefers   tea ", "Prefers\n\ttea", "Prefers\u00a0tea", "Prefers\u3000tea"],
    )
    def test_white_space_does_not_make_another_fact(self, people: People, again: str) -> None:
        first = remembered(people.api())

        second = people.api().post(REMEMBER, {"text": again})

        assert second.status_code == 200
        assert second.json()["id"] == first["id"]
        assert second.json()["deduplicated"] is True

    def test_composed_and_decomposed_letters_are_the_same(self, people: People) -> None:
        first = remembered(people.api(), "Lives in Z\u00fcrich")
        assert remembered(people.api(), "Lives in Zu\u0308rich")["id"] == first["id"]

    @pytest.mark.parametrize("other", [{"text": "prefers tea"}, {"text": "Prefers tea", "subject": "Anna"}])
    def test_case_and_subject_make_another_fact(self, people: People, other: dict[str, str]) -> None:
        first = remembered(people.api())
        assert remembered(people.api(), **other)["id"] != first["id"]

    def test_a_fact_stored_by_create_is_a_hit_and_create_always_creates(self, people: People) -> None:
        created = people.api().created(content="Prefers tea")

        hit = remembered(people.api())
        twin = people.api().created(content="Prefers tea")

        assert hit["id"] == created["id"]
        assert twin["id"] != created["id"]
        assert remembered(people.api())["deduplicated"] is True

    def test_a_hit_only_gains(self, people: People) -> None:
        api = people.api()
        first = remembered(api, tags=["a"], tier="scratch", pinned=True, origin="user", source_ref="chat 1")

        hit = remembered(api, tags=["b", "a"], tier="core", source_ref="chat 2")

        assert hit["id"] == first["id"]
        assert hit["tags"] == ["a", "b"]
        assert (hit["tier"], hit["pinned"], hit["origin"], hit["expires_at"]) == ("core", True, "user", None)
        assert hit["source_ref"] == "chat 1"
        assert hit["version"] == 2

    def test_a_hit_never_lowers_the_tier(self, people: People) -> None:
        remembered(people.api(), tier="core")
        hit = remembered(people.api(), tier="scratch")
        assert (hit["tier"], hit["expires_at"]) == ("core", None)

    def test_of_two_expiries_the_later_holds(self, people: People, clock: MovedClock) -> None:
        soon, late = clock.at + timedelta(days=2), clock.at + timedelta(days=9)
        remembered(people.api(), tier="scratch", expires_at=timestamp_format(late))
        hit = remembered(people.api(), tier="scratch", expires_at=timestamp_format(soon))
        assert hit["expires_at"] == timestamp_format(late)

    def test_a_hit_that_gains_nothing_changes_nothing(self, people: People) -> None:
        first = remembered(people.api(), tags=["a"])
        again = remembered(people.api(), tags=["a"])
        assert (again["version"], again["updated_at"]) == (1, first["updated_at"])

    def test_an_edited_fact_is_another_one(self, people: People) -> None:
        first = remembered(people.api())
        people.api().put(f"/v1/memories/{first['id']}", {"content": "Prefers coffee"})

        second = remembered(people.api())
        assert second["id"] != first["id"]
        # Back to the old text: two rows say the same, which an explicit update may do.
        assert people.api().put(f"/v1/memories/{first['id']}", {"content": "Prefers tea"}).status_code == 200
        assert remembered(people.api())["deduplicated"] is True

    def test_an_expired_fact_is_no_hit(self, people: People, clock: MovedClock) -> None:
        first = remembered(people.api(), tier="scratch")
        clock.forward(days=8)
        second = remembered(people.api(), tier="scratch")
        assert second["deduplicated"] is False
        assert second["id"] != first["id"]

    def test_a_fact_out_of_the_keys_reach_is_neither_shown_nor_in_the_way(self, people: People) -> None:
        hidden = remembered(people.api())  # its tool is "owner", which the bound key does not read

        own = remembered(people.api("tool"))
        again = remembered(people.api("tool"))

        assert own["id"] != hidden["id"]
        assert (again["id"], again["deduplicated"]) == (own["id"], True)

    def test_a_write_only_key_learns_nothing_from_a_hit(self, people: People) -> None:
        hidden = remembered(people.api(), tags=["secret"])
        own = people.api("write").post(REMEMBER, {"text": "Prefers tea"})
        assert own.status_code == 201
        assert own.json()["id"] != hidden["id"]
        assert own.json()["tags"] == []

    def test_facts_of_a_quarantine_key_wait_once(self, people: People) -> None:
        first = remembered(people.api("quarantine"))
        second = remembered(people.api("quarantine"))
        assert first["status"] == "quarantined"
        assert (second["id"], second["deduplicated"]) == (first["id"], True)
        assert people.api().get(RECALL).json()["memories"] == []

    def test_the_key_cannot_set_what_the_server_sets(self, people: People) -> None:
        response = people.api().post(REMEMBER, {"text": "x", "status": "superseded"})
        assert response.status_code == 422
        assert "status" in response.json()["details"]["fields"]
        made = people.api().created(channel="dream", version=9, recall_count=5, status="superseded")
        stored = row(people, made["id"])
        assert (stored.channel, stored.version, stored.recall_count, stored.status) == ("rest", 1, 0, "active")

    def test_remember_needs_the_write_scope(self, people: People) -> None:
        assert people.api("read").post(REMEMBER, {"text": "x"}).status_code == 403

    def test_the_database_itself_refuses_a_second_row(self, people: People) -> None:
        memory = row(people, remembered(people.api())["id"])
        with pytest.raises(Exception, match="memories_memory_fact"), transaction.atomic():
            Memory.objects.create(
                space_id=memory.space_id, content="Prefers  tea", type="semantic", source_tool="x", remembered=True,
                source_timestamp=memory.created_at, created_at=memory.created_at, updated_at=memory.created_at,
            )  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_twenty_parallel_remembers_make_one_row(people: People) -> None:
    access = people.access()

    def remember(number: int) -> tuple[str, bool]:
        with space_transaction(access):
            memory, there = fact_remember(access=access, data=Remember(text="Prefers tea", tags=[f"t{number % 5}"]))
            return memory.id, there

    outcomes = at_once(20, remember)

    assert {outcome[0] for outcome in outcomes if isinstance(outcome, tuple)} != set()
    assert all(isinstance(outcome, tuple) for outcome in outcomes), outcomes
    assert sorted(outcome[1] for outcome in outcomes if isinstance(outcome, tuple)) == [False] + [True] * 19
    with space_transaction(access):
        (memory,) = Memory.objects.visible_to(access)
        assert set(memory.tags) == {"t0", "t1", "t2", "t3", "t4"}


class TestTiers:
    def test_scratch_expires_in_seven_days_unless_said_otherwise(self, people: People, clock: MovedClock) -> None:
        body = remembered(people.api(), tier="scratch")
        assert body["expires_at"] == timestamp_format(clock.at + timedelta(days=7))
        created = people.api().created(tier="scratch", content="y")
        assert created["expires_at"] == timestamp_format(clock.at + timedelta(days=7))

    def test_scratch_lives_thirty_days_at_most(self, people: People, clock: MovedClock) -> None:
        late = timestamp_format(clock.at + timedelta(days=30, seconds=1))
        assert people.api().post(REMEMBER, {"text": "x", "tier": "scratch", "expires_at": late}).status_code == 422
        fits = timestamp_format(clock.at + timedelta(days=30))
        assert remembered(people.api(), tier="scratch", expires_at=fits)["expires_at"] == fits

    def test_recall_does_not_extend_scratch(self, people: People) -> None:
        body = remembered(people.api(), tier="scratch")
        assert people.api().get(RECALL, q="tea").json()["memories"][0]["expires_at"] == body["expires_at"]

    def test_moving_to_scratch_sets_an_expiry(self, people: People, clock: MovedClock) -> None:
        made = remembered(people.api())
        changed = people.api().put(f"/v1/memories/{made['id']}", {"tier": "scratch"}).json()
        assert changed["expires_at"] == timestamp_format(clock.at + timedelta(days=7))

    def test_core_holds_fifty_facts(self, people: People) -> None:
        api = people.api()
        batch = [body_of(f"core {number}") for number in range(51)]
        results = api.post("/v1/memories/batch", {"memories": batch}).json()["results"]
        assert [result["status"] for result in results] == [201] * 50 + [409]

        refused = api.post(REMEMBER, {"text": "one more", "tier": "core"})

        assert refused.status_code == 409
        assert refused.json()["error"] == "core_full"
        assert refused.json()["details"]["used"]["facts"] == 50
        assert refused.json()["details"]["limit"] == {"facts": 50, "characters": 8000}

    def test_what_waits_for_the_owner_takes_no_room_alone_or_in_a_batch(self, people: People) -> None:
        remembered(people.api(), "a" * 8_000, tier="core")
        api = people.api("quarantine")

        alone = api.post("/v1/memories", body_of("waits"))
        together = api.post("/v1/memories/batch", {"memories": [body_of("waits too")]}).json()["results"]

        assert alone.status_code == together[0]["status"] == 201

    def test_core_holds_eight_thousand_characters(self, people: People) -> None:
        api = people.api()
        made = remembered(api, "a" * 7_990, tier="core")
        assert remembered(api, "b" * 10, tier="core")
        assert api.post("/v1/memories", body_of("c")).json()["error"] == "core_full"
        # A change counts the difference only.
        longer = api.put(f"/v1/memories/{made['id']}", {"content": "a" * 7_991})
        assert longer.json()["error"] == "core_full"
        assert api.put(f"/v1/memories/{made['id']}", {"content": "a" * 7_989}).status_code == 200
        assert api.post("/v1/memories", body_of("c")).status_code == 201

    def test_promotion_is_a_write_of_core(self, people: People) -> None:
        api = people.api()
        remembered(api, "a" * 8_000, tier="core")
        made = remembered(api, "long one")
        assert api.put(f"/v1/memories/{made['id']}", {"tier": "core"}).json()["error"] == "core_full"
        assert api.post(REMEMBER, {"text": "long one", "tier": "core"}).json()["error"] == "core_full"

    def test_a_space_may_deny_agents_to_write_core(self, people: People) -> None:
        made = remembered(people.api(), "mine", tier="core")
        Space.objects.filter(pk=people.space.pk).update(agent_core_writes="deny")

        for refused in [
            people.api().post(REMEMBER, {"text": "x", "tier": "core"}),
            people.api().post("/v1/memories", body_of("x")),
            people.api().put(f"/v1/memories/{made['id']}", {"content": "yours"}),
            people.api().put(f"/v1/memories/{made['id']}", {"tier": "long"}),
        ]:
            assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")
        owner = key_create(people.space, people.owner, scopes={"actions:decide", "memories:write", "memories:read"})
        assert Api(owner).post(REMEMBER, {"text": "x", "tier": "core"}).status_code == 201


def body_of(content: str) -> dict[str, Any]:
    return {"content": content, "type": "semantic", "source": {"tool": "claude"}, "tier": "core"}


class TestRecall:
    def test_any_word_may_match_best_first_over_text_subject_and_tags(self, people: People) -> None:
        api = people.api()
        both = remembered(api, "Drinks green tea in Kyoto")
        one = remembered(api, "Likes tea")
        subject = remembered(api, "Lives there since 2019", subject="Kyoto")
        tagged = remembered(api, "Has a plan", tags=["kyoto"])
        remembered(api, "Something else")

        found = api.get(RECALL, q="kyoto tea").json()["memories"]

        assert {item["id"] for item in found} == {both["id"], one["id"], subject["id"], tagged["id"]}
        assert found[0]["id"] == both["id"]

    def test_without_words_newest_first(self, people: People, clock: MovedClock) -> None:
        ids = []
        for number in range(3):
            ids.append(remembered(people.api(), f"fact {number}")["id"])
            clock.forward(seconds=1)
        assert [item["id"] for item in people.api().get(RECALL).json()["memories"]] == ids[::-1]

    @pytest.mark.parametrize("q", [{}, {"q": "fact"}])
    def test_subject_tier_tag_and_limit_narrow(self, people: People, q: dict[str, str]) -> None:
        api = people.api()
        hit = remembered(api, "fact 1", subject="Anna", tier="core", tags=["x"])
        remembered(api, "fact 2", subject="Bob", tier="core", tags=["x"])
        remembered(api, "fact 3", subject="Anna", tags=["x"])
        remembered(api, "fact 4", subject="Anna", tier="core")
        found = api.get(RECALL, subject="Anna", tier="core", tag="x", **q).json()["memories"]
        assert [item["id"] for item in found] == [hit["id"]]
        assert len(api.get(RECALL, limit=2, **q).json()["memories"]) == 2

    def test_every_result_counts_as_a_recall_and_changes_no_version(self, people: People, clock: MovedClock) -> None:
        made = remembered(people.api())
        other = remembered(people.api(), "coffee")
        people.api().get(RECALL, q="tea")
        people.api().get(RECALL, q="tea")

        stored = row(people, made["id"])
        assert (stored.recall_count, stored.version) == (2, 1)
        assert stored.last_recalled_at == clock.at
        assert timestamp_format(stored.updated_at) == made["updated_at"]
        assert row(people, other["id"]).recall_count == 0

    def test_duplicates_searches_and_reads_do_not_count(self, people: People) -> None:
        made = remembered(people.api())
        remembered(people.api())
        people.api().get(f"/v1/memories/{made['id']}")
        people.api().post("/v1/memories/search", {"q": "tea", "mode": "keyword"})
        assert row(people, made["id"]).recall_count == 0

    def test_an_unknown_parameter_is_refused(self, people: People) -> None:
        assert people.api().get(RECALL, query="tea").status_code == 422
        assert people.api().get(RECALL, limit=101).status_code == 422

    def test_others_facts_stay_theirs(self, people: People) -> None:
        remembered(people.api())
        assert people.api("outsider").get(RECALL, q="tea").json()["memories"] == []
        assert people.api("nothing").get(RECALL).json()["memories"] == []


@pytest.mark.django_db(transaction=True)
def test_counting_skips_locked_rows(people: People) -> None:
    first, second = (remembered(people.api(), text) for text in ("tea one", "tea two"))
    access = people.access()

    def recall(number: int) -> int:
        response = people.api().get(RECALL, q="tea")
        return len(response.json()["memories"])

    with space_transaction(access):
        Memory.objects.visible_to(access).select_for_update().get(id=first["id"])
        # The row is locked here: the other connection answers all the same, and counts what it can.
        outcomes = at_once(1, recall)
    assert outcomes == [2]
    with space_transaction(access):
        assert {m.id: m.recall_count for m in Memory.objects.visible_to(access)} == {first["id"]: 0, second["id"]: 1}


def test_expired_memories_are_purged_after_seven_days(people: People, clock: MovedClock) -> None:
    made = remembered(people.api(), tier="scratch", expires_at=timestamp_format(clock.at + timedelta(days=1)))
    keep = remembered(people.api(), "kept")
    space_set(people.space.pk)
    access = Access.system(people.space.pk)
    clock.forward(days=1, seconds=1)
    assert people.api().get(f"/v1/memories/{made['id']}").status_code == 404
    space_set(people.space.pk)
    clock.forward(days=7, seconds=-2)
    assert memories_purge(access) == 0
    clock.forward(seconds=3)
    assert memories_purge(access) == 1
    assert list(Memory.objects.filter(space_id=people.space.pk).values_list("id", flat=True)) == [keep["id"]]
    # An expiry leaves no mark: the same fact may come back by any way.
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM memories_tombstone")
        assert cursor.fetchone()[0] == 0
