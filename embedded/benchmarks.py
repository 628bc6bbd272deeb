"""The list that `make bench` prints: every module of bench/ with the first line of its docstring."""

from __future__ import annotations

import ast
from pathlib import Path


def benchmarks(folder: Path) -> dict[str, str]:
    """Return name and first docstring line of each benchmark in `folder`, without running any."""
    found = {}
    for path in sorted(folder.glob("*.py")):
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if not path.name.startswith("_") and docstring:
            found[path.stem] = docstring.splitlines()[0]
    return found


if __name__ == "__main__":
    for name, purpose in benchmarks(Path(__file__).resolve().parent.parent / "bench").items():
        print(f"make bench-{name:<20} {purpose}")
