"""Growth: the latency of one space of 10,000 while the total goes from 10,000 to 1,000,000 memories in 1,000 spaces."""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._corpus import Corpus, drop_word_index, make_word_index
from bench._support import finish, noise_ms, service, space_delete, space_new, table, timed
from bench.search_latency import Space, sizes

OWN = 10_000


def main() -> None:
    """Fill step by step, and measure the same space after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--total", type=int, default=1_000_000)
    parser.add_argument("--spaces", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    result: dict[str, Any] = {"totals": {}}
    rows = []
    with service("growth"):
        corpus = Corpus()
        own = Space(corpus, OWN)
        others: list[Any] = []
        each = max((chosen.total - OWN) // max(chosen.spaces - 1, 1), 1)
        for total in (OWN, OWN * 10, chosen.total):
            started = time.perf_counter()
            drop_word_index()
            if total == OWN:
                corpus.fill(own.access, OWN)
            while OWN + (len(others) + 1) * each <= total:
                others.append(space_new(f"other-{len(others)}"))
                corpus.fill(others[-1], each, seed=len(others))
            make_word_index()
            filled = time.perf_counter() - started
            for _ in range(30):
                own.search()
            figures: dict[str, float] = {"noise": noise_ms()}
            for mode in ("keyword", "semantic", "hybrid"):
                taken = timed(partial(own.search, mode), chosen.rounds)
                figures |= {mode: taken.at(0.5), f"{mode} cpu": taken.processor}
            result["totals"][total] = {name: round(value, 2) for name, value in figures.items()}
            rows.append([total, 1 + len(others), *(f"{value:.1f}" for value in figures.values()), f"{filled:.0f}"])
            print(f"# {total}: {result['totals'][total]}", flush=True)
        first, last = result["totals"][OWN], result["totals"][chosen.total]
        result["ratio"] = {name: round(last[name] / first[name], 2) for name in first if name != "noise"}
        result["bytes"] = sizes()
        table(
            [
                "memories",
                "spaces",
                "noise ms",
                "keyword",
                "cpu ms",
                "semantic",
                "cpu ms",
                "hybrid",
                "cpu ms",
                "fill s",
            ],
            rows,
        )
        print(f"from {OWN} to {chosen.total}: {result['ratio']}")
        for access in (own.access, *others):
            space_delete(access)
    finish("growth", result)


if __name__ == "__main__":
    main()
