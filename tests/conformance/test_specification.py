"""The Open Memory Protocol 0.1, row by row; every answer is also held against the OpenAPI document."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.contract import CheckedApi, checked
from tests.factories import MISSING_ID, People, memory_body

EXAMPLE = {
    "content": "User prefers dark mode and minimal UI",
    "type": "semantic",
    "source": {"tool": "claude", "timestamp": "2026-06-29T12:00:00Z"},
    "tags": ["ui", "preferences"],
    "namespace": "project:myapp",
    "expires_at": None,
    "metadata": {},
}


@pytest.fixture
def api(people: People) -> CheckedApi:
    return checked(people)


def fields(response: Any) -> dict[str, list[str]]:
    """Return what a 422 says, by field."""
    assert (response.status_code, response.json()["error"]) == (422, "validation_error"), response.content
    found: dict[str, list[str]] = response.json()["details"]["fields"]
    return found


def error(response: Any) -> tuple[int, str]:
    body = response.json()
    assert set(body) == {"error", "message", "details"}
    return response.status_code, body["error"]


class TestMemoryObject:
    """Section 2: the fields and their limits."""

    def test_id_is_mem_and_16_alphanumeric(self, api: CheckedApi) -> None:
        assert re.fullmatch(r"mem_[a-z0-9]{16}", api.created()["id"])

    @pytest.mark.parametrize("character", ["a", "é", "漢", "🐘"])
    def test_content_of_10_000_characters(self, api: CheckedApi, character: str) -> None:
        content = character * 10_000

        assert api.get(f"/v1/memories/{api.created(content=content)['id']}").json()["content"] == content

    @pytest.mark.parametrize("content", ["x" * 10_001, "🐘" * 10_001, "", " \n\t", "\u200b", None, 5, ["a"]])
    def test_content_beyond_the_limits(self, api: CheckedApi, content: Any) -> None:
        assert list(fields(api.post("/v1/memories", memory_body(content=content)))) == ["content"]

    @pytest.mark.parametrize("type", ["episodic", "semantic", "procedural"])
    def test_type_of_section_2_2(self, api: CheckedApi, type: str) -> None:
        assert api.created(type=type)["type"] == type

    @pytest.mark.parametrize("type", ["emotional", "Semantic", "", None, 1])
    def test_another_type(self, api: CheckedApi, type: Any) -> None:
        assert list(fields(api.post("/v1/memories", memory_body(type=type)))) == ["type"]

    def test_source_of_section_2_3(self, api: CheckedApi) -> None:
        source = {"tool": "gpt-4o", "session_id": "s", "user_id": "u", "timestamp": "2026-01-01T00:00:00Z"}

        assert api.created(source=source)["source"] == source

    def test_source_shows_only_what_is_set(self, api: CheckedApi) -> None:
        assert set(api.created(source={"tool": "a", "session_id": None})["source"]) == {"tool", "timestamp"}

    @pytest.mark.parametrize(
        ("source", "field"),
        [
            ({}, "source.tool"), ({"tool": ""}, "source.tool"), ({"tool": "x" * 101}, "source.tool"),
            ({"tool": "a", "session_id": "x" * 256}, "source.session_id"),
            ({"tool": "a", "user_id": "x" * 256}, "source.user_id"),
            ({"tool": "a", "timestamp": "2026-06-29"}, "source.timestamp"), ("claude", "source"),
        ],
    )  # fmt: skip
    def test_source_beyond_the_limits(self, api: CheckedApi, source: Any, field: str) -> None:
        assert list(fields(api.post("/v1/memories", memory_body(source=source)))) == [field]

    def test_20_tags_of_50_characters(self, api: CheckedApi) -> None:
        tags = [f"{number:02}" + "漢" * 48 for number in range(20)]

        assert api.created(tags=tags)["tags"] == tags

    def test_tags_are_trimmed_and_distinct_in_their_order(self, api: CheckedApi) -> None:
        assert api.created(tags=[" b ", "a", "b"])["tags"] == ["b", "a"]

    def test_null_tags_and_metadata_mean_none(self, api: CheckedApi) -> None:
        made = api.created(tags=None, metadata=None)

        assert (made["tags"], made["metadata"]) == ([], {})

    @pytest.mark.parametrize("tags", [[str(number) for number in range(21)], ["x" * 51], [""], ["a,b"], "a", [1]])
    def test_tags_beyond_the_limits(self, api: CheckedApi, tags: Any) -> None:
        assert next(iter(fields(api.post("/v1/memories", memory_body(tags=tags))))).startswith("tags")

    def test_namespace_of_100_characters(self, api: CheckedApi) -> None:
        assert api.created(namespace="x" * 100)["namespace"] == "x" * 100
        assert api.created(namespace=None)["namespace"] is None

    @pytest.mark.parametrize("namespace", ["x" * 101, "", 7])
    def test_namespace_beyond_the_limits(self, api: CheckedApi, namespace: Any) -> None:
        assert list(fields(api.post("/v1/memories", memory_body(namespace=namespace)))) == ["namespace"]

    @pytest.mark.parametrize(
        ("given", "stored"),
        [
            ("2099-06-29T12:00:00Z", "2099-06-29T12:00:00Z"),
            ("2099-06-29T14:00:00+02:00", "2099-06-29T12:00:00Z"),
            ("2099-06-29T12:00:00", "2099-06-29T12:00:00Z"),
            ("2099-06-29T12:00:00.500Z", "2099-06-29T12:00:00.5Z"),
            ("2099-06-29T12:00:00.123456789Z", "2099-06-29T12:00:00.123456Z"),
            ("2099-06-29T12:00:00.000Z", "2099-06-29T12:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ],
    )
    def test_times_are_iso_8601_utc(self, api: CheckedApi, given: str, stored: str) -> None:
        made = api.created(expires_at=given)

        assert made["expires_at"] == stored
        listed = api.get("/v1/memories").json()["memories"][0]
        assert api.get(f"/v1/memories/{made['id']}").json() == made == listed

    @pytest.mark.parametrize(
        "given",
        [
            "2026-06-29",
            "tomorrow",
            "2026-13-01T00:00:00Z",
            "2026-02-30T00:00:00Z",
            "",
            1e9,
            "9999-12-31T23:59:59-01:00",
        ],
    )
    def test_what_is_no_time(self, api: CheckedApi, given: Any) -> None:
        assert list(fields(api.post("/v1/memories", memory_body(expires_at=given)))) == ["expires_at"]

    def test_metadata_of_10_keys(self, api: CheckedApi) -> None:
        metadata = {f"k{number}": {"deep": [number, None, True, "é", 1.5, 2**63]} for number in range(10)}

        assert api.created(metadata=metadata)["metadata"] == metadata

    @pytest.mark.parametrize(
        "metadata", [{str(number): 1 for number in range(11)}, {"a": "x" * 17_000}, [], "a", {"n": 10**400}]
    )
    def test_metadata_beyond_the_limits(self, api: CheckedApi, metadata: Any) -> None:
        assert next(iter(fields(api.post("/v1/memories", memory_body(metadata=metadata))))).startswith("metadata")

    def test_embedding_is_shown_only_when_asked_for(self, api: CheckedApi) -> None:
        made = api.created()

        assert "embedding" not in made
        assert "embedding" in api.get(f"/v1/memories/{made['id']}", include="embedding").json()


class TestCreate:
    """POST /v1/memories."""

    def test_answers_201_with_the_object_of_the_specification(self, api: CheckedApi) -> None:
        response = api.post("/v1/memories", EXAMPLE)

        made = response.json()
        assert response.status_code == 201
        assert response.headers["ETag"] == '"1"'
        assert set(made) == {*EXAMPLE, "id", "created_at", "updated_at"}
        assert {name: made[name] for name in EXAMPLE} == EXAMPLE
        assert made["created_at"] == made["updated_at"]

    def test_ignores_id_created_at_and_unknown_keys(self, api: CheckedApi) -> None:
        made = api.created(id=MISSING_ID, created_at="2000-01-01T00:00:00Z", surprise=1)

        assert made["id"] != MISSING_ID
        assert made["created_at"] > "2001"
        assert "surprise" not in made

    @pytest.mark.parametrize("name", ["content", "type", "source"])
    def test_without_a_required_field(self, api: CheckedApi, name: str) -> None:
        body = {key: value for key, value in EXAMPLE.items() if key != name}

        assert list(fields(api.post("/v1/memories", body))) == [name if name != "source" else "source.tool"]

    def test_source_timestamp_defaults_to_now(self, api: CheckedApi) -> None:
        made = api.created(source={"tool": "a"})

        assert made["source"]["timestamp"] == made["created_at"]


class TestList:
    """GET /v1/memories."""

    def test_answers_memories_total_limit_offset(self, api: CheckedApi) -> None:
        for _ in range(3):
            api.created()

        body = api.get("/v1/memories").json()

        assert (len(body["memories"]), body["total"], body["limit"], body["offset"]) == (3, 3, 20, 0)

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ({"type": "episodic"}, ["b"]), ({"tool": "cursor"}, ["c"]), ({"tags": "x"}, ["b", "a"]),
            ({"tags": "x,y"}, ["b"]), ({"namespace": "n"}, ["c"]), ({"type": "semantic", "tags": "x"}, ["a"]),
            ({"tags": "z"}, []), ({"tool": "nobody"}, []),
        ],
    )  # fmt: skip
    def test_filters(self, api: CheckedApi, query: dict[str, str], found: list[str]) -> None:
        api.created(content="a", tags=["x"])
        api.created(content="b", tags=["y", "x"], type="episodic")
        api.created(content="c", tags=[], source={"tool": "cursor"}, namespace="n")

        body = api.get("/v1/memories", **query).json()

        assert [item["content"] for item in body["memories"]] == found
        assert body["total"] == len(found)

    def test_date_bounds(self, api: CheckedApi) -> None:
        first, second, third = (api.created() for _ in range(3))

        query = {"created_after": first["created_at"], "created_before": third["created_at"]}
        assert [item["id"] for item in api.get("/v1/memories", **query).json()["memories"]] == [second["id"]]

    @pytest.mark.parametrize("sort", ["created_at_desc", "created_at_asc", "updated_at_desc"])
    def test_sort(self, api: CheckedApi, sort: str) -> None:
        first, second, third = (api.created()["id"] for _ in range(3))
        api.put(f"/v1/memories/{first}", {"content": "changed"})

        order = {
            "created_at_desc": [third, second, first],
            "created_at_asc": [first, second, third],
            "updated_at_desc": [first, third, second],
        }
        assert [item["id"] for item in api.get("/v1/memories", sort=sort).json()["memories"]] == order[sort]

    def test_limit_and_offset(self, api: CheckedApi) -> None:
        ids = [api.created()["id"] for _ in range(5)]

        body = api.get("/v1/memories", sort="created_at_asc", limit=2, offset=3).json()

        assert [item["id"] for item in body["memories"]] == ids[3:]
        assert (body["total"], body["limit"], body["offset"]) == (5, 2, 3)

    def test_the_link_leads_through_every_page(self, api: CheckedApi) -> None:
        ids = [api.created()["id"] for _ in range(5)]
        seen, url = [], "/v1/memories?limit=2&sort=created_at_asc"
        while url:
            response = api.get(url)
            seen += [item["id"] for item in response.json()["memories"]]
            link = re.fullmatch(r'<http://testserver(.+)>; rel="next"', response.headers.get("Link", ""))
            url = link[1] if link else ""

        assert seen == ids

    @pytest.mark.parametrize(
        "query",
        [
            "limit=0", "limit=101", "limit=-1", "limit=x", "limit=1e1", "limit=", "offset=-1", "offset=x", "sort=name",
            "type=emotional", "type=", "tags=", "tags=a,,b", "nonsense=1", "type=semantic&type=episodic",
            "created_after=2026-06-29", "cursor=xxx", "namespace=", "include_expired=yes", "view=half", "limit=٣",
        ],
    )  # fmt: skip
    def test_a_filter_never_silently_widens(self, api: CheckedApi, query: str) -> None:
        api.created()

        assert list(fields(api.get(f"/v1/memories?{query}"))) == [query.partition("=")[0]]

    def test_a_cursor_belongs_to_its_filters(self, api: CheckedApi) -> None:
        for _ in range(3):
            api.created()
        link = api.get("/v1/memories?limit=2").headers["Link"]
        cursor = re.search(r"cursor=([^&>]+)", link)
        assert cursor

        assert "cursor" in fields(api.get("/v1/memories", cursor=cursor[1], type="semantic"))


class TestGetUpdateDelete:
    """GET, PUT, PATCH and DELETE /v1/memories/{id}."""

    def test_get(self, api: CheckedApi) -> None:
        made = api.created()

        response = api.get(f"/v1/memories/{made['id']}")

        assert (response.status_code, response.json(), response.headers["ETag"]) == (200, made, '"1"')

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("id", [MISSING_ID, "x", "mem_" + "A" * 16, "%00", "a%2Fb", "mem_%F0%9F%90%98", "x" * 2000])
    def test_a_missing_id(self, api: CheckedApi, method: str, id: str) -> None:
        body = ({},) if method in {"PUT", "PATCH"} else ()

        response = api.call(method, f"/v1/memories/{id}", *body)

        assert error(response) == ((404, "not_found") if "%2F" in id else (404, "memory_not_found"))

    @pytest.mark.parametrize("method", ["PUT", "PATCH"])
    def test_an_update_changes_only_what_is_given(self, api: CheckedApi, method: str) -> None:
        made = api.created()

        changed = api.call(method, f"/v1/memories/{made['id']}", {"content": "Changed"}).json()

        assert changed.pop("updated_at") > made.pop("updated_at")
        assert changed == made | {"content": "Changed"}

    def test_null_clears_and_lists_replace_and_source_merges(self, api: CheckedApi) -> None:
        made = api.created(
            expires_at="2099-01-01T00:00:00Z", metadata={"a": 1}, source={"tool": "claude", "session_id": "s"}
        )
        change = {
            "namespace": None,
            "expires_at": None,
            "tags": ["new"],
            "metadata": {"b": 2},
            "source": {"user_id": "u"},
        }

        changed = api.put(f"/v1/memories/{made['id']}", change).json()

        assert (changed["namespace"], changed["expires_at"]) == (None, None)
        assert (changed["tags"], changed["metadata"]) == (["new"], {"b": 2})
        assert changed["source"] == made["source"] | {"user_id": "u"}

    def test_nothing_given_changes_nothing(self, api: CheckedApi) -> None:
        made = api.created()

        response = api.put(f"/v1/memories/{made['id']}", {})

        assert (response.json(), response.headers["ETag"]) == (made, '"1"')

    def test_id_and_created_at_are_ignored(self, api: CheckedApi) -> None:
        made = api.created()

        assert (
            api.put(f"/v1/memories/{made['id']}", {"id": MISSING_ID, "created_at": "2000-01-01T00:00:00Z"}).json()
            == made
        )

    @pytest.mark.parametrize(
        ("change", "field"),
        [
            ({"content": ""}, "content"),
            ({"type": None}, "type"),
            ({"tags": ["a,b"]}, "tags"),
            ({"namespace": ""}, "namespace"),
        ],
    )
    def test_an_update_is_validated(self, api: CheckedApi, change: dict[str, Any], field: str) -> None:
        made = api.created()

        assert list(fields(api.put(f"/v1/memories/{made['id']}", change))) == [field]
        assert api.get(f"/v1/memories/{made['id']}").json() == made

    @pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE"])
    def test_if_match(self, api: CheckedApi, method: str) -> None:
        made = api.created()
        path, body = f"/v1/memories/{made['id']}", ({"content": "New"},) if method != "DELETE" else ()

        assert error(api.call(method, path, *body, headers={"If-Match": '"7"'})) == (412, "precondition_failed")
        assert api.call(method, path, *body, headers={"If-Match": '"1"'}).status_code in {200, 204}

    def test_if_none_match(self, api: CheckedApi) -> None:
        made = api.created()

        assert api.get(f"/v1/memories/{made['id']}", headers={"If-None-Match": '"1"'}).status_code == 304

    def test_delete_answers_204_and_then_404(self, api: CheckedApi) -> None:
        path = f"/v1/memories/{api.created()['id']}"

        assert (api.delete(path).status_code, api.get(path).status_code) == (204, 404)
        assert error(api.delete(path)) == (404, "memory_not_found")
        assert api.get("/v1/memories").json()["total"] == 0

    def test_delete_with_a_receipt_answers_what_was_removed(self, api: CheckedApi) -> None:
        made = api.created()

        assert api.delete(f"/v1/memories/{made['id']}", receipt="true").json()["deleted"]["content"] == made["content"]


class TestSearch:
    """POST /v1/memories/search."""

    def test_answers_memories_total_mode_used(self, api: CheckedApi) -> None:
        made = api.created(content="User likes concise coding style")
        api.created(content="User lives in Lisbon")

        body = api.post("/v1/memories/search", {"q": "coding", "mode": "keyword"}).json()

        assert (body["memories"], body["total"], body["mode_used"]) == ([made], 1, "keyword")

    def test_filters(self, api: CheckedApi) -> None:
        api.created(content="coding one", type="episodic")
        made = api.created(content="coding two", tags=["a", "b"], namespace="n", metadata={"k": 1})
        body = {
            "q": "coding",
            "mode": "keyword",
            "type": "semantic",
            "tags": ["a"],
            "namespace": "n",
            "metadata": {"k": 1},
        }

        found = api.post("/v1/memories/search", body).json()

        assert [item["id"] for item in found["memories"]] == [made["id"]]
        assert found["filters_applied"] == {name: body[name] for name in ("type", "tags", "namespace", "metadata")}

    def test_limit(self, api: CheckedApi) -> None:
        for number in range(3):
            api.created(content=f"coding {number}")

        body = api.post("/v1/memories/search", {"q": "coding", "mode": "keyword", "limit": 2}).json()

        assert (len(body["memories"]), body["total"]) == (2, 3)

    @pytest.mark.parametrize("mode", ["semantic", "hybrid", None])
    def test_other_modes_answer_too(self, api: CheckedApi, mode: str | None) -> None:
        api.created(content="coding")

        body = {"q": "coding"} | ({"mode": mode} if mode else {})
        assert api.post("/v1/memories/search", body).status_code == 200

    @pytest.mark.parametrize(
        "body",
        [
            {}, {"q": ""}, {"q": " "}, {"q": "x" * 2_001}, {"q": 5}, {"q": "a", "mode": "magic"},
            {"q": "a", "limit": 0}, {"q": "a", "limit": 101}, {"q": "a", "limit": "5"}, {"q": "a", "nonsense": 1},
            {"q": "a", "type": "x"}, {"q": "a", "tags": "b"}, {"q": "a", "created_after": "2026"},
        ],
    )  # fmt: skip
    def test_what_does_not_fit(self, api: CheckedApi, body: dict[str, Any]) -> None:
        assert len(fields(api.post("/v1/memories/search", body))) == 1

    def test_an_empty_tags_list_is_no_filter(self, api: CheckedApi) -> None:
        api.created(content="coding")

        body = api.post("/v1/memories/search", {"q": "coding", "tags": [], "mode": "keyword"}).json()

        assert (body["total"], body["filters_applied"]) == (1, {})


class TestTransfer:
    """GET /v1/export and POST /v1/import; their own files go further."""

    def test_export_answers_the_object_of_the_specification(self, api: CheckedApi) -> None:
        made = api.created()

        body = json.loads(b"".join(api.get("/v1/export").streaming_content))

        assert (body["omp_version"], body["memories"]) == ("0.1", [made])

    @pytest.mark.parametrize(("conflict", "answer"), [("skip", (0, 1)), ("overwrite", (1, 0)), ("duplicate", (1, 0))])
    def test_import_answers_imported_skipped_errors(
        self, api: CheckedApi, conflict: str, answer: tuple[int, int]
    ) -> None:
        document = {"omp_version": "0.1", "memories": [api.created()]}

        body = api.post("/v1/import", document, conflict=conflict).json()

        assert (body["imported"], body["skipped"], body["errors"]) == (*answer, [])


class TestExtractAndCompress:
    """Without a key for a provider."""

    @pytest.mark.parametrize("path", ["/v1/extract", "/v1/compress"])
    def test_no_api_key(self, api: CheckedApi, path: str) -> None:
        assert error(api.post(path, {"transcript": "Alice: I use TypeScript."})) == (422, "no_api_key")

    @pytest.mark.parametrize("path", ["/v1/extract", "/v1/compress"])
    @pytest.mark.parametrize("body", [{}, {"transcript": " "}, {"transcript": "a", "provider": "oracle"}])
    def test_what_does_not_fit(self, api: CheckedApi, path: str, body: dict[str, str]) -> None:
        assert fields(api.post(path, body))


class TestHealth:
    """GET /v1/health and section 5."""

    def test_needs_no_key(self, people: People) -> None:
        body = CheckedApi().get("/v1/health").json()

        assert (body["status"], body["version"], body["compliance"]) == ("ok", "0.1", "OMP-Full")

    def test_counts_the_memories_of_the_key(self, people: People, api: CheckedApi) -> None:
        api.created()

        assert api.get("/v1/health").json()["memories_count"] == 1
        assert checked(people, "outsider").get("/v1/health").json()["memories_count"] == 0


class TestAuthentication:
    """Section 3.2."""

    @pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
    def test_bearer(self, people: People, scheme: str) -> None:
        response = CheckedApi().get("/v1/me", headers={"Authorization": f"{scheme} {people.keys['owner']}"})

        assert response.status_code == 200

    def test_x_api_key(self, people: People) -> None:
        assert CheckedApi().get("/v1/me", headers={"X-API-Key": people.keys["owner"]}).status_code == 200

    @pytest.mark.parametrize(
        "header",
        [None, "", "Bearer", "Bearer ", "Bearer x", "Basic b3duZXI6cGFzcw==", "Bearer om_é", "Bearer " + "x" * 9000],
    )
    def test_everything_else_is_401(self, people: People, header: str | None) -> None:
        headers = {"Authorization": header} if header is not None else {}

        response = CheckedApi().get("/v1/memories", headers=headers)

        assert error(response) == (401, "unauthorized")
        assert response.headers["WWW-Authenticate"].startswith("Bearer")

    def test_a_key_has_at_least_32_random_characters(self, people: People) -> None:
        assert all(re.fullmatch(r"om_[A-Za-z0-9_-]{43}[0-9a-f]{6}", key) for key in people.keys.values())


class TestErrors:
    """Section 4: one envelope everywhere."""

    def test_unknown_route(self, api: CheckedApi) -> None:
        assert error(api.get("/v1/nothing")) == (404, "not_found")
        assert error(api.get("/v1/memories/")) == (404, "not_found")

    @pytest.mark.parametrize(
        ("method", "path"), [("DELETE", "/v1/memories"), ("POST", "/v1/export"), ("PUT", "/v1/me")]
    )
    def test_method_not_allowed(self, api: CheckedApi, method: str, path: str) -> None:
        response = api.call(method, path)

        assert error(response) == (405, "method_not_allowed")
        assert response.headers["Allow"]

    def test_forbidden(self, people: People) -> None:
        assert error(checked(people, "read").post("/v1/memories", EXAMPLE)) == (403, "forbidden")

    def test_payload_too_large(self, api: CheckedApi) -> None:
        assert error(api.post("/v1/memories", b'"' + b"x" * 1_100_000 + b'"')) == (413, "payload_too_large")

    def test_malformed_json(self, api: CheckedApi) -> None:
        assert fields(api.post("/v1/memories", b"{"))["body"]

    def test_a_request_id_is_taken_over(self, api: CheckedApi) -> None:
        response = api.get("/v1/me", headers={"X-Request-Id": "my-request-17"})

        assert response.headers["X-Request-Id"] == "my-request-17"


class TestIdempotency:
    """Idempotency-Key on every POST."""

    def test_the_same_body_gets_the_same_answer(self, api: CheckedApi) -> None:
        headers = {"Idempotency-Key": "k1"}

        first, again = (api.post("/v1/memories", EXAMPLE, headers=headers) for _ in range(2))

        assert (again.status_code, again.json(), again.headers["ETag"]) == (201, first.json(), '"1"')
        assert again.headers["Idempotency-Replayed"] == "true"
        assert api.get("/v1/memories").json()["total"] == 1

    def test_another_body_is_a_conflict(self, api: CheckedApi) -> None:
        api.post("/v1/memories", EXAMPLE, headers={"Idempotency-Key": "k1"})

        response = api.post("/v1/memories", memory_body(content="Other"), headers={"Idempotency-Key": "k1"})

        assert error(response) == (422, "idempotency_conflict")

    def test_keys_of_two_credentials_are_apart(self, people: People, api: CheckedApi) -> None:
        api.post("/v1/memories", EXAMPLE, headers={"Idempotency-Key": "k1"})

        response = checked(people, "member").post("/v1/memories", EXAMPLE, headers={"Idempotency-Key": "k1"})

        assert "Idempotency-Replayed" not in response.headers

    def test_a_failure_may_be_mended(self, api: CheckedApi) -> None:
        headers = {"Idempotency-Key": "k1"}
        api.post("/v1/memories", memory_body(type="x"), headers=headers)

        assert api.post("/v1/memories", EXAMPLE, headers=headers).status_code == 201

    def test_a_deleted_text_is_not_replayed(self, api: CheckedApi) -> None:
        headers = {"Idempotency-Key": "k1"}
        made = api.post("/v1/memories", EXAMPLE, headers=headers).json()
        api.delete(f"/v1/memories/{made['id']}")

        assert error(api.post("/v1/memories", EXAMPLE, headers=headers)) == (409, "conflict")

    @pytest.mark.parametrize("key", ["", "x" * 256, "é"])
    def test_an_unusable_key(self, api: CheckedApi, key: str) -> None:
        assert "Idempotency-Key" in fields(api.post("/v1/memories", EXAMPLE, headers={"Idempotency-Key": key}))


class TestBatch:
    """POST /v1/memories/batch."""

    def test_each_item_has_its_result(self, api: CheckedApi) -> None:
        body = {"memories": [EXAMPLE, memory_body(type="x"), 5, EXAMPLE]}

        results = api.post("/v1/memories/batch", body).json()["results"]

        assert [(result["index"], result["status"]) for result in results] == [(0, 201), (1, 422), (2, 422), (3, 201)]
        assert api.get("/v1/memories").json()["total"] == 2

    @pytest.mark.parametrize("memories", [[], [EXAMPLE] * 501, "x", None])
    def test_1_to_500_items(self, api: CheckedApi, memories: Any) -> None:
        assert "memories" in fields(api.post("/v1/memories/batch", {"memories": memories}))


class TestExpiry:
    """Expired memories are invisible at once."""

    def test_to_every_read(self, api: CheckedApi) -> None:
        made = api.created(content="fleeting coding note", expires_at="2020-01-01T00:00:00Z")

        assert api.get("/v1/memories").json()["total"] == 0
        assert api.get(f"/v1/memories/{made['id']}").status_code == 404
        assert api.post("/v1/memories/search", {"q": "fleeting", "mode": "keyword"}).json()["total"] == 0
        assert api.get("/v1/health").json()["memories_count"] == 0

    def test_but_shown_when_asked_for(self, api: CheckedApi) -> None:
        made = api.created(expires_at="2020-01-01T00:00:00Z")

        assert api.get("/v1/memories", include_expired="true").json()["memories"] == [made]
        assert api.get(f"/v1/memories/{made['id']}", include_expired="true").json() == made
