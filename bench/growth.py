"""Growth: the latency of one space of 10,000 while the total goes from 10,000 to 1,000,000 memories in 1,000 spaces."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._corpus import Corpus, drop_word_index, make_word_index
from bench._support import finish, noise_ms, service, space_delete, space_kept, table, timed
from bench.search_latency import Space, sizes

OWN = 10_000
MEASURED = ("keyword", "keyword cpu", "semantic", "semantic cpu", "hybrid", "hybrid cpu")


def measured(own: Space, rounds: int) -> dict[str, float]:
    """Search in each mode; give medians and processor milliseconds, and the machine's noise beside them."""
    for _ in range(30):
        own.search()
    figures = {"noise": noise_ms()}
    for mode in ("keyword", "semantic", "hybrid"):
        taken = timed(partial(own.search, mode), rounds)
        figures |= {mode: taken.at(0.5), f"{mode} cpu": taken.processor}
    return {name: round(value, 2) for name, value in figures.items()}


def main() -> None:
    """Fill step by step, and measure the same space after each. A run that was cut short goes on where it ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--total", type=int, default=1_000_000)
    parser.add_argument("--spaces", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--keep", action="store_true", help="leave the spaces for another run")
    chosen = parser.parse_args()
    with service("growth"):
        steps = Path(os.environ["OMP_DATA_DIR"]) / f"growth-{chosen.total}-{chosen.spaces}.json"
        known: dict[str, Any] = json.loads(steps.read_text()) if steps.exists() else {}
        corpus = Corpus()
        own = Space(corpus, OWN)
        others: list[Any] = []
        each = max((chosen.total - OWN) // max(chosen.spaces - 1, 1), 1)
        for total in sorted({OWN, min(OWN * 10, chosen.total), chosen.total}):
            started = time.perf_counter()
            wanted = (total - OWN) // each
            others += [space_kept(f"other-{number}") for number in range(len(others), wanted)]
            if str(total) not in known:
                drop_word_index()
                corpus.fill(own.access, OWN)
                for number, access in enumerate(others):
                    corpus.fill(access, each, seed=number + 1)
                make_word_index()
                filled = round(time.perf_counter() - started)
                known[str(total)] = {"spaces": 1 + wanted} | measured(own, chosen.rounds) | {"fill s": filled}
                steps.write_text(json.dumps(known))
            print(f"# {total}: {known[str(total)]}", flush=True)
        first, last = known[str(OWN)], known[str(chosen.total)]
        ratio = {name: round(last[name] / first[name], 2) for name in MEASURED}
        result = {"totals": known, "ratio": ratio, "bytes": sizes()}
        table(["memories", *first], [[total, *figures.values()] for total, figures in known.items()])
        print(f"from {OWN} to {chosen.total}: {ratio}")
        if not chosen.keep:
            steps.unlink()
            for access in (own.access, *others):
                space_delete(access)
    finish("growth", result)


if __name__ == "__main__":
    main()
