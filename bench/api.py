"""The API on a running server: processor time, p50 and throughput of each call, beside its SQL through bare psycopg.

Processor time is given for the web server alone and with PostgreSQL's, and each beside the same of the floor.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import database_process, finish, percentile, processor_seconds, service, space_new, table
from bench._web import Connection, key_new, web

WORDS = (
    "paint", "kettle", "train", "window", "coffee", "garden", "river", "python", "deploy", "review", "budget", "winter",
    "letter", "bridge", "music",
)  # fmt: skip
BODY = {"type": "semantic", "source": {"tool": "bench"}, "tags": ["bench"], "metadata": {"n": 1}}


def sentence(chance: random.Random) -> str:
    """Make up a short memory text."""
    return "The user " + " ".join(chance.choice(WORDS) for _ in range(8)) + f" {chance.randrange(500)}"


def fill(access: Any, count: int) -> list[str]:
    """Put so many memories with their search entries into a space by COPY, as the owner of the tables."""
    from django.db import connections

    from memories.lexemes import sample_lexemes, text_lexemes, vector_literal

    chance, space_id, now = random.Random(7), access.space_id, "2026-01-01T00:00:00Z"
    texts = [sentence(chance) for _ in range(2_000)]
    entries = [text_lexemes(text, ["bench"], "english") for text in texts]
    ids = [f"mem_{space_id % 36**4:06d}{number:010d}" for number in range(count)]
    connections["owner"].ensure_connection()
    with connections["owner"].connection.cursor() as cursor:
        columns = "space_id, id, content, type, source_tool, source_timestamp, tags, metadata, created_at, updated_at"
        with cursor.copy(f"COPY memories_memory ({columns}) FROM STDIN") as copy:
            for number, memory_id in enumerate(ids):
                text = texts[number % len(texts)]
                copy.write_row((space_id, memory_id, text, "semantic", "bench", now, ["bench"], "{}", now, now))
        columns = "space_id, memory_id, lexemes, length, digest, pinned, created_at, updated_at"
        with cursor.copy(f"COPY memories_searchentry ({columns}) FROM STDIN") as copy:
            for number, memory_id in enumerate(ids):
                positions, length = entries[number % len(texts)]
                marks = ["=type:semantic", "=tool:bench", "=tag:bench", "=tier:long", *sample_lexemes(memory_id)]
                vector = vector_literal(space_id, positions | {mark: [] for mark in marks})
                copy.write_row((space_id, memory_id, vector, length, b"", False, now, now))
        for table in ("memories_memory", "memories_searchentry"):  # as autovacuum does soon after
            cursor.execute(f"VACUUM ANALYZE {table}")
    return ids


Call = Callable[[Connection], tuple[int, bytes]]
HttpCall = tuple[str, str, Any]


def calls(ids: list[str]) -> dict[str, Call]:
    """Give each operation as a function of a connection."""
    chance = random.Random(1)
    lock, made = threading.Lock(), []

    def create(connection: Connection) -> tuple[int, bytes]:
        body = json.dumps(BODY | {"content": sentence(chance)}).encode()
        status, answer = connection.call("POST", "/v1/memories", body)
        with lock:
            made.append(json.loads(answer)["id"])
        return status, answer

    def delete(connection: Connection) -> tuple[int, bytes]:
        with lock:
            memory_id = made.pop() if made else None
        if memory_id is None:
            create(connection)
            return delete(connection)
        return connection.call("DELETE", f"/v1/memories/{memory_id}")

    def search(connection: Connection) -> tuple[int, bytes]:
        body = json.dumps({"q": " ".join(chance.sample(WORDS, 2)), "mode": "keyword"}).encode()
        return connection.call("POST", "/v1/memories/search", body)

    def put(connection: Connection) -> tuple[int, bytes]:
        body = json.dumps({"content": sentence(chance)}).encode()
        return connection.call("PUT", f"/v1/memories/{chance.choice(ids)}", body)

    return {
        "get": lambda connection: connection.call("GET", f"/v1/memories/{chance.choice(ids)}"),
        "list": lambda connection: connection.call("GET", "/v1/memories"),
        "create": create,
        "put": put,
        "search": search,
        "delete": delete,
    }


def load(port: int, key: str, call: Call, connections: int, seconds: float) -> tuple[int, float, float]:
    """Call as fast as so many connections can; give the number of calls, the p50 in ms and the seconds taken."""
    taken: list[float] = []
    until = time.perf_counter() + seconds

    def run() -> None:
        connection = Connection(port, key)
        mine = []
        while (started := time.perf_counter()) < until:
            status, answer = call(connection)
            assert status < 300, answer
            mine.append(time.perf_counter() - started)
        taken.extend(mine)
        connection.socket.close()

    threads = [threading.Thread(target=run) for _ in range(connections)]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(taken), percentile(taken, 0.5) * 1000, time.perf_counter() - started


def statements(key: str, warm: HttpCall, call: HttpCall) -> tuple[list[tuple[str, Any]], Any]:
    """Give the SQL that one request runs, captured in this process after another like it, and its answer."""
    from django.db import connection
    from django.test import Client

    found: list[tuple[str, Any]] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        found.append((sql, params))
        return execute(sql, params, many, context)

    client = Client(headers={"Authorization": f"Bearer {key}", "Host": "localhost"})

    def send(method: str, path: str, body: Any) -> Any:
        data = json.dumps(body) if body is not None else ""
        response = client.generic(method, path, data, content_type="application/json")
        assert response.status_code < 300, response.content
        return response.json() if response.content else None

    send(*warm)
    with connection.execute_wrapper(note):
        answer = send(*call)
    return [(sql, params) for sql, params in found if "SAVEPOINT" not in sql], answer


def replaced(value: Any, old: str, new: str) -> Any:
    """Give parameters with one id in place of another."""
    if not old:
        return value
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, list | tuple):
        return type(value)(replaced(item, old, new) for item in value)
    return value


@dataclass(frozen=True)
class Floor:
    """What the SQL of a call takes through bare psycopg: processor ms of the client, of PostgreSQL, p50 in ms."""

    client: float
    database: float
    p50: float
    statements: int


def floor(key: str, ids: list[str], rounds: int = 1_500) -> dict[str, Floor]:
    """Give the floor of each operation."""
    import psycopg
    from django.db import connections

    info = connections["default"].get_connection_params()
    wanted = ("host", "dbname", "user", "port", "password", "options")
    info = {name: value for name, value in info.items() if name in wanted}
    paths = [f"/v1/memories/{memory_id}" for memory_id in ids[:6]]
    question = {"q": "paint kettle", "mode": "keyword"}
    created = BODY | {"content": "The user paints a kettle"}
    operations: dict[str, tuple[HttpCall, HttpCall]] = {
        "get": (("GET", paths[0], None), ("GET", paths[0], None)),
        "list": (("GET", "/v1/memories", None), ("GET", "/v1/memories", None)),
        "create": (("POST", "/v1/memories", created), ("POST", "/v1/memories", created)),
        "put": (("PUT", paths[1], {"content": "The user paints"}), ("PUT", paths[2], {"content": "The user paints"})),
        "search": (("POST", "/v1/memories/search", question), ("POST", "/v1/memories/search", question)),
        "delete": (("DELETE", paths[3], None), ("DELETE", paths[4], None)),
    }
    found, database = {}, database_process()
    with psycopg.connect(**info, autocommit=True) as connection:
        for name, (warm, call) in operations.items():
            queries, answer = statements(key, warm, call)
            # A create makes another memory each time; what changes one is undone, so that it can change again.
            old = {"create": (answer or {}).get("id", ""), "put": ids[2], "delete": ids[4]}.get(name, "")
            taken: list[float] = []
            before = 0.0, 0.0
            for number in range(rounds + 20):
                if number == 20:
                    before, taken = (time.process_time(), processor_seconds(database)), []
                new = f"mem_{number:016d}" if name == "create" else ids[5]
                started = time.perf_counter()
                with connection.transaction(force_rollback=name in {"put", "delete"}), connection.cursor() as cursor:
                    for sql, params in queries:
                        cursor.execute(sql, replaced(params, old, new))
                        if cursor.description:
                            cursor.fetchall()
                taken.append(time.perf_counter() - started)
            found[name] = Floor(
                (time.process_time() - before[0]) * 1000 / rounds,
                (processor_seconds(database) - before[1]) * 1000 / rounds,
                percentile(taken, 0.5) * 1000,
                len(queries),
            )
            connection.execute("SELECT 1")
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,100000")
    parser.add_argument("--connections", default="1,8,32")
    parser.add_argument("--seconds", type=float, default=3.0)
    options = parser.parse_args()
    rows: list[list[Any]] = []
    with service("api"), web() as (port, process):
        for size in map(int, options.sizes.split(",")):
            access = space_new(f"api-{size}")
            ids, key = fill(access, size), key_new(access)
            floors, database = floor(key, ids), database_process()
            for name, call in calls(ids[6:]).items():  # the first few are the floor's
                load(port, key, call, 8, min(1.0, options.seconds))  # every thread of the server has its connection
                for connections in map(int, options.connections.split(",")):
                    before = processor_seconds(process), processor_seconds(database)
                    count, p50, seconds = load(port, key, call, connections, options.seconds)
                    web_ms = (processor_seconds(process) - before[0]) * 1000 / count
                    database_ms = (processor_seconds(database) - before[1]) * 1000 / count
                    row = [name, size, connections, round(p50, 2), round(count / seconds), web_ms, database_ms]
                    bare = floors[name]
                    row += [bare.p50, bare.client, bare.database, bare.statements, web_ms / bare.client]
                    row += [(web_ms + database_ms) / (bare.client + bare.database)]
                    rows.append([round(value, 2) if isinstance(value, float) else value for value in row])
    header = [
        "call", "memories", "connections", "p50 ms", "calls/s", "web ms", "database ms", "floor p50 ms",
        "floor client ms", "floor database ms", "statements", "web / client", "with database",
    ]  # fmt: skip
    table(header, rows)
    finish("api", {"rows": [dict(zip(header, row, strict=True)) for row in rows]})


if __name__ == "__main__":
    main()
