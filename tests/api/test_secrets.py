"""Secrets and memory text never reach a log, the broker, Redis, an event or an error."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from pythonjsonlogger.json import JsonFormatter

from accounts.access import space_transaction
from config.valkey import client
from events.models import Event
from memories.models import Memory
from tests.factories import Api, People, memory_body

TEXT = "marker-of-a-memory-text"
MARKS = {
    "content": f"{TEXT} content", "tags": [f"{TEXT} tag"], "namespace": f"{TEXT} namespace",
    "metadata": {f"{TEXT} key": f"{TEXT} value"}, "source": {"tool": "claude", "session_id": f"{TEXT} session"},
}  # fmt: skip

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Give everything that is logged at any level, in the form in which it would be written."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    level, root.level = root.level, logging.DEBUG
    root.addHandler(handler)
    yield stream
    root.removeHandler(handler)
    root.level = level


def broker_and_cache() -> str:
    """Return every key and value of the logical database."""
    redis = client()
    dump = []
    for key in redis.scan_iter():
        kind = redis.type(key)
        value: Any = {
            b"string": redis.get, b"list": lambda key: redis.lrange(key, 0, -1), b"hash": redis.hgetall,
            b"set": redis.smembers, b"zset": lambda key: redis.zrange(key, 0, -1),
        }.get(kind, lambda key: "")(key)  # fmt: skip
        dump.append(f"{key!r} {value!r}")
    return "\n".join(dump)


def everything(api: Api) -> list[Any]:
    """Do what a tool does in a day, faults included, and return the answers that are errors."""
    made = api.post("/v1/memories", memory_body(**MARKS), headers={"Idempotency-Key": f"{TEXT}-idempotency"}).json()
    path = f"/v1/memories/{made['id']}"
    api.put(path, {"content": f"{TEXT} changed"})
    api.get(path)
    api.get("/v1/memories", tags=f"{TEXT} tag")
    api.post("/v1/memories/search", {"q": f"{TEXT} query", "mode": "keyword"})
    api.post("/v1/memories/search", {"q": f"{TEXT} query"})
    api.post("/v1/memories/batch", {"memories": [memory_body(**MARKS)]})
    b"".join(api.get("/v1/export").streaming_content)
    api.post("/v1/import", {"memories": [memory_body(**MARKS)]})
    api.post("/v1/import", {"memories": [memory_body(**MARKS)]}, headers={"Prefer": "respond-async"})
    api.put("/v1/kv/state/key", {"value": TEXT})
    api.post(
        "/v1/extract",
        {"transcript": f"{TEXT} transcript", "api_key": f"sk-{TEXT}"},
        headers={"Prefer": "respond-async"},
    )
    api.delete(path)
    return [
        api.post("/v1/memories", memory_body(type=f"{TEXT} type", metadata=TEXT)),
        api.post("/v1/memories", memory_body(content=TEXT * 1_000)),
        api.post("/v1/memories", f'{{"content": "{TEXT}'.encode()),
        api.post("/v1/memories", f'{{"{TEXT}": NaN}}'.encode()),
        api.get("/v1/memories", type=TEXT),
        api.get("/v1/memories", cursor=TEXT),
        api.get(f"/v1/memories/{TEXT}"),
        api.get("/v1/memories", headers={"Authorization": f"Bearer {TEXT}"}),
        api.post("/v1/memories/search", {"q": TEXT, "mode": TEXT}),
    ]


def test_a_day_of_work_leaves_no_text_and_no_key_outside_the_tables_of_content(
    people: People, log: io.StringIO, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key = people.keys["owner"]

    errors = everything(people.api())

    logged, kept = log.getvalue() + caplog.text, broker_and_cache()
    assert logged.count('"route"') >= 10, "the requests are logged"
    with space_transaction(people.access()):
        events = json.dumps([list(row) for row in Event.objects.visible_to(people.access()).values_list()], default=str)
    assert "memory.created" in events
    for place in (logged, kept, events):
        assert TEXT not in place
        assert key not in place
        assert key[10:] not in place
    for response in errors:
        assert response.status_code >= 400
        assert TEXT not in response.content.decode()


def test_an_unforeseen_failure_shows_and_logs_no_text(
    people: People, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**arguments: Any) -> Memory:
        raise RuntimeError(f"row ({arguments['data'].content}) is odd")

    monkeypatch.setattr("memories.views.memory_create", fail)

    response = people.api().post("/v1/memories", memory_body(**MARKS))

    assert (response.status_code, response.json()["error"]) == (500, "internal_error")
    assert TEXT not in response.content.decode()
    assert "RuntimeError" in log.getvalue()
    assert TEXT not in log.getvalue()


def test_the_database_holds_no_key_and_no_answer_that_can_be_read(people: People) -> None:
    key = people.keys["owner"]
    made = people.api().post("/v1/memories", memory_body(**MARKS), headers={"Idempotency-Key": "k"}).json()
    people.api().delete(f"/v1/memories/{made['id']}")

    found = []
    with psycopg.connect(settings.DATABASE_OWNER_URL) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            dump = connection.execute(f"SELECT coalesce(string_agg(t::text, '|'), '') FROM {table} t").fetchone()
            assert dump is not None
            found += [table for secret in (TEXT, key, key[10:], TEXT.encode().hex()) if secret in dump[0]]

    assert found == []
