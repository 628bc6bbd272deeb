"""What a client may get wrong about a request itself: its cursor, encoding, body and host."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client, RequestFactory

from api.body import body_given
from api.pagination import cursor_encode
from tests.factories import People

pytestmark = pytest.mark.django_db

LISTS: dict[str, dict[str, Any]] = {
    "/v1/memories": {"sort": "created_at_desc", "expired": False},
    "/v1/conversations": {},
    "/v1/dreams": {},
    "/v1/dreams/suggestions": {"status": "open"},
    "/v1/journal": {},
    "/v1/records/tasks": {"collection": "tasks"},
    "/v1/kv/prefs": {"ns": "prefs"},
    "/v1/events": {},
    "/v1/actions": {"status": None},
}
NOW = "2026-01-01T00:00:00+00:00"
HOSTILE: list[list[Any]] = [
    ["0001-01-01T00:00:00+14:00", "a"], ["9999-12-31T23:59:59-14:00", "a"], ["\x00", "a"], [NOW, "\x00"],
    [NOW, "\ud800"], ["2026-01-01", "\ud800"], [NOW, 10**40], [10**40], [-(10**40)], ["\x00"],
    ["\ud800"], [None], [True], [[]],
]  # fmt: skip


@pytest.mark.parametrize("path", LISTS)
def test_a_cursor_of_the_clients_own_making_is_refused_or_harmless(people: People, path: str) -> None:
    mark: list[str] = json.loads(urlsafe_b64decode(cursor_encode([], LISTS[path]) + "=="))
    for position in HOSTILE:
        cursor = urlsafe_b64encode(json.dumps([*mark, *position]).encode()).decode()

        response = people.api().get(path, cursor=cursor)

        assert response.status_code in {200, 422}, ascii(position)
        if response.status_code == 422:
            assert "cursor" in response.json()["details"]["fields"], ascii(position)


def test_a_namespace_of_long_keys_in_any_script_is_walked_to_its_end(people: People) -> None:
    api = people.api()
    keys = {f"{number:03}" + "\U0001f5dd" * 197 for number in range(201)}
    for key in keys:
        assert api.put(f"/v1/kv/long/{quote(key)}", {"value": 1}).status_code == 201

    page = api.get("/v1/kv/long").json()
    rest = api.get("/v1/kv/long", cursor=page["next_cursor"]).json()

    assert page["values"].keys() | rest["values"].keys() == keys


@pytest.mark.parametrize("query", ["&".join(f"a{n}=1" for n in range(1_001)), "a&" * 1_500])
def test_more_parameters_than_the_framework_reads_are_refused(people: People, query: str) -> None:
    response = people.api().get(f"/v1/memories?{query}")

    assert (response.status_code, response.json()["error"]) == (422, "validation_error")


def test_a_query_that_is_no_utf_8_is_refused_instead_of_meaning_other_characters(people: People) -> None:
    people.api().created(source={"tool": "�"})

    assert people.api().get("/v1/memories?tool=%FF").status_code == 422
    assert people.api().get("/v1/memories?tool=%EF%BF%BD").json()["total"] == 1


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/health", "/v1/nothing", "/mcp"])
def test_a_request_for_another_host_gets_the_envelope(path: str) -> None:
    response = Client(headers={"Host": "no_host!"}).get(path)

    assert response.status_code in {200, 401, 404, 422}
    assert "<html" not in response.content.decode()


@pytest.mark.parametrize(
    ("headers", "given"),
    [
        ({}, False),
        ({"CONTENT_LENGTH": ""}, False),
        ({"CONTENT_LENGTH": "0"}, False),
        ({"CONTENT_LENGTH": "1"}, True),
        ({"HTTP_TRANSFER_ENCODING": "chunked"}, True),
    ],
)
def test_a_body_in_chunks_is_a_body_and_one_of_no_length_is_none(headers: dict[str, str], given: bool) -> None:
    request = RequestFactory().get("/v1/memories")
    request.META |= headers

    assert body_given(request) is given


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}])
def test_a_post_that_needs_no_body_takes_an_empty_one(people: People, headers: dict[str, str]) -> None:
    response = people.api().post("/v1/dreams/next-job", b"", headers=headers, content_type="")

    assert (response.status_code, response.json()["job"]) == (200, None)
