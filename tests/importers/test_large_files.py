"""Files that take long: those of other products become jobs, and a job of any format ends once."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

from aiworker import jobruns
from aiworker.fairness import turn_take
from aiworker.jobruns import job_run
from aiworker.jobs import job_cancel
from memories.transfer import importing, views
from memories.transfer import jobs as transfer_jobs
from tests.aiworker.workers import job_now, job_silent
from tests.factories import People, memory_body
from tests.importers import files
from tests.importers.files import chatgpt_conversation, dumped, zipped

pytestmark = pytest.mark.django_db(transaction=True)

ASYNC = {"Prefer": "respond-async"}


@pytest.fixture
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "IN_REQUEST", 500)


def posted(people: People, content: bytes, content_type: str = "application/octet-stream", **query: Any) -> Any:
    return people.api().post("/v1/import", content, content_type=content_type, **query)


@pytest.mark.usefixtures("small_limit")
@pytest.mark.parametrize(
    ("content", "query"),
    [
        (dumped([chatgpt_conversation()]), {}),
        (zipped({"conversations.json": dumped([chatgpt_conversation()])}), {}),
        (zipped({"note.md": b"The same words. " * 100}), {}),
        (b"- A memory.\n" * 60, {"format": "markdown"}),
    ],
)
def test_a_large_file_of_another_product_becomes_a_job(people: People, content: bytes, query: dict[str, str]) -> None:
    response = posted(people, content, **query)

    job = response.json()
    assert (response.status_code, response["Location"], job["status"]) == (202, f"/v1/jobs/{job['id']}", "queued")
    job_run(space_id=people.space.pk, job_id=job["id"])
    assert job_now(people, job["id"]).result["imported"] >= 1


@pytest.mark.usefixtures("small_limit")
def test_a_small_one_and_the_protocols_own_export_are_answered_at_once(people: People) -> None:
    export = dumped({"memories": [memory_body(content=f"Fact {n}") for n in range(10)]})
    lines = b"\n".join(dumped(memory_body(content=f"Line {n}")) for n in range(10))

    assert posted(people, files.SAVED).status_code == 200
    assert posted(people, export).status_code == 200
    assert posted(people, lines, "application/x-ndjson").status_code == 200
    assert len(export) > 500 < len(lines)


def archive_of(people: People) -> bytes:
    """Return the archive of the outsider's space, which has one memory and one conversation."""
    api = people.api("outsider")
    api.created()
    api.post("/v1/conversations", {"model": "chatgpt", "messages": [{"role": "user", "content": "Hi"}]})
    return b"".join(api.get("/v1/space/export").streaming_content)


def archive_job(people: People) -> str:
    response = people.api().post("/v1/import", archive_of(people), content_type="application/zip", headers=ASYNC)
    job_id: str = response.json()["id"]
    return job_id


def total(people: People) -> int:
    found: int = people.api().get("/v1/memories").json()["total"]
    return found


def test_an_archive_killed_after_its_work_is_not_added_twice(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = archive_job(people)

    def killed(*args: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(jobruns, "_end_attempt", killed)
        with pytest.raises(KeyboardInterrupt):
            job_run(space_id=people.space.pk, job_id=job_id)
    assert (job_now(people, job_id).status, total(people)) == ("running", 1)
    job_silent(people, job_id)

    job_run(space_id=people.space.pk, job_id=job_id)

    job = job_now(people, job_id)
    assert (job.status, job.result["format"], job.result["conversations"]) == ("succeeded", "archive", 1)
    assert job.result["imported"] >= 2, "the answer is that of the work that was done"
    assert total(people) == 1


def test_an_archive_cancelled_while_it_is_read_adds_nothing(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = archive_job(people)
    take = transfer_jobs.archive_take

    def cancelled(access: Any, file: Any) -> Any:
        taken = take(access, file)
        job_cancel(access=people.access(), job_id=job_id)
        return taken

    monkeypatch.setattr(transfer_jobs, "archive_take", cancelled)
    job_run(space_id=people.space.pk, job_id=job_id)

    assert total(people) == 0


def test_a_long_import_lets_another_spaces_have_its_turn(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: deque[dict[str, Any]] = deque()
    monkeypatch.setattr("aiworker.queue.app.send_task", lambda name, *, kwargs, **options: messages.append(kwargs))
    monkeypatch.setattr(importing, "CHUNK", 10)
    monkeypatch.setattr(jobruns, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(jobruns, "CATCH_UP", 0.0)
    faulty = {"memories": [{"content": "no type"}, *(memory_body(content=f"Fact {n}") for n in range(49))]}
    long = people.api().post("/v1/import", faulty, headers=ASYNC).json()["id"]
    short = people.api("outsider").post("/v1/import", {"memories": [memory_body()]}, headers=ASYNC).json()["id"]

    done: list[str] = []
    while messages:
        turn_take(**messages.popleft())
        for job_id, by in ((long, "owner"), (short, "outsider")):
            ended = people.api(by).get(f"/v1/jobs/{job_id}").json()["status"] == "succeeded"
            done += [job_id] if ended and job_id not in done else []

    job = job_now(people, long)
    assert done == [short, long]
    assert (job.attempts, job.done, job.total) == (5, 50, 50), "a turn for each chunk"
    assert (job.result["imported"], [error["index"] for error in job.result["errors"]]) == (49, [0])
    assert total(people) == 49
