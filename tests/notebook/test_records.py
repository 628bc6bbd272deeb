"""Records (agent-state.md, "Records")."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import space_transaction
from api.errors import VersionConflict
from notebook.models import Record
from notebook.records import record_put, record_update
from notebook.schemas import RecordPut, RecordUpdate
from tests.factories import Api, People
from tests.races import at_once

TASKS = "/v1/records/tasks"


def made(api: Api, **body: Any) -> dict[str, Any]:
    response = api.post(TASKS, body)
    assert response.status_code in {200, 201}, response.content
    shown: dict[str, Any] = response.json()
    return shown


def test_a_new_record_is_created_with_defaults(people: People) -> None:
    response = people.api().post(TASKS, {})
    assert response.status_code == 201
    assert response.headers["ETag"] == '"1"'
    body = response.json()
    assert body["id"].startswith("rec_")
    expected = {"collection": "tasks", "key": None, "status": "open", "due_at": None, "data": {}, "origin": "agent"}
    assert {name: body[name] for name in expected} == expected
    assert set(body) == {*expected, "id", "version", "created_at", "updated_at"}


def test_put_on_an_existing_key_merges_like_an_update(people: People) -> None:
    first = made(people.api(), key="k", data={"a": 1, "b": {"x": 1}, "c": 3}, due_at="2026-01-01T00:00:00Z")
    response = people.api().post(TASKS, {"key": "k", "status": "done", "data": {"b": {"y": 2}, "c": None, "d": None}})
    assert response.status_code == 200
    body = response.json()
    assert (body["id"], body["version"], body["status"]) == (first["id"], 2, "done")
    assert body["data"] == {"a": 1, "b": {"y": 2}}
    assert body["due_at"] == "2026-01-01T00:00:00Z"


def test_the_same_key_in_another_collection_is_another_record(people: People) -> None:
    first = made(people.api(), key="k")
    other = people.api().post("/v1/records/notes", {"key": "k"})
    assert other.status_code == 201
    assert other.json()["id"] != first["id"]


def test_nulls_take_no_field_in_at_creation(people: People) -> None:
    assert made(people.api(), data={"a": None, "b": {"c": None}})["data"] == {"b": {"c": None}}


def test_origin_only_rises(people: People) -> None:
    made(people.api(), key="k", origin="user")
    assert made(people.api(), key="k", origin="agent")["origin"] == "user"


def test_update_changes_only_what_is_given(people: People) -> None:
    first = made(people.api(), status="waiting", due_at="2026-01-01T00:00:00+01:00", data={"a": 1})
    path = f"{TASKS}/{first['id']}"
    body = people.api().patch(path, {"data": {"b": 2}}).json()
    assert (body["status"], body["due_at"], body["data"]) == ("waiting", "2025-12-31T23:00:00Z", {"a": 1, "b": 2})
    assert people.api().patch(path, {"due_at": None}).json()["due_at"] is None
    assert people.api().get(path).json()["version"] == 3


def test_expected_version_is_a_compare_and_set(people: People) -> None:
    path = f"{TASKS}/{made(people.api())['id']}"
    assert people.api().patch(path, {"status": "a", "expected_version": 1}).json()["version"] == 2
    conflict = people.api().patch(path, {"status": "b", "expected_version": 1})
    assert conflict.status_code == 409
    assert (conflict.json()["error"], conflict.json()["details"]) == ("version_conflict", {"current_version": 2})
    assert people.api().get(path).json()["status"] == "a"


def test_if_match(people: People) -> None:
    path = f"{TASKS}/{made(people.api())['id']}"
    assert people.api().patch(path, {"status": "a"}, headers={"If-Match": '"9"'}).status_code == 412
    assert people.api().patch(path, {"status": "a"}, headers={"If-Match": '"1"'}).status_code == 200
    assert people.api().delete(path, headers={"If-Match": '"1"'}).status_code == 412
    assert people.api().delete(path, headers={"If-Match": '"2"'}).status_code == 204
    assert people.api().get(path).json()["error"] == "not_found"


def test_data_is_limited_to_64_kib_also_after_a_merge(people: People) -> None:
    too_large = people.api().post(TASKS, {"data": {"a": "x" * 65_536}})
    assert (too_large.status_code, too_large.json()["error"]) == (413, "payload_too_large")
    first = made(people.api(), data={"a": "x" * 40_000})
    grown = people.api().patch(f"{TASKS}/{first['id']}", {"data": {"b": "x" * 40_000}})
    assert (grown.status_code, grown.json()["error"]) == (413, "payload_too_large")
    assert people.api().get(f"{TASKS}/{first['id']}").json() == first


class TestQuery:
    def test_earliest_due_first_those_without_last_and_each_once(self, people: People) -> None:
        api = people.api()
        due = [
            None,
            "2026-01-03T00:00:00Z",
            "2026-01-01T00:00:00Z",
            None,
            "2026-01-03T00:00:00Z",
            "2026-01-02T00:00:00Z",
        ]
        ids = [made(api, due_at=at)["id"] for at in due]
        expected = sorted(zip(due, ids, strict=True), key=lambda pair: (pair[0] is None, pair[0] or "", pair[1]))

        seen, query = [], {"limit": 1}
        while True:
            response = api.get(TASKS, **query)
            page = response.json()
            seen += [(record["due_at"], record["id"]) for record in page["records"]]
            if page["next_cursor"] is None:
                break
            assert 'rel="next"' in response.headers["Link"]
            query["cursor"] = page["next_cursor"]
        assert seen == expected

    def test_filters(self, people: People) -> None:
        api = people.api()
        a = made(api, status="open", key="a", due_at="2026-01-01T00:00:00Z")["id"]
        b = made(api, status="done", key="b", due_at="2026-02-01T00:00:00Z")["id"]
        c = made(api, status="waiting", key="c")["id"]
        api.post("/v1/records/notes", {"key": "a"})

        def ids(**query: str) -> list[str]:
            return [record["id"] for record in api.get(TASKS, **query).json()["records"]]

        assert ids(status="open,waiting") == [a, c]
        assert ids(key="b") == [b]
        assert ids(due_before="2026-01-15T00:00:00Z") == [a]
        assert ids(status="nothing") == []

    def test_the_cursor_belongs_to_its_filters(self, people: People) -> None:
        api = people.api()
        for _ in range(2):
            made(api)
        cursor = api.get(TASKS, limit=1).json()["next_cursor"]
        for path, query in [(TASKS, {"status": "open"}), ("/v1/records/notes", {})]:
            refused = api.get(path, cursor=cursor, **query)
            assert refused.status_code == 422
            assert "cursor" in refused.json()["details"]["fields"]
        assert api.get(TASKS, cursor="damaged").status_code == 422

    @pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "101"}, {"statuses": "x"}, {"due_before": "soon"}])
    def test_what_does_not_fit_is_refused(self, people: People, query: dict[str, str]) -> None:
        assert people.api().get(TASKS, **query).status_code == 422


def test_collections_with_counts(people: People) -> None:
    made(people.api())
    made(people.api())
    people.api().post("/v1/records/notes", {})
    expected = [{"name": "notes", "count": 1}, {"name": "tasks", "count": 2}]
    assert people.api().get("/v1/records").json() == {"collections": expected}
    assert people.api("outsider").get("/v1/records").json() == {"collections": []}


def test_batch_says_of_each_item_what_became_of_it(people: People) -> None:
    items = [{"key": "a"}, {"key": ""}, {"key": "a", "status": "done"}, {"data": {"a": "x" * 65_536}}, "nothing"]
    response = people.api().post(f"{TASKS}/batch", {"records": items})
    assert response.status_code == 200
    results = response.json()["results"]
    assert [(item["index"], item["status"]) for item in results] == [(0, 201), (1, 422), (2, 200), (3, 413), (4, 422)]
    assert results[2]["record"]["id"] == results[0]["record"]["id"]
    assert set(results[1]) == {"index", "status", "error", "message", "details"}


def test_a_post_is_idempotent_by_its_header(people: People) -> None:
    headers = {"Idempotency-Key": "one"}
    first = people.api().post(TASKS, {"data": {"a": 1}}, headers=headers)
    again = people.api().post(TASKS, {"data": {"a": 1}}, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.json() == first.json()
    assert len(people.api().get(TASKS).json()["records"]) == 1


def test_scopes_and_spaces(people: People) -> None:
    path = f"{TASKS}/{made(people.api())['id']}"
    assert people.api("read").post(TASKS, {}).status_code == 403
    assert people.api("write").get(path).status_code == 403
    for response in (
        people.api("outsider").get(path), people.api("outsider").patch(path, {"status": "x"}),
        people.api("outsider").delete(path), people.api().get("/v1/records/notes/" + path.rpartition("/")[2]),
    ):  # fmt: skip
        assert (response.status_code, response.json()["error"]) == (404, "not_found")


@pytest.mark.django_db(transaction=True)
class TestRaces:
    def test_twenty_puts_of_one_key_make_one_record(self, people: People) -> None:
        access = people.access()

        def put(number: int) -> bool:
            with space_transaction(access):
                data = RecordPut(collection="tasks", key="k", data={f"f{number}": number})
                return record_put(access=access, data=data)[1]

        outcomes = at_once(20, put)

        assert sorted(map(str, outcomes)) == ["False"] * 19 + ["True"]
        with space_transaction(access):
            (record,) = Record.objects.visible_to(access)
        assert record.data == {f"f{number}": number for number in range(20)}
        assert record.version == 20

    def test_of_twenty_updates_at_one_version_one_wins(self, people: People) -> None:
        access = people.access()
        id = made(people.api())["id"]

        def update(number: int) -> int:
            with space_transaction(access):
                data = RecordUpdate(collection="tasks", id=id, status=f"s{number}", expected_version=1)
                return record_update(access=access, data=data).version

        outcomes = at_once(20, update)

        assert [outcome for outcome in outcomes if not isinstance(outcome, Exception)] == [2]
        conflicts = [outcome for outcome in outcomes if isinstance(outcome, VersionConflict)]
        assert [conflict.details for conflict in conflicts] == [{"current_version": 2}] * 19
