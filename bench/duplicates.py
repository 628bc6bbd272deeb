"""Duplicates by words and meaning: which of some written pairs of statements are taken for the same.

What counts is that no other fact is taken for a duplicate; a duplicate that is missed is stored beside the first.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, service, table

PAIRS = Path(__file__).resolve().parent / "paraphrases.json"
FLOORS = (0.80, 0.85, 0.90, 0.95)


def main() -> None:
    """Print how many pairs of each kind are taken for the same, by similarity alone and by our rule."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="bge-small-en-v1.5")
    model = parser.parse_args().model
    pairs: dict[str, list[tuple[str, str]]] = json.loads(PAIRS.read_text(encoding="utf-8"))
    with service("duplicates"):
        from aiworker.embedding.registry import provider_for
        from aiworker.statements import Statement

        provider = provider_for(model)
        alike = provider.alike
        assert alike is not None, "the model's similarities have not been measured"

        def near(one: str, other: str) -> float:
            return float(provider.embed_documents([one])[0] @ provider.embed_query(other))

        found = {kind: [(one, other, near(one, other)) for one, other in of] for kind, of in pairs.items()}

        def by_rule(one: str, other: str, similarity: float) -> bool:
            first, second = Statement(one), Statement(other)
            assert alike is not None
            return first.repeats(second) or (similarity >= alike and first.rephrases(second))

        rules: dict[str, Any] = {
            f"similarity of {floor}": lambda one, other, similarity, floor=floor: similarity >= floor
            for floor in FLOORS
        }
        rules["by words and meaning"] = by_rule
        rows = [
            [name, *(f"{sum(rule(*pair) for pair in found[kind])} of {len(found[kind])}" for kind in pairs)]
            for name, rule in rules.items()
        ]
    table([f"taken for the same ({model})", *(f"that are {kind}" for kind in pairs)], rows)
    finish("duplicates", {"model": model, "rows": rows})


if __name__ == "__main__":
    main()
