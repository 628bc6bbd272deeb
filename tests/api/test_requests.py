"""What a client may get wrong about a request itself: its cursor, encoding, body and host."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any
from urllib.parse import quote

import pytest
from django.db import OperationalError
from django.test import Client, RequestFactory
from pytest_django import Settings

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


@pytest.mark.parametrize("path", ["/v1/health", "/v1/memories", "/v1/openapi.json", "/v1/docs", "/v1/nothing", "/mcp"])
def test_only_the_hosts_that_the_operator_names_are_answered(people: People, settings: Settings, path: str) -> None:
    settings.ALLOWED_HOSTS = ["memory.example.com"]

    strange, own = (people.api().get(path, headers={"Host": host}) for host in ("evil.example", "memory.example.com"))

    assert strange.status_code in {400, 422}
    assert own.status_code in {200, 404, 405}


def test_an_answer_without_body_has_no_length(people: People) -> None:
    path = f"/v1/memories/{people.api().created()['id']}"

    same = [people.api().get(path, headers={"If-None-Match": tags}) for tags in ('"1"', '"0", W/"1"', "*")]
    other = people.api().get(path, headers={"If-None-Match": '"11"'})
    gone = people.api().delete(path)

    assert [answer.status_code for answer in [*same, other, gone]] == [304, 304, 304, 200, 204]
    assert not any("Content-Length" in answer.headers for answer in [*same, gone])
    assert other.headers["Content-Length"] == str(len(other.content))


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/memories/", "/mcp/x"])
def test_an_unknown_address_is_answered_like_any_other(path: str) -> None:
    response = Client().get(path)

    assert (response.status_code, response.json()["error"]) == (404, "not_found")
    assert response.headers["Content-Length"] == str(len(response.content))
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


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


@pytest.mark.parametrize("path", ["/v1/health", "/v1/openapi.json", "/v1/docs"])
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_an_open_address_answers_another_method_with_the_envelope(path: str, method: str) -> None:
    response = Client(enforce_csrf_checks=True).generic(method, path, "x")

    assert (response.status_code, response.json()["error"]) == (405, "method_not_allowed")
    assert response.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_a_form_that_the_framework_does_not_read_is_an_error_of_oauth() -> None:
    response = Client().post("/oauth/token", "a=1&" * 2_000, content_type="application/x-www-form-urlencoded")

    assert (response.status_code, response.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("path", "status", "shown"),
    [("/v1/me", 503, "unavailable"), ("/accounts/login/", 503, "Something failed"), ("/mcp", 503, "unavailable")],
)
def test_a_database_that_is_away_is_no_fault_of_the_request(
    people: People, monkeypatch: pytest.MonkeyPatch, path: str, status: int, shown: str
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("the server closed the connection")

    client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {people.keys['owner']}"})
    client.cookies["sessionid"] = "some"
    monkeypatch.setattr("django.db.backends.utils.CursorWrapper.execute", away)

    response = client.get(path)

    assert response.status_code == status
    assert shown in response.content.decode()
    assert response.headers["Retry-After"] == "5"


def test_numbers_are_answered_as_they_are_read_later(people: People) -> None:
    numbers = b'{"big":1e308,"bigger":123456789012345678.5,"zero":-0.0,"small":1e-7,"one":1.0,"five":1E5}'
    body = b'{"content":"n","type":"semantic","source":{"tool":"t"},"metadata":' + numbers + b"}"
    made = people.api().post("/v1/memories", body)
    read = people.api().get(f"/v1/memories/{made.json()['id']}")

    assert json.dumps(made.json(), sort_keys=True) == json.dumps(read.json(), sort_keys=True)


@pytest.mark.parametrize(
    ("seen", "written"),
    [("203.0.113.7", "203.0.113.7"), ("203.0.113.7:4711", None), ("_hidden", None), ("::1%e", "::1")],
)
def test_what_a_proxy_writes_instead_of_an_address_is_left_out(
    people: People, settings: Any, seen: str, written: str | None
) -> None:
    settings.TRUSTED_PROXIES = 1

    assert people.api().get("/v1/memories", headers={"X-Forwarded-For": seen}).status_code == 200
    events = people.api().get("/v1/events", type="memory.listed", headers={"X-Forwarded-For": "203.0.113.9"}).json()
    assert events["events"][0]["ip"] == written


@pytest.mark.parametrize("name", ["q", "tool", "tag", "subject", "namespace", "cursor", "type", "tier", "mode", "view"])
def test_a_page_with_a_damaged_filter_says_so(people: People, name: str) -> None:
    client = Client()
    client.force_login(people.owner)

    assert client.get(f"/memories?{name}=%00").status_code == 422
