"""Latency of search by size of the space: modes and filters, beside its floor; recall of the vector index; sizes."""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._corpus import MODEL, SHARES, Corpus, drop_word_index, make_word_index
from bench._support import (
    Timings,
    cranfield,
    database_process,
    finish,
    machine,
    noise_ms,
    processor_seconds,
    service,
    space_delete,
    space_kept,
    table,
    timed,
    xquad_sentences,
)
from bench._web import Connection, key_new, web

FRESH = itertools.count()
MODES = ("keyword", "semantic", "hybrid")
SENTENCES = xquad_sentences().texts
HOSTILE = {
    "one character": ["x"],
    "punctuation": ["?", "???!!!", "& | ! :* <-> ' \\ ( )", "a' | b:*"],
    "emoji": ["🎉🎉"],
    "NUL and surrogates": ["\x00", "\ud800"],
    "a stop word": ["the"],
    "one word again and again": ["word " * 400, "記憶" * 400],
    "Han": ["".join(map(chr, range(0x4E00, 0x4E00 + 2_000)))],
    "unknown words": [" ".join(f"{number * 7919:x}qz" for number in range(at, at + 300)) for at in range(10)],
    "identifiers": [" ".join(f"user_{number}.profile-{number * 31}@host" for number in range(80))],
    "pasted sentences": [" ".join(SENTENCES[at : at + 20]) for at in range(0, 400, 20)],
    "pasted abstracts": [text for text in cranfield().texts if len(text) > 900][:20],
}
"""Kinds of queries that could cost far more than an ordinary one, cut to 2,000 characters, asked in turn."""


class Space:
    """A filled space and the ways to ask it."""

    def __init__(self, corpus: Corpus, size: int) -> None:
        self.size = size
        self.access = space_kept(f"latency-{size}")
        self.questions = random.Random(7).sample(corpus.questions, 200)
        self.turn = 0

    def question(self) -> str:
        """Give a question that was never asked in these words, so that no cache of query vectors answers."""
        self.turn += 1
        return f"{self.questions[self.turn % len(self.questions)]} {next(FRESH)}"

    def search(self, mode: str = "hybrid", q: str | None = None, **filters: Any) -> Any:
        """Search and read what was found, as the endpoint does."""
        from accounts.access import space_transaction
        from memories.models import Memory
        from memories.search import SearchFilters, SearchQuery, search_memories

        query = SearchQuery(q or self.question(), mode=mode, filters=SearchFilters(**filters))  # type: ignore[arg-type]
        found = search_memories(self.access, query)
        with space_transaction(self.access):
            return found, list(
                Memory.objects.visible_to(self.access).filter(id__in=[hit.memory_id for hit in found.hits])
            )

    def floor(self) -> tuple[Callable[[], None], Any]:
        """Record every question's statements; give a function that embeds and sends those of one, and its session."""
        import psycopg
        from django.conf import settings
        from django.db import connection

        from aiworker.embedding.registry import provider_for

        searches: list[list[tuple[str, Any]]] = []

        def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
            if sql.lstrip().upper().startswith(("SELECT", "WITH")):
                searches[-1].append((sql, params))
            return execute(sql, params, many, context)

        with connection.execute_wrapper(record):
            for _ in self.questions:
                searches.append([])
                self.search()
        bare = psycopg.connect(settings.DATABASE_URL, autocommit=True)
        provider = provider_for(MODEL)
        space = str(self.access.space_id)

        def run() -> None:
            provider.embed_query(self.question())
            with bare.transaction(), bare.cursor() as cursor:
                cursor.execute("SELECT set_config('commonplace.space_id', %s, true)", [space])
                for sql, params in searches[self.turn % len(searches)]:
                    cursor.execute(sql.encode(), params)
                    cursor.fetchall()

        return run, bare


def throughput(space: Space, clients: int, seconds: float) -> float:
    """Give the searches a second of several clients at once."""
    from django.db import connection

    done = [0] * clients
    until = time.perf_counter() + seconds

    def client(number: int) -> None:
        while time.perf_counter() < until:
            space.search()
            done[number] += 1
        connection.close()

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


def recall(space: Space, corpus: Corpus, **filters: Any) -> float | None:
    """Give the share of the exact ten nearest that the index finds; None without an index."""
    from accounts.access import space_transaction
    from aiworker.embedding.registry import provider_for
    from memories import semantic
    from memories.conditions import SearchFilters, condition_for
    from memories.index_models import SearchSpace

    if not SearchSpace.objects.get(pk=space.access.space_id).vector_index:
        return None
    condition = condition_for(space.access, SearchFilters(**filters))
    found = 0
    asked = random.Random(3).sample(corpus.questions, 50)
    for question in asked:
        vector = provider_for(MODEL).embed_query(question)
        with space_transaction(space.access):
            place = semantic.VectorSpace(space.access.space_id, MODEL, has_index=True)
            quick = semantic.nearest(place, vector, condition, 10)
            exact = semantic.nearest(replace(place, has_index=False), vector, condition, 10)
        # As near as the tenth counts: notes of the same sentence are equally near.
        bound = min(exact.values()) - 1e-6
        found += min(sum(similarity >= bound for similarity in quick.values()), len(exact))
    return found / (10 * len(asked))


