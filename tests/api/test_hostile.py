"""Values that a careless service stores by half, or falls over: right status, envelope, nothing stored."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from tests.contract import CheckedApi, checked
from tests.factories import Api, People, memory_body


@pytest.fixture
def api(people: People) -> CheckedApi:
    return checked(people)


def raw(**changes: Any) -> bytes:
    return json.dumps(memory_body(**changes)).encode()


def stored(api: Api) -> int:
    return int(api.get("/v1/memories", include_expired="true").json()["total"])


MALFORMED: dict[str, bytes] = {
    "nothing": b" ",
    "a list": b"[]",
    "a string": b'"x"',
    "null": b"null",
    "half": raw()[:-5],
    "trailing": raw() + b"}",
    "NaN": raw(metadata={"n": 1}).replace(b'{"n": 1}', b'{"n": NaN}'),
    "Infinity": raw(metadata={"n": 1}).replace(b'{"n": 1}', b'{"n": -Infinity}'),
    "a lone surrogate": raw().replace(b"User prefers", b"User \\ud83d prefers"),
    "a lone surrogate as a key": raw(metadata={"k": 1}).replace(b'"k"', b'"\\udc00"'),
    "a surrogate in UTF-8": raw().replace(b"User prefers", b"User \xed\xa0\x80 prefers"),
    "latin-1": raw().replace(b"User prefers", b"User pr\xe9fers"),
    "utf-16": raw().decode().encode("utf-16"),
    "a control character": raw().replace(b"User prefers", b"User \x01 prefers"),
    "deep": b'{"metadata":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "single quotes": raw().replace(b'"', b"'"),
    "a comment": raw() + b"// why",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_no_json_is_422(api: CheckedApi, name: str) -> None:
    response = api.post("/v1/memories", MALFORMED[name])

    assert (response.status_code, response.json()["error"]) == (422, "validation_error")
    assert list(response.json()["details"]["fields"]) == ["body"]
    assert stored(api) == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"content": "a\x00b"}, "content"), ({"tags": ["a\x00"]}, "tags"), ({"namespace": "\x00"}, "namespace"),
        ({"metadata": {"a": "\x00"}}, "metadata"), ({"metadata": {"\x00": 1}}, "metadata"),
        ({"source": {"tool": "\x00"}}, "source.tool"), ({"metadata": {"n": 10**400}}, "metadata"),
        ({"metadata": {"deep": [[[]]] * 0 or json.loads("[" * 40 + "]" * 40)}}, "metadata"),
        ({"content": True}, "content"), ({"pinned": "yes"}, "pinned"), ({"type": ["semantic"]}, "type"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("door", ["create", "update", "batch", "import"])
def test_what_cannot_be_stored_is_refused_at_every_door(
    api: CheckedApi, door: str, changes: dict[str, Any], field: str
) -> None:
    if door == "create":
        fields = api.post("/v1/memories", memory_body(**changes)).json()["details"]["fields"]
    elif door == "update":
        made = api.created()
        fields = api.put(f"/v1/memories/{made['id']}", changes).json()["details"]["fields"]
        assert api.get(f"/v1/memories/{made['id']}").json() == made
    elif door == "batch":
        result = api.post("/v1/memories/batch", {"memories": [memory_body(**changes)]}).json()["results"][0]
        fields = result["details"]["fields"]
    else:
        error = api.post("/v1/import", {"memories": [memory_body(**changes)]}).json()["errors"][0]
        fields = [error["message"].partition(":")[0]]

    assert next(iter(fields)).startswith(field)
    assert stored(api) == (1 if door == "update" else 0)


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**64, 10**30, 1e15, 5e-324, -0.0, 0.1, 1 / 3])
def test_numbers_come_back_as_they_are(api: CheckedApi, number: float) -> None:
    made = api.created(metadata={"n": number})

    assert api.get(f"/v1/memories/{made['id']}").json()["metadata"] == {"n": number}


def test_the_last_of_two_equal_keys_counts(api: CheckedApi) -> None:
    body = raw().replace(b'{"content"', b'{"content": "first", "content"')

    assert api.post("/v1/memories", body).json()["content"] == memory_body()["content"]


def test_10_000_four_byte_code_points_are_found_whole_in_every_answer(api: CheckedApi) -> None:
    content = "🐘" * 9_990 + " elephant"
    made = api.created(content=content)

    found = api.post("/v1/memories/search", {"q": "elephant", "mode": "keyword"}).json()["memories"]

    assert [memory["content"] for memory in found] == [content]
    assert content in b"".join(api.get("/v1/export").streaming_content).decode()
    assert api.get(f"/v1/memories/{made['id']}").json()["content"] == content


@pytest.mark.parametrize("type", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "", "nonsense"])
@pytest.mark.parametrize("path", ["/v1/memories", "/v1/memories/search", "/v1/memories/batch", "/v1/extract"])
def test_other_content_types_are_415(api: CheckedApi, path: str, type: str) -> None:
    response = api.post(path, raw(), content_type=type)

    assert (response.status_code, response.json()["error"]) == (415, "unsupported_media_type")
    assert stored(api) == 0


@pytest.mark.parametrize("type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/vnd.omp+json"])
def test_json_by_another_name_is_taken(api: CheckedApi, type: str) -> None:
    assert api.post("/v1/memories", raw(), content_type=type).status_code == 201


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate"])
def test_compressed_bodies_are_415(api: CheckedApi, encoding: str) -> None:
    response = api.post("/v1/memories", gzip.compress(raw()), headers={"Content-Encoding": encoding})

    assert response.status_code == 415


def test_a_form_body_is_not_read_as_fields(api: CheckedApi) -> None:
    response = api.post("/v1/memories", b"content=a", content_type="application/x-www-form-urlencoded")

    assert response.status_code == 415


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/me", "/v1/health", "/v1/openapi.json", "/v1/export"])
def test_head_answers_like_get_without_a_body(people: People, path: str) -> None:
    get, head = people.api().get(path), people.api().call("HEAD", path)

    assert head.status_code == get.status_code == 200
    assert head.headers["Content-Type"] == get.headers["Content-Type"]
    if not head.streaming:
        assert head.content == b""


def test_head_of_a_missing_memory_is_404(people: People) -> None:
    assert people.api().call("HEAD", "/v1/memories/mem_0000000000000000").status_code == 404


def test_a_preflight_needs_no_key_and_allows_any_origin_without_credentials(db: None) -> None:
    headers = {
        "Origin": "https://tool.example", "Access-Control-Request-Method": "PUT",
        "Access-Control-Request-Headers": "authorization, if-match, idempotency-key",
    }  # fmt: skip

    response = Api().call("OPTIONS", "/v1/memories/mem_0000000000000000", headers=headers)

    assert response.status_code == 200
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "PUT" in response.headers["Access-Control-Allow-Methods"]
    assert {"authorization", "if-match", "idempotency-key"} <= set(
        response.headers["Access-Control-Allow-Headers"].split(", ")
    )
    assert "Access-Control-Allow-Credentials" not in response.headers


def test_answers_may_be_read_from_any_origin(people: People) -> None:
    response = people.api().get("/v1/me", headers={"Origin": "https://tool.example"})

    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert "etag" in response.headers["Access-Control-Expose-Headers"]


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "PROPFIND", "XYZ"])
def test_unheard_of_methods_are_405(people: People, method: str) -> None:
    response = people.api().call(method, "/v1/memories")

    assert (response.status_code, response.json()["error"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "image/*;q=0.1", "nonsense"])
def test_json_is_answered_whatever_accept_says(people: People, accept: str) -> None:
    assert people.api().get("/v1/me", headers={"Accept": accept}).headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("tag", ["3", "*, x", 'W/"1"', '"', "🐘".encode().decode("latin-1")])
def test_an_odd_if_match_is_a_failed_precondition(api: CheckedApi, tag: str) -> None:
    made = api.created()

    assert api.delete(f"/v1/memories/{made['id']}", headers={"If-Match": tag}).status_code == 412
