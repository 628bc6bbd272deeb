"""POST /v1/import with the files of other products: detected, kept apart, reported, and never twice."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import space_transaction
from aiworker.jobs import job_wait
from conversations.models import Conversation
from tests.aiworker.conftest import provider, worker
from tests.factories import People, key_create
from tests.importers import files
from tests.importers.files import chatgpt_conversation, claude_conversation, dumped, zipped

__all__ = ["provider", "worker"]

pytestmark = pytest.mark.django_db(transaction=True)

ZIP = zipped(
    {
        "conversations.json": dumped([chatgpt_conversation(), {"mapping": {}, "id": "empty"}]),
        "user.json": b"{}",
        "chat.html": b"<html>",
    }
)


def imported(people: People, content: bytes, content_type: str = "application/octet-stream", **query: Any) -> Any:
    response = people.api().post("/v1/import", content, content_type=content_type, **query)
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.parametrize(
    ("content", "content_type", "format", "number"),
    [
        (dumped(files.MEM0), "application/json", "mem0", 3),
        (dumped(files.LETTA), "application/json", "letta", 3),
        (dumped(files.ZEP), "application/json", "zep", 3),
        (dumped([claude_conversation()]), "application/json", "claude", 1),
        (files.CLAUDE_MEMORY.encode(), "text/plain", "claude-memory", 3),
        (files.SAVED, "text/plain", "chatgpt-memory", 3),
        (files.BASIC, "text/markdown", "basic-memory", 5),
        (files.MARKDOWN, "text/markdown", "markdown", 4),
        (files.CSV, "text/csv", "csv", 2),
        (ZIP, "application/zip", "zip", 1),
    ],
)
def test_a_second_import_adds_nothing(
    people: People, content: bytes, content_type: str, format: str, number: int
) -> None:
    first, again = imported(people, content, content_type), imported(people, content, content_type)

    assert (first["format"], first["imported"], first["skipped"]) == (format, number, 0)
    assert (again["imported"], again["skipped"]) == (0, number)


def test_an_omp_export_stays_one(people: People) -> None:
    people.api().created()
    export = people.api().get("/v1/export").getvalue()

    answer = imported(people, export)

    assert (answer["imported"], answer["skipped"]) == (0, 1)
    assert "format" not in answer


def test_conversations_are_kept_and_the_cost_of_extraction_told(people: People) -> None:
    answer = imported(people, ZIP, "application/zip")

    assert (answer["imported"], answer["conversations"], answer["ignored"]) == (1, 1, ["chat.html", "user.json"])
    assert answer["errors"] == [
        {
            "index": 1, "id": "chatgpt:empty", "error": "validation_error",
            "message": "messages: The conversation has no messages with text.",
        }
    ]  # fmt: skip
    assert answer["extraction"]["conversations"] == 1
    assert answer["extraction"]["cost_usd"] > 0
    [listed] = people.api().get("/v1/conversations").json()["conversations"]
    assert (listed["model"], listed["topic"], listed["created_at"]) == ("chatgpt", "Deploying", "2024-02-01T00:00:00Z")
    assert people.api().get("/v1/memories").json()["total"] == 0


def test_times_and_tools_of_the_source_are_kept(people: People) -> None:
    imported(people, dumped(files.MEM0))

    listed = people.api().get("/v1/memories", tool="mem0", sort="created_at_asc").json()["memories"]
    assert (listed[0]["content"], listed[0]["created_at"]) == ("Likes hiking", "2025-01-05T16:00:00Z")


def test_what_no_longer_holds_comes_in_expired(people: People) -> None:
    imported(people, dumped(files.ZEP))

    assert people.api().get("/v1/memories").json()["total"] == 2
    assert people.api().get("/v1/memories", include_expired="true").json()["total"] == 3


def test_overwrite_brings_a_grown_conversation_up_to_date(people: People) -> None:
    short = chatgpt_conversation(current_node="u2")
    imported(people, dumped([short]))
    assert imported(people, dumped([chatgpt_conversation()]))["skipped"] == 1

    imported(people, dumped([chatgpt_conversation()]), conflict="overwrite")

    [listed] = people.api().get("/v1/conversations").json()["conversations"]
    assert listed["message_count"] == 2
    imported(people, dumped([chatgpt_conversation()]), conflict="duplicate")
    assert people.api().get("/v1/conversations").json()["total"] == 2


def test_a_key_bound_to_a_tool_is_told_record_by_record(people: People) -> None:
    key = key_create(people.space, people.owner, "bound", tool="cursor")
    response = people.api().__class__(key).post("/v1/import", dumped(files.MEM0))

    assert response.json()["imported"] == 0
    assert {error["error"] for error in response.json()["errors"]} == {"forbidden"}


def test_a_quarantine_key_imports_no_conversation(people: People) -> None:
    answer = people.api("quarantine").post("/v1/import", dumped([claude_conversation()])).json()

    assert (answer["imported"], answer["errors"][0]["error"]) == (0, "forbidden")


def test_the_format_can_be_named(people: People) -> None:
    answer = imported(people, b"- one\n- two\n", "text/plain", format="markdown")

    assert (answer["format"], answer["imported"]) == ("markdown", 2)
    wrong = people.api().post("/v1/import", b"x", content_type="text/plain", format="docx")
    assert list(wrong.json()["details"]["fields"]) == ["format"]


def test_what_is_sent_as_json_is_never_read_as_text(people: People) -> None:
    assert people.api().post("/v1/import", b"just a sentence").status_code == 422


@pytest.mark.usefixtures("worker")
def test_as_a_job_it_comes_to_the_same(people: People) -> None:
    response = people.api().post("/v1/import", ZIP, content_type="application/zip", headers={"Prefer": "respond-async"})
    job = job_wait(people.access(), response.json()["id"], 20)

    assert (response.status_code, job.status, job.done, job.total) == (202, "succeeded", 2, 2)
    assert job.result is not None
    assert (job.result["imported"], job.result["conversations"], len(job.result["errors"])) == (1, 1, 1)


def test_another_space_gets_its_own_copy(people: People) -> None:
    imported(people, dumped([claude_conversation()]))

    answer = people.api("outsider").post("/v1/import", dumped([claude_conversation()])).json()

    assert answer["imported"] == 1
    with space_transaction(people.access()):
        assert Conversation.objects.count() == 1


def test_an_archive_of_a_whole_space_is_found_out(people: People) -> None:
    people.api().created()
    people.api().post("/v1/conversations", {"model": "chatgpt", "messages": [{"role": "user", "content": "Hi"}]})
    archive = b"".join(people.api().get("/v1/space/export").streaming_content)

    answer = people.api("outsider").post("/v1/import", archive, content_type="application/zip").json()

    assert (answer["format"], answer["conversations"], answer["errors"]) == ("archive", 1, [])
    assert answer["imported"] >= 2
    assert people.api("outsider").get("/v1/memories").json()["total"] == 1
    assert people.api("outsider").get("/v1/conversations").json()["total"] == 1


def test_an_archive_brought_back_to_where_it_was_made_adds_nothing(people: People) -> None:
    people.api().created()
    archive = b"".join(people.api().get("/v1/space/export").streaming_content)

    answer = people.api().post("/v1/import", archive, content_type="application/zip").json()

    assert (answer["imported"], answer["errors"]) == (0, [])
    assert people.api().get("/v1/memories").json()["total"] == 1
