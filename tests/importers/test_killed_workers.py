"""A worker killed in the middle of an import: the next attempt goes on, and the import ends once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from aiworker.jobruns import job_run
from config.celery import app
from memories.transfer.importing import LOCK
from tests.aiworker.workers import celery_worker, job_now, job_silent, kill, wait_for
from tests.factories import People
from tests.importers.files import claude_conversation, dumped, zipped

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("import")


class Turnstile:
    """Lets the chunks of a space's imports through one by one: it stands in the queue for the lock that each takes."""

    def __init__(self, space_id: int) -> None:
        self.lock = (LOCK, space_id % 2**31)
        self.inside, self.next = (psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) for _ in "ab")

    def take(self, connection: psycopg.Connection) -> None:
        connection.execute("SELECT pg_advisory_lock(%s, %s)", self.lock)

    def waiting(self) -> int:
        """Return how many wait for the lock."""
        found = self.inside.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database ON oid = database"
            " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
        )
        return int((found.fetchone() or [0])[0])

    def one_chunk(self) -> None:
        """Let the chunk that waits through, and hold the one after it."""
        wait_for(lambda: self.waiting() == 1, "a chunk waits")
        with ThreadPoolExecutor(1) as thread:
            got = thread.submit(self.take, self.next)
            wait_for(lambda: self.waiting() == 2, "the next turn is ours")
            self.inside.execute("SELECT pg_advisory_unlock(%s, %s)", self.lock)
            got.result()
        self.inside, self.next = self.next, self.inside
        wait_for(lambda: self.waiting() == 1, "the second chunk waits")

    def close(self) -> None:
        self.inside.close()
        self.next.close()


def total(people: People) -> int:
    found: int = people.api().get("/v1/memories").json()["total"]
    return found


def test_an_import_goes_on_after_sigkill_in_a_chunk_and_ends_once(people: People) -> None:
    memories = [{"id": str(n), "memory": f"Statement {n}"} for n in range(1_100)]
    content = zipped(
        {"a.json": dumped({"results": memories}), "b.json": dumped([claude_conversation()]), "c.png": b"x"}
    )
    headers = {"Prefer": "respond-async"}
    job_id = people.api().post("/v1/import", content, content_type="application/zip", headers=headers).json()["id"]
    turnstile = Turnstile(people.space.pk)
    turnstile.take(turnstile.inside)
    with celery_worker("import") as process:
        turnstile.one_chunk()
        kill(process)
    turnstile.close()
    killed = job_now(people, job_id)
    assert (killed.status, killed.done, total(people)) == ("running", 500, 500)
    job_silent(people, job_id)

    job_run(space_id=people.space.pk, job_id=job_id)

    job = job_now(people, job_id)
    assert (job.status, job.done, job.attempts) == ("succeeded", 1_101, 2)
    assert job.result is not None
    assert (job.result["imported"], job.result["skipped"], job.result["conversations"]) == (1_101, 0, 1)
    assert job.result["ignored"] == ["c.png"]
    assert total(people) == 1_100
    assert people.api().get("/v1/conversations").json()["total"] == 1
