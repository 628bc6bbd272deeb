"""The rules of facts at the other ways in: import, and the release of what a quarantine key wrote."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import space_set
from memories.models import Memory
from memories.quarantine import memories_release
from memories.tiers import CoreFull
from tests.factories import Api, People

REMEMBER, IMPORT = "/v1/memories/remember", "/v1/import"


def remembered(api: Api, text: str, **changes: Any) -> dict[str, Any]:
    response = api.post(REMEMBER, {"text": text, **changes})
    assert response.status_code in {200, 201}, response.content
    body: dict[str, Any] = response.json()
    return body


def record(id: str, content: str, **changes: Any) -> dict[str, Any]:
    fields = {"content": content, "type": "semantic", "source": {"tool": "claude"}, "tier": "core"}
    return {"id": f"mem_{id:0<16}"} | fields | changes


def imported(api: Api, *records: dict[str, Any], **query: Any) -> dict[str, Any]:
    body = {"omp_version": "0.1", "exported_at": "2026-01-01T00:00:00Z", "server": "x", "memories": list(records)}
    response = api.post(IMPORT, body, **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    return answer


class TestImport:
    def test_core_is_limited(self, people: People) -> None:
        answer = imported(people.api(), record("a", "x" * 5_000), record("b", "y" * 5_000), record("c", "z" * 3_000))
        assert answer["imported"] == 2
        assert [(error["index"], error["error"]) for error in answer["errors"]] == [(1, "core_full")]

    def test_an_overwritten_core_fact_counts_once(self, people: People) -> None:
        imported(people.api(), record("a", "x" * 5_000), record("b", "y" * 2_000))
        grown = imported(people.api(), record("a", "x" * 6_001), conflict="overwrite")
        assert [error["error"] for error in grown["errors"]] == ["core_full"]
        assert imported(people.api(), record("a", "x" * 6_000), conflict="overwrite")["errors"] == []

    def test_a_space_that_denies_agents_core_denies_their_imports(self, people: People) -> None:
        people.api().patch("/v1/space", {"agent_core_writes": "deny"})
        answer = imported(people.api(), record("a", "core"), record("b", "long", tier="long"))
        assert answer["imported"] == 1
        assert answer["errors"][0]["error"] == "forbidden"

    def test_the_file_rules_over_scratch(self, people: People) -> None:
        late = "2099-01-01T00:00:00Z"
        imported(people.api(), record("a", "kept", tier="scratch", expires_at=late))
        assert people.api().get(f"/v1/memories/mem_{'a':0<16}").json()["expires_at"] == late

    def test_overwriting_a_remembered_fact_with_anothers_text_keeps_both(self, people: People) -> None:
        first, second = remembered(people.api(), "one"), remembered(people.api(), "two")
        body = record("x", "two", tier="long") | {"id": first["id"]}
        assert imported(people.api(), body, conflict="overwrite")["errors"] == []
        assert remembered(people.api(), "two")["id"] in {first["id"], second["id"]}


class TestRelease:
    def release(self, people: People, *ids: str) -> list[str]:
        space_set(people.space.pk)
        return memories_release(access=people.access("decide"), memory_ids=ids)

    def test_a_fact_that_another_key_remembered_meanwhile_is_let_in_beside_it(self, people: People) -> None:
        waiting = remembered(people.api("quarantine"), "Prefers tea")["id"]
        there = remembered(people.api(), "Prefers tea")["id"]
        assert self.release(people, waiting) == [waiting]
        assert Memory.objects.filter(status="active").count() == 2
        assert remembered(people.api(), "Prefers tea")["id"] in {waiting, there}

    def test_core_must_have_room_for_it(self, people: People) -> None:
        waiting = remembered(people.api("quarantine"), "w" * 5_000, tier="core")["id"]
        remembered(people.api(), "x" * 5_000, tier="core")
        with pytest.raises(CoreFull):
            self.release(people, waiting)
