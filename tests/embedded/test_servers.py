"""The embedded servers: starting, sharing, stopping, and starting again after the worst."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest
import redis

from embedded.errors import StartError
from embedded.folder import DataFolder
from embedded.postgres import MAJOR, Postgres
from embedded.servers import addresses, is_running, running
from embedded.valkey import Valkey
from tests.embedded.conftest import NOBODY, eventually, gone, script

HOLD = "import os, pathlib, sys; from embedded.servers import *\nwith running(data_dir()): {}"


@pytest.fixture(autouse=True)
def durable(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests are about what survives."""
    monkeypatch.delenv("OMP_EMBEDDED_FAST")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "data"
    yield path
    for server in (Postgres(DataFolder.at(path)), Valkey(DataFolder.at(path))):
        server.stop()


def queue(data: Path) -> redis.Redis:
    return redis.Redis.from_url(addresses(data).redis_url)


def test_start_share_and_stop(data: Path) -> None:
    assert not is_running(data)

    with running(data) as where:
        assert is_running(data)
        with psycopg.connect(where.database_url) as connection:
            assert connection.execute("SELECT current_user, current_database()").fetchone() == (
                "commonplace_app",
                "commonplace",
            )
        # Another command comes and goes: the first one's servers stay.
        other = script(HOLD.format("print(is_running(data_dir()))"), data)
        assert other.stdout.strip() == "True", other.stderr
        assert is_running(data)

    assert not is_running(data)
    assert Postgres(DataFolder.at(data)).process() is None


def test_last_to_leave_stops_what_another_has_started(data: Path) -> None:
    """The starter is killed, so that it stops nothing: its servers are used, then stopped."""
    killed = script(HOLD.format("os.kill(os.getpid(), 9)"), data)
    assert killed.returncode == -signal.SIGKILL
    assert is_running(data)
    database = Postgres(DataFolder.at(data)).process()

    with running(data):
        assert Postgres(DataFolder.at(data)).process() == database

    assert not is_running(data)


def test_data_survive_a_kill_of_both_servers(data: Path) -> None:
    with running(data) as where:
        with psycopg.connect(where.database_owner_url) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
        with queue(data) as client:
            client.rpush("queue", "job")
        for server in (Postgres(DataFolder.at(data)), Valkey(DataFolder.at(data))):
            process = server.process()
            assert process is not None
            below = process.children(recursive=True)
            process.kill()
            eventually(lambda ended=[process, *below]: gone(ended), f"the end of {server.name}")
    assert (data / "postgres" / "postmaster.pid").exists(), "the kill left no stale file to stumble over"

    with running(data) as where:
        with psycopg.connect(where.database_owner_url) as connection:
            assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
        with queue(data) as client:
            assert client.lrange("queue", 0, -1) == [b"job"]


def test_number_of_a_dead_server_may_belong_to_another_program_now(data: Path) -> None:
    with running(data):
        left = (data / "postgres" / "postmaster.pid").read_text().split("\n", 1)[1]
    (data / "postgres" / "postmaster.pid").write_text(f"{os.getpid()}\n{left}")
    (data / "valkey" / "valkey.pid").write_text(f"{os.getpid()}\n")

    with running(data):
        assert is_running(data)

    assert psutil.Process().is_running()


def test_interrupted_creation_is_begun_anew(data: Path) -> None:
    DataFolder.at(data).create()
    half_made = data / "postgres.new"
    (half_made / "base").mkdir(parents=True)
    (half_made / "PG_VERSION").write_text(f"{MAJOR}\n")

    with running(data):
        assert is_running(data)

    assert not half_made.exists()


def test_files_in_the_place_of_the_database_are_left_alone(data: Path) -> None:
    folder = DataFolder.at(data)
    folder.create()
    folder.postgres.mkdir()
    account = Postgres(folder).account
    os.chown(folder.postgres, account.uid, account.gid)
    (folder.postgres / "letter.txt").write_text("not ours")

    with pytest.raises(StartError, match="a file is in the way"), running(data):
        pass

    assert (folder.postgres / "letter.txt").read_text() == "not ours"


