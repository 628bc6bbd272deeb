"""Where the Open Memory Protocol is silent: what this service chose, row by row."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.utils import timezone

from accounts.access import space_transaction
from api.models import IdempotentRequest
from tests.contract import CheckedApi, checked
from tests.factories import People, memory_body

EXTENSION = {"tier": "scratch", "subject": "Olga", "origin": "user", "pinned": True, "source_ref": "https://a.example"}
FULL = [
    "id", "content", "type", "source", "tags", "namespace", "created_at", "updated_at", "expires_at", "metadata",
    "tier", "subject", "origin", "pinned", "source_ref", "status", "channel", "version", "recall_count",
    "last_recalled_at", "evidence_deleted",
]  # fmt: skip


@pytest.fixture
def api(people: People) -> CheckedApi:
    return checked(people)


def ids(memories: list[dict[str, Any]]) -> list[str]:
    return [memory["id"] for memory in memories]


class TestView:
    """`?view=full` and the extension fields."""

    def test_shows_the_fields_of_the_agent_state_after_those_of_the_protocol(self, api: CheckedApi) -> None:
        made = api.post("/v1/memories", memory_body(**EXTENSION), view="full").json()

        assert list(made) == FULL
        assert {name: made[name] for name in EXTENSION} == EXTENSION
        assert (made["status"], made["channel"], made["version"]) == ("active", "rest", 1)
        assert (made["recall_count"], made["last_recalled_at"]) == (0, None)

    def test_is_the_same_at_every_door(self, api: CheckedApi) -> None:
        made = api.post("/v1/memories/batch", {"memories": [memory_body(**EXTENSION)]}, view="full").json()
        memory = made["results"][0]["memory"]
        path = f"/v1/memories/{memory['id']}"

        assert api.get(path, view="full").json() == memory
        assert api.get("/v1/memories", view="full").json()["memories"] == [memory]
        body = {"q": "dark", "mode": "keyword"}
        assert api.post("/v1/memories/search", body, view="full").json()["memories"] == [memory]
        assert api.put(path, {}, view="full").json() == memory
        assert list(api.get(path).json()) == FULL[:10]

    def test_put_takes_them_and_null_is_nothing_said(self, api: CheckedApi) -> None:
        path = f"/v1/memories/{api.created(**EXTENSION)['id']}"

        changed = api.put(path, {"subject": None, "source_ref": None, "pinned": False, "tier": "long"}, view="full")

        found = changed.json()
        assert (found["subject"], found["source_ref"], found["pinned"], found["tier"]) == ("", "", False, "long")

    @pytest.mark.parametrize("name", ["status", "channel", "version", "recall_count", "last_recalled_at"])
    def test_what_the_server_sets_nobody_else_sets(self, api: CheckedApi, name: str) -> None:
        made = api.post("/v1/memories", memory_body(**{name: "superseded"}), view="full").json()

        assert made[name] != "superseded"


class TestUpdate:
    """null, {} and what is merged."""

    def test_null_tags_and_metadata_empty_them(self, api: CheckedApi) -> None:
        path = f"/v1/memories/{api.created(metadata={'a': 1})['id']}"

        changed = api.patch(path, {"tags": None, "metadata": None}).json()

        assert (changed["tags"], changed["metadata"]) == ([], {})

    @pytest.mark.parametrize("change", [{"source": {"tool": None}}, {"source": {"timestamp": None}}, {"source": {}}])
    def test_a_source_without_value_changes_nothing(self, api: CheckedApi, change: dict[str, Any]) -> None:
        made = api.created()

        assert api.put(f"/v1/memories/{made['id']}", change).json() == made

    @pytest.mark.parametrize("name", ["content", "type", "source", "pinned", "tier", "origin"])
    def test_null_of_what_cannot_be_empty_is_refused(self, api: CheckedApi, name: str) -> None:
        response = api.put(f"/v1/memories/{api.created()['id']}", {name: None})

        assert (response.status_code, list(response.json()["details"]["fields"])) == (422, [name])

    def test_every_change_has_a_new_etag(self, api: CheckedApi) -> None:
        path = f"/v1/memories/{api.created()['id']}"

        tags = [api.put(path, {"content": str(number)}).headers["ETag"] for number in range(2)]

        assert [*tags, api.get(path).headers["ETag"]] == ['"2"', '"3"', '"3"']

    def test_if_match_takes_any_of_a_list_and_the_star(self, api: CheckedApi) -> None:
        path = f"/v1/memories/{api.created()['id']}"

        assert api.put(path, {"content": "a"}, headers={"If-Match": '"9", "1"'}).status_code == 200
        assert api.put(path, {"content": "b"}, headers={"If-Match": "*"}).status_code == 200
        refused = api.put(path, {"content": "c"}, headers={"If-Match": '"1"'}).json()
        assert (refused["error"], refused["details"]) == ("precondition_failed", {"current_version": 3})


class TestFilters:
    """Those that list and export share, and what search explains."""

    def test_updated_bounds(self, api: CheckedApi) -> None:
        first, second, third = (api.created() for _ in range(3))
        changed = api.put(f"/v1/memories/{first['id']}", {"content": "changed"}).json()

        after = {"updated_after": third["updated_at"]}
        assert ids(api.get("/v1/memories", **after).json()["memories"]) == [first["id"]]
        before = {"updated_before": changed["updated_at"], "sort": "created_at_asc"}
        assert ids(api.get("/v1/memories", **before).json()["memories"]) == [second["id"], third["id"]]
        exported = json.loads(b"".join(api.get("/v1/export", **after).streaming_content))
        assert ids(exported["memories"]) == [first["id"]]

    def test_total_counts_what_the_filters_match_on_every_page(self, api: CheckedApi) -> None:
        for number in range(5):
            api.created(tags=["x"] if number % 2 == 0 else [])

        pages = [api.get("/v1/memories", tags="x", limit=2, offset=offset).json() for offset in (0, 2)]

        assert [(len(page["memories"]), page["total"]) for page in pages] == [(2, 3), (1, 3)]

    @pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
    def test_explained_search_has_scores_beside_the_memories(self, api: CheckedApi, mode: str) -> None:
        for number in range(3):
            api.created(content=f"coding habit {number}")

        plain = api.post("/v1/memories/search", {"q": "coding", "mode": mode}).json()
        explained = api.post("/v1/memories/search", {"q": "coding", "mode": mode, "explain": True}).json()

        assert set(plain) == {"memories", "total", "mode_used", "filters_applied"}
        assert set(explained) == {*plain, "scores"}
        assert [score["id"] for score in explained["scores"]] == ids(explained["memories"])
        assert ids(explained["memories"])
        assert all(isinstance(score["score"], float) for score in explained["scores"])
        assert explained["mode_used"] in {"keyword", mode}

    def test_search_by_tool_and_time(self, api: CheckedApi) -> None:
        api.created(content="coding one")
        made = api.created(content="coding two", source={"tool": "cursor"})
        body = {"q": "coding", "mode": "keyword"}

        by_tool = api.post("/v1/memories/search", body | {"tool": "cursor"}).json()
        by_time = api.post("/v1/memories/search", body | {"created_before": made["created_at"]}).json()

        assert ids(by_tool["memories"]) == [made["id"]]
        assert by_tool["filters_applied"] == {"tool": "cursor"}
        assert made["id"] not in ids(by_time["memories"])
        assert by_time["filters_applied"] == {"created_before": made["created_at"]}


class TestIdempotency:
    """Kept for a day, for each key and space, on every POST."""

    def test_a_day_later_the_key_is_free(self, people: People, api: CheckedApi) -> None:
        headers = {"Idempotency-Key": "k"}
        first = api.post("/v1/memories", memory_body(), headers=headers)
        with space_transaction(people.access()):
            rows = IdempotentRequest.objects.visible_to(people.access())
            rows.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))

        second = api.post("/v1/memories", memory_body(content="Another"), headers=headers)

        assert second.status_code == 201
        assert second.json()["id"] != first.json()["id"]
        assert "Idempotency-Replayed" not in second.headers

    def test_another_address_is_another_request(self, api: CheckedApi) -> None:
        headers = {"Idempotency-Key": "k"}
        api.post("/v1/memories", memory_body(), headers=headers)

        response = api.post("/v1/memories", memory_body(), headers=headers, view="full")

        assert (response.status_code, response.json()["error"]) == (422, "idempotency_conflict")


def test_a_delete_leaves_no_row_that_names_the_memory(people: People, api: CheckedApi) -> None:
    made = api.created()
    path = f"/v1/memories/{made['id']}"
    api.put(path, {"content": "Changed"})
    api.post("/v1/memories/search", {"q": "changed", "mode": "keyword"})

    assert api.delete(path).status_code == 204

    seen, left = set(), []
    with space_transaction(people.access()):
        for model in apps.get_models():
            names = {field.name for field in model._meta.fields}
            column = "id" if model._meta.db_table == "memories_memory" else "memory_id"
            if column in names and "space" in names:
                seen.add(model._meta.db_table)
                rows = model._default_manager.filter(space_id=people.space.pk)
                left += list(rows.filter(**{column: made["id"]}))
    assert left == []
    assert {"memories_memory", "memories_memoryversion", "memories_searchentry", "memories_memoryvector"} <= seen
