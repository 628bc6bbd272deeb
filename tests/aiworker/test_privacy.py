"""Neither a key nor a transcript is left where it does not belong: broker, logs, errors, events, tables."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
import redis
from psycopg import sql

from aiworker.fake.server import FakeProvider
from aiworker.sealing import LIFE_SECONDS, key_open, key_seal
from api.errors import NoApiKey
from config.celery import app
from tests.aiworker.conftest import canned, found
from tests.aiworker.failing import MARK, NAME
from tests.aiworker.workers import celery_worker, job_now, wait_for
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)

KEY_MARK = "markerofthekey"
TEXT_MARK = "markerofthetranscript"
MARKS = (KEY_MARK, TEXT_MARK)
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("ai")


def valkey_contents() -> bytes:
    """Return every key of this process's logical database with its serialised value."""
    client = redis.Redis.from_url(os.environ["REDIS_URL"])
    try:
        keys = list(client.scan_iter())
        assert keys, "there is a message in the broker"
        return b"\n".join(key + b" " + (client.dump(key) or b"") + raw(client, key) for key in keys)
    finally:
        client.close()


def raw(client: redis.Redis, key: bytes) -> bytes:
    """Return the readable value of a key; DUMP compresses long ones."""
    kind = client.type(key)
    if kind == b"list":
        return b"".join(client.lrange(key, 0, -1))
    if kind == b"hash":
        return b"".join(part for pair in client.hgetall(key).items() for part in pair)
    return client.get(key) or b"" if kind == b"string" else b""


def tables_with(mark: str) -> set[str]:
    """Return the tables of the whole database in whose rows, byte columns included, the mark stands."""
    pattern = f"%{mark}%"
    encoded = f"%{mark.encode().hex()}%"
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as connection:
        connection.execute("SET row_security = off")
        names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        return {
            name
            for (name,) in names
            if connection.execute(
                sql.SQL("SELECT 1 FROM {} AS row WHERE row::text LIKE %s OR row::text LIKE %s LIMIT 1").format(
                    sql.Identifier(name)
                ),
                [pattern, encoded],
            ).fetchone()
        }


@pytest.mark.slow
def test_marks_stay_where_they_belong(
    people: People, provider: FakeProvider, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider.answer = canned({"save_memories": {"memories": [found("The user likes green tea")]}})
    expected = {"ok": "succeeded", "401": "failed", "refusal": "failed", "broken": "failed"}
    keys = [f"sk-fake-{behaviour}-{KEY_MARK}" for behaviour in expected]
    transcript = f"User: I like green tea. {TEXT_MARK}"

    answers = [
        people.api().post("/v1/extract", {"transcript": transcript, "api_key": key}, headers=ASYNC) for key in keys
    ]
    jobs = [answer.json()["id"] for answer in answers]
    waiting = valkey_contents()
    assert tables_with(TEXT_MARK) == {"aiworker_jobinput"}, "the jobs' own input, until they end"
    assert tables_with(KEY_MARK) == set(), "the key is sealed"

    env = {"OMP_AI_BASE_URL": provider.url, "OMP_LOG_LEVEL": "DEBUG", "OMP_AI_RETRIES": "0"}
    with (tmp_path / "log").open("wb") as log, celery_worker("ai", log, **env):
        wait_for(
            lambda: [job_now(people, job_id).status for job_id in jobs] == list(expected.values()), "the jobs ended"
        )

    assert {request["key"] for request in provider.requests} == set(keys), "the provider did get them"
    assert TEXT_MARK in str(provider.requests[0]["body"])
    seen = {
        "broker before": waiting.decode(errors="replace"), "broker after": valkey_contents().decode(errors="replace"),
        "worker's log": (tmp_path / "log").read_text(), "web's log": caplog.text,
        "answers": str([answer.content for answer in answers]),
        "jobs": str([people.api().get(f"/v1/jobs/{job_id}").content for job_id in jobs]),
        "events": people.api().get("/v1/events").content.decode(),
    }  # fmt: skip
    assert "jobs.run" in seen["broker before"], "the messages were looked at"
    assert "jobs.run" in seen["worker's log"]
    assert {place for place, text in seen.items() for mark in MARKS if mark in text} == set()
    assert tables_with(TEXT_MARK) == tables_with(KEY_MARK) == set(), "the input went with the jobs"


@pytest.mark.usefixtures("people")
def test_a_task_that_fails_leaves_the_text_of_its_error_in_no_log(tmp_path: Path) -> None:
    path = tmp_path / "log"
    app.send_task(NAME, queue="ai")

    with path.open("wb") as log, celery_worker("ai", log, tasks="tests.aiworker.failing"):
        wait_for(lambda: f"Task {NAME}" in path.read_text() and "unexpected" in path.read_text(), "the task failed")

    written = path.read_text()
    assert "raised unexpected: IntegrityError" in written
    assert "in fails" in written
    assert MARK not in written + valkey_contents().decode(errors="replace")


def test_a_sealed_key_opens_only_here_and_only_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    token = key_seal("sk-secret")

    assert "secret" not in token
    assert key_open(token) == "sk-secret"
    with pytest.raises(NoApiKey):
        key_open(token[:-4] + "AAAA")
    later = __import__("time").time() + LIFE_SECONDS + 60
    monkeypatch.setattr("cryptography.fernet.time.time", lambda: later)
    with pytest.raises(NoApiKey):
        key_open(token)
