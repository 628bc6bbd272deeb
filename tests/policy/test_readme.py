"""What the README promises is there."""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent


def test_the_table_of_settings_names_every_variable() -> None:
    settings = "".join(path.read_text() for path in (PROJECT / "config").glob("*.py"))
    read = set(re.findall(r'env_(?:str|int|bool|list|choice)\(\s*"([A-Z_]+)"', settings))

    readme = (PROJECT / "README.md").read_text()

    assert len(read) > 30
    assert {name for name in read if f"`{name}`" not in readme} == set()


def test_the_documents_that_it_points_to_exist() -> None:
    readme = (PROJECT / "README.md").read_text()

    links = re.findall(r"\]\(([^)]+)\)", readme)

    assert links
    assert [link for link in links if not (PROJECT / link).exists()] == []
