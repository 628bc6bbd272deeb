"""What the project's own tools look at: nothing may be left out by forgetting."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

from django.apps import apps

from embedded.benchmarks import benchmarks
from tests.embedded.conftest import PROJECT, clean_environment


def test_every_app_has_its_imports_checked() -> None:
    checked = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    ours = {Path(one.path).name for one in apps.get_app_configs() if Path(one.path).parent == PROJECT}

    assert ours | {"embedded"} <= set(checked)
    assert checked == sorted(checked)


def test_pins_are_exact_and_name_no_host() -> None:
    for name in ("requirements.txt", "requirements-dev.txt", "requirements-models.txt"):
        for line in (PROJECT / name).read_text().splitlines():
            if line and not line.startswith("#"):
                assert "==" in line, line
                assert "://" not in line, line
                assert not line.startswith("-"), line


def test_development_pins_agree_with_those_of_the_service() -> None:
    development = set((PROJECT / "requirements-dev.txt").read_text().splitlines())

    assert set((PROJECT / "requirements.txt").read_text().splitlines()) <= development


def test_bench_lists_every_benchmark_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "load.py").write_text('"""How fast it is.\n\nAt length.\n"""\nraise SystemExit("not run")\n')
    (tmp_path / "_shared.py").write_text('"""No benchmark."""\n')

    assert benchmarks(tmp_path) == {"load": "How fast it is."}


def test_make_alone_explains_itself() -> None:
    done = subprocess.run(["make"], cwd=PROJECT, env=clean_environment(), capture_output=True, text=True, check=True)

    for command in ("make run", "make test", "make lint", "make bench"):
        assert command in done.stdout
