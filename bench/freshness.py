"""Freshness: how soon after a memory is stored a search finds it, by words and by meaning, idle and under an import."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import (
    finish,
    forget_pending,
    memories_add,
    percentile,
    service,
    space_delete,
    space_new,
    table,
    xquad_sentences,
)

IMPORTED = 20_000
"""So many are stored beside, which takes minutes to embed; more would measure an ever larger space."""


def import_and_embed(space_id: int, texts: list[str], stop: Any) -> None:
    """Store texts into a space and embed them, as an import and its worker do, until told to stop."""
    import django

    django.setup()
    from django.db import connections

    from accounts.access import Access
    from memories.embeddings import embed_pending

    connections.close_all()
    access = Access.system(space_id)
    stored = 0
    while not stop.is_set():
        if stored < IMPORTED:
            stored += len(memories_add(access, [f"{text} {time.time_ns()}" for text in texts[600:800]]))
        embed_pending(1)


def lag(access: Any, text: str, mode: str) -> float:
    """Store a text and search until it is found; give the milliseconds from the commit on."""
    from memories.search import SearchQuery, search_memories

    [memory_id] = memories_add(access, [text])
    stored = time.perf_counter()
    while True:
        found = search_memories(access, SearchQuery(text[:200], mode=mode, limit=10))  # type: ignore[arg-type]
        if found.mode_used == mode and memory_id in {hit.memory_id for hit in found.hits}:
            return (time.perf_counter() - stored) * 1000
        time.sleep(0.01)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=200)
    chosen = parser.parse_args()
    texts = xquad_sentences().texts
    result: dict[str, Any] = {}
    rows = []
    with service("freshness"):
        forget_pending()
        own, other = space_new("fresh"), space_new("import")
        memories_add(own, texts[600:])
        for situation, place in (("idle", None), ("import elsewhere", other), ("import here", own)):
            stop = multiprocessing.get_context("spawn").Event()
            worker = None
            if place is not None:
                context = multiprocessing.get_context("spawn")
                worker = context.Process(target=import_and_embed, args=(place.space_id, texts, stop))
                worker.start()
                time.sleep(5)
            for mode in ("keyword", "semantic"):
                lags = [lag(own, f"{texts[n % 600]} seen on day {time.time_ns()}", mode) for n in range(chosen.posts)]
                figures = {share: round(percentile(lags, share / 100), 1) for share in (50, 95, 99)}
                result[f"{mode}, {situation}"] = {f"p{share}_ms": value for share, value in figures.items()}
                rows.append([mode, situation, *figures.values()])
            if worker is not None:
                stop.set()
                worker.join()
        for access in (own, other):
            space_delete(access)
    table(["mode", "situation", "p50 ms", "p95 ms", "p99 ms"], rows)
    print("The time of the search itself is part of each figure.")
    finish("freshness", result)


if __name__ == "__main__":
    main()
