"""The databases of the tests: real servers, migrated once, copied for each process."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import redis
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.db import connections
from django.test import TestCase, TransactionTestCase
from psycopg import sql

from embedded.folder import Lock
from embedded.postgres import APP, OWNER, Postgres, database_url
from embedded.servers import running
from tests import environment
from tests.clock import MovedClock, clock_stopped

if TYPE_CHECKING:
    from tests.factories import People

PROJECT = Path(__file__).resolve().parent.parent
#: Rows that migrations put there; emptied between tests they would be missed.
SEEDED = {"django_migrations", "django_content_type", "auth_permission"}


@pytest.fixture(scope="session", autouse=True)
def embedded_servers() -> Iterator[None]:
    """Have PostgreSQL and Valkey run for the whole session."""
    with running(environment.DATA_DIR):
        yield


@pytest.fixture(scope="session", autouse=True)
def empty_valkey(embedded_servers: None) -> None:
    """Start with an empty logical database, whatever an earlier run left there."""
    client = redis.Redis.from_url(os.environ["REDIS_URL"])
    client.flushdb()
    client.close()


@pytest.fixture(scope="session", autouse=True)
def quick_hashes() -> None:
    """Have passwords hashed by the service's algorithm with the least work that it takes: it is meant to be slow."""
    Argon2PasswordHasher.time_cost, Argon2PasswordHasher.memory_cost, Argon2PasswordHasher.parallelism = 1, 8, 1


@pytest.fixture(scope="session")
def django_db_setup(embedded_servers: None, django_test_environment: None) -> Iterator[None]:
    """Give this process a database of its own, a copy of one that was migrated before."""
    template = _migrated_template()
    database = sql.Identifier(environment.DATABASE)
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(database)
    with Postgres(environment.FOLDER).connect("postgres") as connection:
        connection.execute(drop)
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} OWNER {}").format(
                database, sql.Identifier(template), sql.Identifier(OWNER)
            )
        )
    yield
    for wrapper in connections.all():
        wrapper.close()
        if hasattr(wrapper, "close_pool"):
            wrapper.close_pool()
    with Postgres(environment.FOLDER).connect("postgres") as connection:
        connection.execute(drop)


@pytest.fixture
def people(db: None) -> People:
    """Give an owner, a member and an outsider, their spaces and keys of every kind."""
    from tests.factories import people_create

    return people_create()


@pytest.fixture
def clock() -> Iterator[MovedClock]:
    """Give the service's clock, which stands still until the test moves it."""
    with clock_stopped() as moved:
        yield moved


@pytest.fixture(autouse=True)
def emptied_after_commits(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empty every table after a test that commits.

    Django's own flush works as the service's login, which owns no table and may empty none. Only tables that hold
    something are emptied, row by row: to truncate all of them takes longer than most tests.
    """
    yield
    if _commits(request):
        with Postgres(environment.FOLDER).connect(environment.DATABASE) as connection:
            found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            asked = [
                sql.SQL("SELECT {} WHERE EXISTS (SELECT FROM {})").format(sql.Literal(name), sql.Identifier(name))
                for (name,) in found
                if name not in SEEDED
            ]
            filled = connection.execute(sql.SQL(" UNION ALL ").join(asked)).fetchall()
            connection.execute("SET session_replication_role = replica")  # no row stops the end of another
            for (name,) in filled:
                connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(name)))


def _commits(request: pytest.FixtureRequest) -> bool:
    if {"transactional_db", "live_server", "django_db_reset_sequences"} & set(request.fixturenames):
        return True
    if request.cls is not None and issubclass(request.cls, TransactionTestCase):
        return not issubclass(request.cls, TestCase)
    marker = request.node.get_closest_marker("django_db")
    return marker is not None and bool(marker.kwargs.get("transaction") or marker.args[:1] == (True,))


def _migrated_template() -> str:
    """Return the name of a database with all migrations, made when the sources have changed."""
    name = f"template_{_digest_of_schema()}"
    lock = Lock(environment.DATA_DIR / "template.lock")
    with lock.held(), Postgres(environment.FOLDER).connect("postgres") as connection:
        found = connection.execute("SELECT datname, datistemplate FROM pg_database").fetchall()
        if (name, True) in found:
            return name
        for old, complete in found:
            if str(old).startswith("template_"):
                identifier = sql.Identifier(str(old))
                if complete:
                    connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE false").format(identifier))
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(identifier))
        connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(name), sql.Identifier(OWNER)))
        _migrate(name)
        # Only now is it complete, also in the eyes of a later run.
        connection.execute(sql.SQL("ALTER DATABASE {} IS_TEMPLATE true").format(sql.Identifier(name)))
    return name


def _migrate(database: str) -> None:
    env = os.environ | {
        "DATABASE_URL": database_url(environment.FOLDER, APP, database),
        "DATABASE_OWNER_URL": database_url(environment.FOLDER, OWNER, database),
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    done = subprocess.run(command, cwd=PROJECT, env=env, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.exit(f"The migrations failed:\n{done.stdout}{done.stderr}", returncode=1)


def _digest_of_schema() -> str:
    """Return a digest of everything that decides what the migrated database looks like."""
    digest = hashlib.sha256()
    patterns = (
        "*/migrations/*.py",
        "*/models.py",
        "*/models/*.py",
        "requirements.txt",
        "config/settings.py",
        "config/*/commands/migrate.py",
    )
    for path in sorted(path for pattern in patterns for path in PROJECT.glob(pattern)):
        digest.update(f"{path.relative_to(PROJECT)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes long, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)
