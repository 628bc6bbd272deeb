"""What the README promises is there."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
PAGE = (PROJECT / "README.md").read_text()


def test_the_table_of_settings_names_every_variable() -> None:
    settings = "".join(path.read_text() for path in (PROJECT / "config").glob("*.py"))
    read = set(re.findall(r'env_(?:str|int|bool|list|choice)\(\s*"([A-Z_]+)"', settings))

    assert len(read) > 30
    assert {name for name in read if f"`{name}`" not in PAGE} == set()


def test_the_table_of_settings_gives_the_numbers_that_are_the_defaults() -> None:
    settings = (PROJECT / "config" / "settings.py").read_text()
    defaults = dict(re.findall(r'env_int\(\s*"([A-Z_]+)", ([\d_]+)[,)]', settings))

    shown: dict[str, str] = {}
    for names, values, _ in re.findall(r"^\| (`[A-Z_`, ]+`) \| ([`\d, ]+) \| (.+) \|$", PAGE, re.MULTILINE):
        shown |= dict(zip(re.findall(r"\w+", names), re.findall(r"\d+", values), strict=False))

    checked = shown.keys() & defaults.keys()
    assert len(checked) > 10
    assert {name: shown[name] for name in checked} == {name: str(int(defaults[name])) for name in checked}


def test_the_documents_that_it_points_to_exist() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE)

    assert links
    assert [link for link in links if not (PROJECT / link).exists()] == []
