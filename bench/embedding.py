"""Embedding: time of a query and of a text, throughput, and how fast an import becomes fully searchable."""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import (
    embed_all,
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

MODELS = ("bge-small-en-v1.5", "multilingual-e5-small")


def one_by_one(embed: Any, texts: list[str]) -> tuple[float, float, float]:
    """Give the median milliseconds of a text, its processor milliseconds, and texts a second."""
    taken = []
    processor = time.process_time()
    started = time.perf_counter()
    for text in texts:
        at = time.perf_counter()
        embed(text)
        taken.append((time.perf_counter() - at) * 1000)
    seconds = time.perf_counter() - started
    return percentile(taken, 0.5), (time.process_time() - processor) * 1000 / len(texts), len(texts) / seconds


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--imported", type=int, default=2_000, help="how many memories the import has")
    chosen = parser.parse_args()
    collection = xquad_sentences()
    result: dict[str, Any] = {}
    rows = []
    with service("embedding"):
        from aiworker.embedding.registry import provider_for

        for name in MODELS:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            started = time.perf_counter()
            provider = provider_for(name)
            load = time.perf_counter() - started
            provider.embed_query("warm")
            query = one_by_one(provider.embed_query, collection.questions[:300])
            text = one_by_one(lambda one, provider=provider: provider.embed_documents([one]), collection.texts[:300])
            memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            result[name] = {
                "load_s": round(load, 2), "memory_mib": round(memory), "query_ms": round(query[0], 2),
                "query_cpu_ms": round(query[1], 2), "text_ms": round(text[0], 2), "text_cpu_ms": round(text[1], 2),
                "texts_a_second": round(text[2], 1),
            }  # fmt: skip
            rows.append([name, *result[name].values()])
        forget_pending()
        access = space_new("import")
        texts = [f"{collection.texts[n % len(collection.texts)]} ({n})" for n in range(chosen.imported)]
        started = time.perf_counter()
        memories_add(access, texts)
        stored = time.perf_counter() - started
        embedded = embed_all()
        result["import"] = {
            "memories": len(texts),
            "stored_and_found_by_words_a_second": round(len(texts) / stored),
            "embedded_a_second": round(len(texts) / embedded),
            "fully_searchable_a_second": round(len(texts) / (stored + embedded)),
            "seconds_for_100000": round(100_000 * (stored + embedded) / len(texts)),
            "bound_by": "the model" if embedded > stored else "the database",
        }
        space_delete(access)
    table(["model", "load s", "MiB", "query ms", "cpu", "text ms", "cpu", "texts/s"], rows)
    print(f"import, one process of {os.cpu_count()} cores: {result['import']}")
    finish("embedding", result)


if __name__ == "__main__":
    main()
