"""Key-value state (agent-state.md, "KV")."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import space_transaction
from api.errors import VersionConflict
from notebook.kv import kv_set
from notebook.models import KeyValue
from notebook.schemas import KvSet
from tests.factories import People
from tests.races import at_once

THEME = "/v1/kv/ui/theme"


@pytest.mark.parametrize("value", [None, True, 0, 1.5, "text", [], {"a": [1, {"b": None}]}, "\U0001f600"])
def test_any_json_value_comes_back_as_it_was(people: People, value: Any) -> None:
    created = people.api().put(THEME, {"value": value})
    assert created.status_code == 201
    assert created.headers["ETag"] == '"1"'
    body = people.api().get(THEME).json()
    assert set(body) == {"ns", "key", "value", "version", "updated_at"}
    assert (body["ns"], body["key"], body["value"], body["version"]) == ("ui", "theme", value, 1)


def test_without_expected_version_a_set_is_an_upsert(people: People) -> None:
    assert people.api().put(THEME, {"value": 1}).status_code == 201
    again = people.api().put(THEME, {"value": 2})
    assert (again.status_code, again.json()["version"]) == (200, 2)


def test_expected_version_zero_only_creates(people: People) -> None:
    assert people.api().put(THEME, {"value": 1, "expected_version": 0}).status_code == 201
    conflict = people.api().put(THEME, {"value": 2, "expected_version": 0})
    assert (conflict.status_code, conflict.json()["error"]) == (409, "version_conflict")
    assert conflict.json()["details"] == {"current_version": 1}


def test_expected_version_n_only_sets_at_n(people: People) -> None:
    missing = people.api().put(THEME, {"value": 1, "expected_version": 1})
    assert missing.json()["details"] == {"current_version": 0}
    people.api().put(THEME, {"value": 1})
    assert people.api().put(THEME, {"value": 2, "expected_version": 1}).json()["version"] == 2
    assert people.api().put(THEME, {"value": 3, "expected_version": 1}).status_code == 409
    assert people.api().get(THEME).json()["value"] == 2


def test_a_deleted_keys_version_goes_on_counting(people: People) -> None:
    people.api().put(THEME, {"value": "secret"})
    assert people.api().delete(THEME).status_code == 204
    assert people.api().get(THEME).status_code == 404
    assert people.api().delete(THEME).status_code == 404
    assert people.api().put(THEME, {"value": 1, "expected_version": 1}).status_code == 409
    assert people.api().put(THEME, {"value": 1, "expected_version": 2}).status_code == 409

    created = people.api().put(THEME, {"value": "new", "expected_version": 0})

    assert (created.status_code, created.json()["version"]) == (201, 3)
    with space_transaction(people.access()):
        assert KeyValue.objects.visible_to(people.access()).get().value == "new"


def test_a_deleted_value_is_gone_from_the_row(people: People) -> None:
    people.api().put(THEME, {"value": "secret"})
    people.api().delete(THEME)
    with space_transaction(people.access()):
        assert KeyValue.objects.visible_to(people.access()).get().value is None


def test_delete_compares_the_version(people: People) -> None:
    people.api().put(THEME, {"value": 1})
    conflict = people.api().delete(THEME, expected_version=5)
    assert (conflict.status_code, conflict.json()["details"]) == (409, {"current_version": 1})
    assert people.api().delete(THEME, headers={"If-Match": '"5"'}).status_code == 412
    assert people.api().delete(THEME, expected_version=1).status_code == 204


def test_values_are_limited_to_64_kib(people: People) -> None:
    assert people.api().put(THEME, {"value": "x" * 65_534}).status_code == 201
    refused = people.api().put(THEME, {"value": "x" * 65_535})
    assert (refused.status_code, refused.json()["error"]) == (413, "payload_too_large")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_reserved_namespaces_are_forbidden(people: People, method: str) -> None:
    for path in ["/v1/kv/_system/x", *(["/v1/kv/_system"] if method == "GET" else [])]:
        body = {"body": {"value": 1}} if method == "PUT" else {}
        refused = people.api().call(method, path, **body)
        assert (refused.status_code, refused.json()["error"]) == (403, "forbidden")


def test_a_namespace_shows_200_keys_at_a_time(people: People) -> None:
    access = people.access()
    with space_transaction(access):
        for number in range(201):
            kv_set(access=access, data=KvSet(ns="many", key=f"k{number:03}", value=number))
    first = people.api().get("/v1/kv/many")
    body = first.json()
    assert list(body["values"]) == [f"k{number:03}" for number in range(200)]
    assert set(body["values"]["k000"]) == {"value", "version", "updated_at"}
    assert 'rel="next"' in first.headers["Link"]
    rest = people.api().get("/v1/kv/many", cursor=body["next_cursor"]).json()
    assert (list(rest["values"]), rest["next_cursor"]) == (["k200"], None)


def test_namespaces_with_counts(people: People) -> None:
    people.api().put("/v1/kv/b/1", {"value": 1})
    people.api().put("/v1/kv/a/1", {"value": 1})
    people.api().put("/v1/kv/a/2/with/slashes", {"value": 1})
    people.api().put("/v1/kv/gone/1", {"value": 1})
    people.api().delete("/v1/kv/gone/1")
    expected = [{"name": "a", "count": 2}, {"name": "b", "count": 1}]
    assert people.api().get("/v1/kv").json() == {"namespaces": expected}
    assert people.api().get("/v1/kv/a/2/with/slashes").json()["key"] == "2/with/slashes"


def test_scopes_and_spaces(people: People) -> None:
    people.api().put(THEME, {"value": 1})
    assert people.api("read").put(THEME, {"value": 1}).status_code == 403
    assert people.api("write").get(THEME).status_code == 403
    assert people.api("outsider").get(THEME).status_code == 404
    assert people.api("outsider").put(THEME, {"value": 2}).status_code == 201
    assert people.api().get(THEME).json()["value"] == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("expected", [0, 1])
def test_of_twenty_parallel_sets_at_one_version_one_wins(people: People, expected: int) -> None:
    access = people.access()
    if expected:
        people.api().put("/v1/kv/race/k", {"value": "first"})

    def set_(number: int) -> int:
        with space_transaction(access):
            data = KvSet(ns="race", key="k", value=number, expected_version=expected)
            return kv_set(access=access, data=data).version

    outcomes = at_once(20, set_)

    won = [outcome for outcome in outcomes if not isinstance(outcome, Exception)]
    assert won == [expected + 1]
    assert sum(isinstance(outcome, VersionConflict) for outcome in outcomes) == 19


@pytest.mark.django_db(transaction=True)
def test_of_parallel_first_sets_one_creates(people: People) -> None:
    answers = at_once(8, lambda number: people.api().put("/v1/kv/race/first", {"value": number}))

    assert sorted(answer.status_code for answer in answers) == [200] * 7 + [201]  # type: ignore[union-attr]
    assert people.api().get("/v1/kv/race/first").json()["version"] == 8
