"""POST /v1/import with `Prefer: respond-async`: a job that survives its worker."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from accounts.access import Access, space_transaction
from aiworker import jobruns, jobs, sweeping
from aiworker.jobruns import job_run
from aiworker.models import Job, JobInput
from config.celery import app
from memories.models import Memory
from memories.transfer import export, importing
from memories.transfer import jobs as transfer_jobs
from tests.factories import People, memory_body

PROJECT = Path(__file__).resolve().parent.parent.parent
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("import")


def records(count: int) -> list[dict[str, Any]]:
    return [memory_body(id=f"record {number}", content=f"Fact number {number}") for number in range(count)]


def job_of(people: People, job_id: str) -> Job:
    access = Access.system(people.space.pk)
    with space_transaction(access):
        job: Job = Job.objects.visible_to(access).get(id=job_id)
    return job


@pytest.mark.django_db
def test_answers_202_with_a_job_that_does_the_same(people: People) -> None:
    body = {"memories": [*records(1_200), "broken"], "conflict": "overwrite"}

    response = people.api().post("/v1/import", body, headers=ASYNC)

    job = response.json()
    assert (response.status_code, response.headers["Location"]) == (202, f"/v1/jobs/{job['id']}")
    assert (job["kind"], job["status"]) == ("import", "queued")
    job_run(space_id=people.space.pk, job_id=job["id"])
    done = people.api().get(response.headers["Location"]).json()
    assert (done["status"], done["progress"]) == ("succeeded", {"done": 1_201, "total": 1_201})
    assert (done["result"]["imported"], done["result"]["errors"][0]["index"]) == (1_200, 1_200)
    assert people.api().get("/v1/memories").json()["total"] == 1_200


@pytest.mark.django_db
def test_a_file_that_is_none_fails_the_job_with_the_reason(people: People) -> None:
    job = people.api().post("/v1/import", b'{"memories": [1, ', headers=ASYNC).json()

    job_run(space_id=people.space.pk, job_id=job["id"])

    done = people.api().get(f"/v1/jobs/{job['id']}").json()
    assert (done["status"], done["error"]["error"]) == ("failed", "validation_error")


@contextmanager
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """Run a real worker on the queue `import`; every process of it ends with the block."""
    command = [
        *(sys.executable, "-W", "ignore", "-m", "celery", "--quiet", "--app", "config.celery:app", "worker"),
        *("--queues", "import", "--concurrency", "1", "--without-mingle", "--without-gossip", "--without-heartbeat"),
        *("--loglevel", "ERROR"),
    ]
    process = subprocess.Popen(
        command, cwd=PROJECT, env=os.environ | {"PYTHONWARNINGS": "ignore"}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()


def wait_until(people: People, job_id: str, reached: Any) -> Job:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        job = job_of(people, job_id)
        if reached(job):
            return job
        time.sleep(0.02)
    raise AssertionError(f"the job stands at {job.status}, {job.done}")


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_goes_on_after_the_worker_was_killed(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 1_500
    given = records(count)
    given[10] = {"content": "no type"}
    job_id = people.api().post("/v1/import", {"memories": given}, headers=ASYNC).json()["id"]
    with worker() as process:
        wait_until(people, job_id, lambda job: job.done >= 500)
        os.killpg(process.pid, 9)
        process.wait()
    killed = job_of(people, job_id)
    assert killed.status == "running"
    assert 500 <= killed.done < count
    with space_transaction(people.access()):
        assert Memory.objects.visible_to(people.access()).count() == killed.done - 1, "rows and progress are one"

    monkeypatch.setattr(sweeping, "SILENT_SECONDS", 0)
    assert sweeping.jobs_sweep() == 1
    with space_transaction(people.access()):
        # The new worker would wait until the old one has been silent for long enough.
        Job.objects.visible_to(people.access()).update(alive_at=None, created_at="2020-01-01T00:00:00Z")
    with worker():
        done = wait_until(people, job_id, lambda job: job.status not in jobs.OPEN)

    assert (done.status, done.attempts, done.done) == ("succeeded", 2, count)
    assert (done.result["imported"], done.result["skipped"]) == (count - 1, 0)
    assert [error["index"] for error in done.result["errors"]] == [10]
    with space_transaction(people.access()):
        assert Memory.objects.visible_to(people.access()).count() == count - 1
        assert not JobInput.objects.visible_to(people.access()).exists()
    assert "no type" not in json.dumps(done.result)


def alive() -> int:
    """Return how many memories this process holds."""
    gc.collect()
    return sum(type(thing) is Memory for thing in gc.get_objects())


@pytest.mark.django_db
def test_neither_import_nor_export_holds_more_than_a_chunk(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make bench-transfer` measures the memory with 100,000."""
    chunk, count, held = 50, 200, []
    monkeypatch.setattr(jobruns, "TURN_SECONDS", 3_600.0)  # looking at everything that is alive takes its time
    monkeypatch.setattr(importing, "CHUNK", chunk)
    monkeypatch.setattr(export, "ROWS", chunk)
    store = transfer_jobs.import_chunk

    def counted(**options: Any) -> Any:
        held.append(alive())
        return store(**options)

    monkeypatch.setattr(transfer_jobs, "import_chunk", counted)
    job = people.api().post("/v1/import", {"memories": records(count)}, headers=ASYNC).json()
    job_run(space_id=people.space.pk, job_id=job["id"])
    assert job_of(people, job["id"]).result["imported"] == count
    lines = 0
    for piece in people.api().get("/v1/export", format="ndjson").streaming_content:
        lines += piece.count(b"\n")
        held.append(alive())

    assert lines == 1 + count
    assert len(held) > count // chunk
    assert max(held) <= chunk