def test_roles_of_the_service(data: Path) -> None:
    with running(data) as where:
        with psycopg.connect(where.database_owner_url, autocommit=True) as owner:
            owner.execute("CREATE TABLE owned (embedding vector(3))")
        with psycopg.connect(where.database_url, autocommit=True) as app:
            attributes = "rolsuper, rolbypassrls, rolcreaterole, rolcreatedb"
            assert app.execute(f"SELECT {attributes} FROM pg_roles WHERE rolname = current_user").fetchone() == (
                False,
                False,
                False,
                False,
            )
            for statement in ("CREATE TABLE mine (id int)", "SELECT * FROM owned", "DROP TABLE owned"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    app.execute(statement)


def test_settings_of_postgresql(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses", "jit", "max_connections")
    shown = "SELECT " + ", ".join(f"current_setting('{name}')" for name in names)
    for fast, durability in (("0", "on"), ("1", "off")):
        monkeypatch.setenv("OMP_EMBEDDED_FAST", fast)
        with running(data) as where, psycopg.connect(where.database_url) as connection:
            assert connection.execute(shown).fetchone() == (durability, durability, durability, "", "off", "100")


def test_what_people_remember_is_not_in_the_log(data: Path) -> None:
    with running(data) as where, psycopg.connect(where.database_owner_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE once (word text PRIMARY KEY)")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO once VALUES (%s), (%s)", ["heliotrope", "heliotrope"])
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT 'heliotrope'::int")

    log = (data / "logs" / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "heliotrope" not in log


def test_long_path_has_its_sockets_elsewhere(tmp_path: Path) -> None:
    data = tmp_path / ("d" * 90)

    with running(data) as where, psycopg.connect(where.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    sockets = DataFolder.at(data).sockets

    assert sockets.parent == Path("/tmp")
    assert sockets.stat().st_mode & 0o777 == 0o700
    sockets.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make folders for others, or close them to its own server")
class TestAsRoot:
    def test_data_below_a_closed_folder(self, tmp_path: Path) -> None:
        closed = tmp_path / "closed"
        closed.mkdir(mode=0o700)

        with running(closed / "data") as where, psycopg.connect(where.database_url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            database = Postgres(DataFolder.at(closed / "data")).process()
            assert database is not None
            assert database.uids().real != 0
        assert closed.stat().st_mode & 0o777 == 0o700, "nobody else was let in"

    def test_data_of_an_ordinary_user_stay_theirs(self, data: Path) -> None:
        data.mkdir(mode=0o755)
        for name in ("postgres", "valkey", "run"):
            (data / name).mkdir(mode=0o700)
            os.chown(data / name, NOBODY, NOBODY)

        with running(data):
            database = Postgres(DataFolder.at(data)).process()
            assert database is not None
            assert database.uids().real == NOBODY
        assert (data / "postgres" / "PG_VERSION").stat().st_uid == NOBODY

    def test_sockets_folder_of_somebody_else_is_refused(self, data: Path) -> None:
        folder = DataFolder.at(data)
        folder.create()
        folder.sockets.mkdir(mode=0o777)
        os.chown(folder.sockets, NOBODY, NOBODY)

        with pytest.raises(StartError, match="belongs to another user"), running(data):
            pass


@pytest.mark.parametrize(("version", "age"), [(str(MAJOR + 1), "newer"), (str(MAJOR - 1), "older")])
def test_data_of_another_version_are_left_alone(data: Path, version: str, age: str) -> None:
    folder = DataFolder.at(data)
    folder.create()
    with running(data):
        pass
    (data / "postgres" / "PG_VERSION").write_text(f"{version}\n")

    with pytest.raises(StartError, match=f"was written by the {age} PostgreSQL {version}"), running(data):
        pass
