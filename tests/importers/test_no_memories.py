"""Files that hold no list of memories are refused in words; a faulty line is told as one."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from tests.factories import People
from tests.importers.files import zipped

pytestmark = pytest.mark.django_db

OCTETS = "application/octet-stream"
GOOD, BAD = b'{"content": "Likes tea"}\n', b'{"content": "Likes\n'
NO_TEXT = "The file is neither text nor in a format that can be read."
ONE_VALUE = "The file is a single JSON value. It must be a list or an object with memories."


def sent(people: People, raw: bytes, content_type: str = OCTETS, **query: str) -> Any:
    return people.api().post("/v1/import", raw, content_type=content_type, **query)


@pytest.mark.parametrize("content_type", [OCTETS, "text/plain"])
@pytest.mark.parametrize("format", ["auto", "chatgpt-memory", "claude-memory", "markdown", "basic-memory"])
@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (b"null", ONE_VALUE), (b" 5\n", ONE_VALUE), (b"true", ONE_VALUE), (b'"text"', ONE_VALUE), (b"-1e3", ONE_VALUE),
        (gzip.compress(b"The user likes tea", mtime=0), NO_TEXT), (b"\x1f\x8b\x08\x00", NO_TEXT),
        (b"\xfe\xed" * 50, NO_TEXT), (b"SQLite format 3\x00", NO_TEXT),
    ],
)  # fmt: skip
def test_what_is_no_list_of_texts_is_refused(
    people: People, raw: bytes, sentence: str, format: str, content_type: str
) -> None:
    answer = sent(people, raw, content_type, format=format)

    assert (answer.status_code, answer.json()["details"]) == (422, {"fields": {"body": [sentence]}})
    assert people.api().get("/v1/memories").json()["total"] == 0


@pytest.mark.parametrize(
    "raw", [b"5 cups of tea a day\n", b"null and void\n7\n", b'"Tea" is what they like', b"\x1b[1mTea\n"]
)
def test_a_list_of_texts_is_taken(people: People, raw: bytes) -> None:
    answer = sent(people, raw).json()

    assert (answer["imported"], answer["format"]) == (len(raw.splitlines()), "chatgpt-memory")


def test_in_a_zip_it_is_reported_and_stops_no_other(people: People) -> None:
    files = {"a.txt": gzip.compress(b"tea", mtime=0), "b.txt": b"null", "c.txt": b"The user likes tea"}

    answer = sent(people, zipped(files)).json()

    assert answer["imported"] == 1
    assert [(error["id"], error["message"]) for error in answer["errors"]] == [
        ("a.txt", f"body: {NO_TEXT}"), ("b.txt", f"body: {ONE_VALUE}"),
    ]  # fmt: skip


@pytest.mark.parametrize("content_type", [OCTETS, "application/jsonl", "text/plain"])
@pytest.mark.parametrize(
    ("raw", "wrong"),
    [(BAD + GOOD, 0), (GOOD + BAD, 1), (b"oops\n" + GOOD + GOOD, 0), (b"\n" + GOOD + b"5x\n" + GOOD, 1)],
)
def test_a_line_that_is_no_json_is_told_as_one_wherever_it_stands(
    people: People, raw: bytes, wrong: int, content_type: str
) -> None:
    answer = sent(people, raw, content_type, conflict="duplicate").json()

    assert [(error["index"], error["message"]) for error in answer["errors"]] == [(wrong, "The line is no JSON.")]
    assert answer["imported"] == raw.count(GOOD)


def test_a_single_line_is_a_list_as_well(people: People) -> None:
    assert sent(people, GOOD).json()["imported"] == 1
    bad = sent(people, BAD, "application/jsonl").json()
    assert [error["message"] for error in bad["errors"]] == ["The line is no JSON."]
    as_json = sent(people, GOOD, "application/json")
    assert (as_json.status_code, list(as_json.json()["details"]["fields"])) == (422, ["memories"])