def sizes() -> dict[str, int]:
    """Give the bytes of the search's tables and indexes."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class WHERE relname IN "
            "('memories_memory', 'memories_searchentry', 'memories_memoryvector')"
            " UNION ALL SELECT relname, pg_relation_size(oid) FROM pg_class "
            "WHERE relname = 'memories_searchentry_lexemes' OR relname LIKE 'memories_vector_hnsw_%'"
        )
        return dict(cursor.fetchall())


def cost_of(space: Space, mode: str, texts: list[str]) -> float:
    """Give the mean processor ms of one kind of query, each asked as for the first time: no frequency is remembered."""
    from memories import statistics

    turn = itertools.cycle(texts)

    def ask() -> None:
        statistics._frequencies = statistics.Remembered()
        space.search(mode, next(turn)[:2_000])

    return timed(ask, max(len(texts), 20)).processor


def over_http(space: Space, rounds: int) -> dict[str, Timings]:
    """Search over a running server's REST, one client; its processor time and PostgreSQL's."""
    key, database, found = key_new(space.access), database_process(), {}
    with web() as (port, process):
        connection = Connection(port, key)

        def ask(mode: str) -> None:
            body = json.dumps({"q": space.question(), "mode": mode}).encode()
            status, answer = connection.call("POST", "/v1/memories/search", body)
            assert status == 200, answer
            assert json.loads(answer)["mode_used"] == mode, answer

        for mode in MODES:
            for _ in range(30):
                ask(mode)
            before = processor_seconds(process) + processor_seconds(database)
            values = timed(partial(ask, mode), rounds).values
            spent = processor_seconds(process) + processor_seconds(database) - before
            found[f"{mode} over HTTP"] = Timings(values, spent * 1000 / rounds)
    return found


def measured(space: Space, corpus: Corpus, rounds: int) -> tuple[dict[str, Timings], dict[str, Any]]:
    """Search a space in every way; give the timings of each, and what follows from them."""
    for _ in range(20):
        space.search()
    taken = {mode: timed(partial(space.search, mode), rounds) for mode in MODES}
    for tag in SHARES:
        taken[f"hybrid, tag {tag}"] = timed(partial(space.search, tags=[tag]), max(rounds // 4, 10))
    run, session = space.floor()
    taken["floor of hybrid"] = timed(run, rounds, session)
    hybrid, floor = taken["hybrid"], taken["floor of hybrid"]
    hostile = {
        mode: {kind: cost_of(space, mode, texts) / taken[mode].processor for kind, texts in HOSTILE.items()}
        for mode in MODES
    }
    taken |= over_http(space, rounds)
    found = {
        "p50_ms": {name: round(timings.at(0.5), 2) for name, timings in taken.items()},
        "p99_ms": {name: round(timings.at(0.99), 2) for name, timings in taken.items()},
        "fastest_ms": {name: round(min(timings.values), 2) for name, timings in taken.items()},
        "processor_ms": {name: round(timings.processor, 2) for name, timings in taken.items()},
        "ratio_to_floor": round(hybrid.at(0.5) / floor.at(0.5), 2),
        "processor_ratio_to_floor": round(hybrid.processor / floor.processor, 2),
        "hostile_ratio": {mode: {kind: round(ratio, 2) for kind, ratio in hostile[mode].items()} for mode in MODES},
        "searches_a_second_4_clients": round(throughput(space, 4, 5), 1),
        "recall@10": {"none": recall(space, corpus)} | {tag: recall(space, corpus, tags=[tag]) for tag in SHARES},
    }
    return taken, found


def main() -> None:
    """Fill, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="up to 1000000; that takes most of an hour")
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--keep", action="store_true", help="leave the filled spaces and their indexes for another run")
    chosen = parser.parse_args()
    result: dict[str, Any] = {"noise_ms": round(noise_ms(), 2), "spaces": {}}
    with service("search_latency"):
        from memories.vector_indexes import maintain_vector_indexes

        corpus = Corpus()
        spaces = [Space(corpus, int(size)) for size in chosen.sizes.split(",")]
        started = time.perf_counter()
        missing = [space for space in spaces if corpus.missing(space.access, space.size)]
        if missing:
            drop_word_index()
            for space in missing:
                corpus.fill(space.access, space.size, seed=space.size)
            make_word_index()
        print(f"# filled in {time.perf_counter() - started:.0f} s")
        started = time.perf_counter()
        maintain_vector_indexes()
        result["vector_index_seconds"] = round(time.perf_counter() - started, 1)
        print(f"# vector indexes in {result['vector_index_seconds']} s")
        rows: list[list[Any]] = []
        for space in spaces:
            print(f"# {space.size}: {machine()}", flush=True)
            taken, found = measured(space, corpus, chosen.rounds)
            result["spaces"][space.size] = found
            for name, timings in taken.items():
                figures = (timings.processor, min(timings.values), *map(timings.at, (0.5, 0.95, 0.99)))
                rows.append([space.size, name, *(f"{figure:.1f}" for figure in figures)])
        table(["memories", "search", "cpu ms", "fastest ms", "p50", "p95", "p99"], rows)
        for size, found in result["spaces"].items():
            print(
                f"{size}: {found['ratio_to_floor']} of the floor, {found['processor_ratio_to_floor']} in cpu time; "
                f"4 clients {found['searches_a_second_4_clients']}/s; recall@10 {found['recall@10']}"
            )
        print("\n# cpu time of hostile queries, as multiples of an ordinary one's")
        table(
            ["query", *(f"{mode}, {size}" for size in result["spaces"] for mode in MODES)],
            [
                [kind, *(found["hostile_ratio"][mode][kind] for found in result["spaces"].values() for mode in MODES)]
                for kind in HOSTILE
            ],
        )
        result["bytes"] = sizes()
        result["noise_ms_after"] = round(noise_ms(), 2)
        if not chosen.keep:
            for space in spaces:
                space_delete(space.access)
            maintain_vector_indexes()
    finish("search_latency", result)


if __name__ == "__main__":
    main()
