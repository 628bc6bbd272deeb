"""Redis gone, PostgreSQL gone: what still works, and that it comes back by itself."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import redis
from django.conf import settings
from kombu.exceptions import OperationalError
from psycopg import sql

from config import valkey
from config.celery import app
from embedded.postgres import Postgres
from tests import environment
from tests.factories import People, memory_body

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def redis_gone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have nobody listen at the address of Redis."""
    absent = redis.Redis.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=0.5)
    monkeypatch.setattr(valkey, "client", lambda: absent)
    monkeypatch.setattr("apikeys.throttles.client", lambda: absent)
    monkeypatch.setattr("memories.quota.client", lambda: absent)
    yield
    valkey.breaker.closed_until = 0.0
    absent.close()


@pytest.mark.usefixtures("redis_gone")
def test_without_redis_the_api_answers_limits_pass_and_health_says_degraded(people: People) -> None:
    settings.RATE_LIMIT_BURST, before = 1, settings.RATE_LIMIT_BURST
    try:
        answers = [people.api().post("/v1/memories", memory_body()) for _ in range(5)]
    finally:
        settings.RATE_LIMIT_BURST = before

    assert [answer.status_code for answer in answers] == [201] * 5
    assert all("RateLimit" not in answer.headers for answer in answers)
    found = people.api().post("/v1/memories/search", {"q": "dark", "mode": "keyword"})
    assert (found.status_code, found.json()["total"]) == (200, 5)
    health = people.api().get("/v1/health").json()
    assert (health["status"], health["checks"]["redis"]) == ("degraded", "unavailable")


@pytest.mark.usefixtures("redis_gone")
def test_a_dead_redis_costs_its_time_out_once(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    people.api().get("/v1/me")
    tried = []
    monkeypatch.setattr("apikeys.throttles.client", lambda: tried.append(1))

    people.api().get("/v1/me")

    assert tried == []


def test_without_redis_who_orders_work_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("kombu.utils.functional.sleep", waited.append)

    with app.connection_for_write("redis://127.0.0.1:1/0") as connection, pytest.raises(OperationalError):
        app.send_task("api.purge", connection=connection)

    assert waited == []


@contextmanager
def postgres_closed() -> Iterator[None]:
    """End every connection to the test's database and let nobody in."""
    database = sql.Identifier(environment.DATABASE)
    with Postgres(environment.FOLDER).connect("postgres") as administrator:
        administrator.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(database))
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [environment.DATABASE]
        )
        try:
            yield
        finally:
            administrator.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(database))


def test_without_postgresql_503_comes_at_once_and_service_without_a_restart(people: People) -> None:
    api = people.api()
    path = f"/v1/memories/{api.created()['id']}"
    with postgres_closed():
        answers = [api.get(path), api.post("/v1/memories", memory_body()), api.get("/v1/health"), api.get("/readyz")]

        assert [answer.status_code for answer in answers] == [503] * 4
        for answer in answers:
            assert answer.json()["error"] == "unavailable"
            assert answer.headers["Retry-After"]
        assert api.get("/livez").status_code == 200

    deadline = time.monotonic() + 30
    while api.get(path).status_code != 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert api.get(path).status_code == 200
    assert api.post("/v1/memories", memory_body()).status_code == 201


def test_a_connection_that_the_database_ended_is_replaced(people: People) -> None:
    api = people.api()
    assert api.get("/v1/me").status_code == 200
    with Postgres(environment.FOLDER).connect("postgres") as administrator:
        administrator.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [environment.DATABASE]
        )

    answers = [api.get("/v1/me").status_code for _ in range(3)]

    assert answers[-1] == 200
    assert set(answers) <= {200, 503}
