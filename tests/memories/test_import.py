"""POST /v1/import (OMP 0.1, section 3.3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pytest_django import Settings

from accounts.access import space_transaction
from memories.models import Memory, MemoryVersion
from memories.transfer.importing import CHUNK
from tests.factories import Api, People, memory_body

ID = "mem_aaaaaaaaaaaaaaa1"


def record(**changes: Any) -> dict[str, Any]:
    return memory_body(id=ID, created_at="2025-01-02T03:04:05Z", updated_at="2025-02-02T03:04:05Z") | changes


def imported(api: Api, *records: Any, **query: Any) -> dict[str, Any]:
    response = api.post("/v1/import", {"omp_version": "0.1", "memories": list(records)}, **query)
    assert response.status_code == 200, response.content
    answer: dict[str, Any] = response.json()
    assert answer["imported"] + answer["skipped"] + len(answer["errors"]) == len(records)
    return answer


def test_brings_ids_times_and_expiry_of_the_file(people: People) -> None:
    given = record(expires_at="2099-01-01T00:00:00Z", metadata={"a": 1})

    assert imported(people.api(), given) == {"imported": 1, "skipped": 0, "errors": []}

    assert people.api().get(f"/v1/memories/{ID}").json() == given


def test_takes_a_file_without_version_and_with_a_byte_order_mark(people: People) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"memories": [record()]}).encode()

    assert people.api().post("/v1/import", body).json()["imported"] == 1


class TestConflict:
    """What happens to an id that exists."""

    def test_skip_is_the_default_and_leaves_the_stored_one(self, people: People) -> None:
        imported(people.api(), record(content="Old"))

        assert imported(people.api(), record(content="New"))["skipped"] == 1

        assert people.api().get(f"/v1/memories/{ID}").json()["content"] == "Old"

    def test_overwrite_updates_in_place_and_keeps_history(self, people: People) -> None:
        imported(people.api(), record(content="Old"))

        assert imported(people.api(), record(content="New"), conflict="overwrite")["imported"] == 1

        response = people.api().get(f"/v1/memories/{ID}")
        assert (response.json()["content"], response.headers["ETag"]) == ("New", '"2"')
        assert response.json()["updated_at"] == "2025-02-02T03:04:05Z"
        with space_transaction(people.access()):
            kept = MemoryVersion.objects.visible_to(people.access()).get(memory_id=ID)
        assert (kept.version, kept.fields["content"]) == (1, "Old")

    def test_overwrite_with_the_same_makes_no_version(self, people: People) -> None:
        imported(people.api(), record())

        assert imported(people.api(), record(), conflict="overwrite")["imported"] == 1

        assert people.api().get(f"/v1/memories/{ID}").headers["ETag"] == '"1"'

    def test_duplicate_always_makes_new_ids(self, people: People) -> None:
        imported(people.api(), record(), conflict="duplicate")

        assert imported(people.api(), record(), conflict="duplicate")["imported"] == 1

        ids = {item["id"] for item in people.api().get("/v1/memories").json()["memories"]}
        assert len(ids) == 2
        assert ID not in ids

    def test_is_read_from_the_body_for_existing_clients(self, people: People) -> None:
        imported(people.api(), record(content="Old"))

        people.api().post("/v1/import", {"memories": [record(content="New")], "conflict": "overwrite"})

        assert people.api().get(f"/v1/memories/{ID}").json()["content"] == "New"

    def test_in_the_query_beats_the_body(self, people: People) -> None:
        imported(people.api(), record(content="Old"))

        body = {"memories": [record(content="New")], "conflict": "overwrite"}
        assert people.api().post("/v1/import", body, conflict="skip").json()["skipped"] == 1

    @pytest.mark.parametrize("in_query", [True, False])
    def test_of_an_unknown_name_is_refused(self, people: People, in_query: bool) -> None:
        body, query = {"memories": [record()]}, {"conflict": "merge"}

        response = people.api().post("/v1/import", body if in_query else body | query, **(query if in_query else {}))

        assert response.status_code == 422
        assert "conflict" in response.json()["details"]["fields"]
        assert people.api().get("/v1/memories").json()["total"] == 0


class TestSameIdTwice:
    """The later one follows the conflict rule."""

    def test_skip(self, people: People) -> None:
        answer = imported(people.api(), record(content="First"), record(content="Second"))

        assert (answer["imported"], answer["skipped"]) == (1, 1)
        assert people.api().get(f"/v1/memories/{ID}").json()["content"] == "First"

    def test_overwrite(self, people: People) -> None:
        answer = imported(
            people.api(), *(record(content=text) for text in ("First", "Second", "Third")), conflict="overwrite"
        )

        response = people.api().get(f"/v1/memories/{ID}")
        assert answer["imported"] == 3
        assert (response.json()["content"], response.headers["ETag"]) == ("Third", '"3"')

    def test_duplicate(self, people: People) -> None:
        imported(people.api(), record(), record(), conflict="duplicate")

        assert people.api().get("/v1/memories").json()["total"] == 2


class TestForeignIds:
    """An id of another shape gets one derived from it."""

    @pytest.mark.parametrize("given", ["550e8400-e29b-41d4-a716-446655440000", "MEM_1", 17, "", "x" * 5000, {"a": [1]}])
    def test_so_that_importing_again_skips(self, people: People, given: Any) -> None:
        assert imported(people.api(), record(id=given))["imported"] == 1
        assert imported(people.api(), record(id=given))["skipped"] == 1

    def test_different_ids_stay_different(self, people: People) -> None:
        assert imported(people.api(), record(id="a"), record(id="b"), record(id=1), record(id="1"))["imported"] == 4

    def test_no_id_makes_a_new_memory_each_time(self, people: People) -> None:
        given = record()
        del given["id"]

        assert imported(people.api(), given, given | {"id": None})["imported"] == 2


class TestFaultyRecords:
    """What fails is reported and the rest is imported."""

    def test_are_told_with_index_id_code_and_field(self, people: People) -> None:
        bad = record(id="mem_bbbbbbbbbbbbbbb2", type="emotional", tags=["a,b"])

        answer = imported(people.api(), record(), bad, 5, record(id=None, content=" "))

        assert answer["imported"] == 1
        assert [(error["index"], error["id"], error["error"]) for error in answer["errors"]] == [
            (1, "mem_bbbbbbbbbbbbbbb2", "validation_error"), (2, None, "validation_error"),
            (3, None, "validation_error"),
        ]  # fmt: skip
        assert answer["errors"][0]["message"].startswith("type: It must be one of")
        assert "tags: A tag cannot contain a comma" in answer["errors"][0]["message"]
        assert answer["errors"][1]["message"] == "It must be an object."

    @pytest.mark.parametrize(
        "raw",
        [
            b'{"content":"half \\ud83d","type":"semantic","source":{"tool":"a"}}',
            b'{"content":"nul \\u0000","type":"semantic","source":{"tool":"a"}}',
            b'{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
            b'{"content":"' + b"x" * 1_100_000 + b'"}',
            b'{"content":"fine","type":"semantic","source":{"tool":"a"},"metadata":{"n":' + b"9" * 5000 + b"}}",
            b'{"id":"mem_\\ud800","content":"fine"}',
            b"null",
        ],
        ids=["surrogate", "nul", "deep", "large", "number", "surrogate in id", "null"],
    )
    def test_of_hostile_kinds_stop_no_other(self, people: People, raw: bytes) -> None:
        body = b'{"memories":[' + raw + b"," + json.dumps(record()).encode() + b"]}"

        response = people.api().post("/v1/import", body)

        assert response.status_code == 200, response.content
        assert (response.json()["imported"], [error["index"] for error in response.json()["errors"]]) == (1, [0])

    def test_never_quote_a_text(self, people: People) -> None:
        answer = imported(people.api(), record(content="marker-text" * 1000), record(metadata="marker-text"))

        assert len(answer["errors"]) == 2
        assert "marker-text" not in json.dumps(answer)


class TestWholeFile:
    """What is no export imports nothing."""

    @pytest.mark.parametrize(
        "body",
        [
            b" ", b"[]", b"{}", b'{"memories": {}}', b'{"memories": 5}', b'{"memories": [', b"null", b"\xff",
            b'{"memories": [{"content":"a","type":"semantic","source":{"tool":"a"}}], }',
        ],
    )  # fmt: skip
    def test_that_is_malformed(self, people: People, body: bytes) -> None:
        response = people.api().post("/v1/import", body)

        assert (response.status_code, response.json()["error"]) == (422, "validation_error")
        assert people.api().get("/v1/memories").json()["total"] == 0

    def test_that_is_too_large(self, people: People, settings: Settings) -> None:
        settings.MAX_IMPORT_BYTES = 2_000

        response = people.api().post("/v1/import", {"memories": [record(content="x" * 3_000)]})

        assert (response.status_code, response.json()["error"]) == (413, "payload_too_large")

    def test_of_another_content_type(self, people: People) -> None:
        response = people.api().post("/v1/import", b"a,b", content_type="text/x-unknown")

        assert response.status_code == 415

    def test_in_an_unknown_format(self, people: People) -> None:
        response = people.api().post("/v1/import", {"memories": []}, format="stone-tablet")

        assert (response.status_code, list(response.json()["details"]["fields"])) == (422, ["format"])


class TestLimits:
    """A key imports what it could create."""

    def test_a_bound_key_writes_its_tool_only(self, people: People) -> None:
        other = record(id=None, source={"tool": "cursor"})

        answer = imported(people.api("tool"), record(), other)

        assert (answer["imported"], answer["errors"][0]["error"]) == (1, "forbidden")

    def test_an_id_beyond_the_limits_is_never_overwritten(self, people: People) -> None:
        imported(people.api(), record(source={"tool": "secretive"}, content="Kept"))

        answer = imported(people.api("tool"), record(content="New"), conflict="overwrite")

        assert answer["errors"][0]["error"] == "conflict"
        assert people.api().get(f"/v1/memories/{ID}").json()["content"] == "Kept"

    def test_the_same_id_in_another_space_is_another_memory(self, people: People) -> None:
        imported(people.api(), record(content="Ours"))

        assert imported(people.api("outsider"), record(content="Theirs"))["imported"] == 1

        assert people.api().get(f"/v1/memories/{ID}").json()["content"] == "Ours"
        assert people.api("outsider").get(f"/v1/memories/{ID}").json()["content"] == "Theirs"

    def test_a_quarantine_key_overwrites_nothing(self, people: People) -> None:
        imported(people.api(), record(content="Kept"))

        answer = imported(people.api("quarantine"), record(content="New"), record(id=None), conflict="overwrite")

        assert (answer["imported"], answer["errors"][0]["error"]) == (1, "forbidden")
        assert people.api().get("/v1/memories").json()["total"] == 1, "what it imported waits"

    def test_needs_the_scope(self, people: People) -> None:
        assert people.api("read").post("/v1/import", {"memories": []}).status_code == 403

    def test_the_quota_holds(self, people: People, settings: Settings) -> None:
        settings.QUOTA_MEMORIES = 1

        response = people.api().post("/v1/import", {"memories": [record(), record(id=None)]})

        assert response.status_code == 403
        assert people.api().get("/v1/memories").json()["total"] == 0


def test_many_chunks_keep_their_indexes(people: People) -> None:
    records: list[Any] = [record(id=f"r{number}") for number in range(2 * CHUNK + 10)]
    records[CHUNK + 3] = "broken"

    answer = imported(people.api(), *records)

    assert answer["imported"] == 2 * CHUNK + 9
    assert [error["index"] for error in answer["errors"]] == [CHUNK + 3]


def test_ndjson_is_one_memory_a_line(people: People) -> None:
    lines = [{"omp_version": "0.1"}, record(tier="core"), "broken", record(id=None)]
    body = "\n".join(json.dumps(line) for line in lines).encode() + b"\n\n{half"

    response = people.api().post("/v1/import", body, content_type="application/x-ndjson")

    assert (response.json()["imported"], [error["index"] for error in response.json()["errors"]]) == (2, [1, 3])
    assert people.api().get(f"/v1/memories/{ID}", view="full").json()["tier"] == "core"


def test_extension_fields_come_from_wherever_they_stand_in_the_file(people: People) -> None:
    document = {"extension": {ID: {"pinned": True, "recall_count": 7}}, "memories": [record()]}
    people.api().post("/v1/import", document)

    full = people.api().get(f"/v1/memories/{ID}", view="full").json()

    assert (full["pinned"], full["recall_count"], full["channel"]) == (True, 7, "import")


def test_an_explicit_import_brings_a_deleted_text_back(people: People) -> None:
    imported(people.api(), record())
    people.api().delete(f"/v1/memories/{ID}")

    assert imported(people.api(), record())["imported"] == 1


def test_a_repetition_with_the_same_idempotency_key_does_nothing(people: People) -> None:
    given = record()
    del given["id"]
    headers = {"Idempotency-Key": "once"}

    first = people.api().post("/v1/import", {"memories": [given]}, headers=headers)
    again = people.api().post("/v1/import", {"memories": [given]}, headers=headers)
    other = people.api().post("/v1/import", {"memories": [given, given]}, headers=headers)

    assert (first.status_code, again.json()) == (200, first.json())
    assert again.headers["Idempotency-Replayed"] == "true"
    assert (other.status_code, other.json()["error"]) == (422, "idempotency_conflict")
    assert people.api().get("/v1/memories").json()["total"] == 1


def test_the_log_names_the_ids(people: People) -> None:
    imported(people.api(), record())

    event = people.api().get("/v1/events", type="memory.imported").json()["events"][0]

    assert event["object"] == {"kind": "memory", "id": ID}


def test_imported_memories_are_found(people: People) -> None:
    imported(people.api(), record(content="The heron nests by the weir"))

    found = people.api().post("/v1/memories/search", {"q": "heron", "mode": "keyword"}).json()

    assert [item["id"] for item in found["memories"]] == [ID]


def test_an_overwritten_text_is_found_no_more(people: People) -> None:
    imported(people.api(), record(content="The heron nests by the weir"))
    imported(people.api(), record(content="The owl nests in the barn"), conflict="overwrite")

    def total(word: str) -> int:
        return int(people.api().post("/v1/memories/search", {"q": word, "mode": "keyword"}).json()["total"])

    assert (total("heron"), total("owl")) == (0, 1)


def test_expired_memories_may_be_imported(people: People) -> None:
    imported(people.api(), record(expires_at="2020-01-01T00:00:00Z"))

    assert people.api().get(f"/v1/memories/{ID}").status_code == 404
    assert people.api().get(f"/v1/memories/{ID}", include_expired="true").status_code == 200
    with space_transaction(people.access()):
        assert Memory.objects.any_status(people.access()).count() == 1
