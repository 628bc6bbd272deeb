"""Row-level security: what it costs on get, list, count and keyword search, the same statements with and without it."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, machine, percentile, service, space_new, table

WORDS = [
    "tea",
    "coffee",
    "mountain",
    "river",
    "invoice",
    "python",
    "garden",
    "piano",
    "winter",
    "letter",
    "train",
    "kitchen",
]
STATEMENTS = {
    "get": ("SELECT * FROM memories_memory WHERE space_id = %(space)s AND id = %(id)s", 1),
    "list": (
        "SELECT * FROM memories_memory WHERE space_id = %(space)s AND status = 'active'"
        " AND (expires_at IS NULL OR expires_at > now()) ORDER BY created_at DESC, id DESC LIMIT 20",
        20,
    ),
    "count": (
        "SELECT count(*) FROM memories_memory WHERE space_id = %(space)s AND status = 'active'"
        " AND (expires_at IS NULL OR expires_at > now())",
        1,
    ),
    "search, contents of 10 hits": (
        "SELECT * FROM memories_memory WHERE space_id = %(space)s AND id = ANY(%(ids)s)",
        10,
    ),
}


def fill(access: Any, count: int) -> list[str]:
    """Put memories into the space; return their ids."""
    from accounts.access import space_transaction
    from api import clock
    from memories.models import Memory

    now = clock.now()
    rows = [
        Memory(
            space_id=access.space_id, content=f"{WORDS[n % 11]} and {WORDS[n % 7]}, number {n}", type="semantic",
            source_tool="bench", source_timestamp=now, created_at=now, updated_at=now,
        )
        for n in range(count)
    ]  # fmt: skip
    with space_transaction(access):
        Memory.objects.bulk_create(rows, batch_size=2_000)
    return [row.id for row in rows]


def main() -> None:
    """Run every statement as the application's role and as the owner, who is not bound, by turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--memories", type=int, default=10_000)
    options = parser.parse_args()
    with service("row_security"):
        import psycopg
        from django.conf import settings

        access = space_new("row security")
        ids = fill(access, options.memories)
        logins = {
            "bound": psycopg.connect(settings.DATABASE_URL, autocommit=True),
            "free": psycopg.connect(settings.DATABASE_OWNER_URL, autocommit=True),
        }
        logins["free"].execute("VACUUM ANALYZE memories_memory")
        for login in logins.values():
            login.execute("SELECT set_config('commonplace.space_id', %s, false)", [str(access.space_id)])
        result: dict[str, Any] = {}
        rows = []
        for name, (statement, expected) in STATEMENTS.items():
            times: dict[str, list[float]] = {"bound": [], "free": []}
            for turn in range(options.rounds):
                values = {"space": access.space_id, "id": ids[turn % len(ids)], "ids": ids[turn : turn + 10]}
                for which, login in logins.items():
                    started = time.perf_counter()
                    found = login.execute(statement, values).fetchall()
                    times[which].append((time.perf_counter() - started) * 1000)
                    assert len(found) == expected
            bound, free = percentile(times["bound"], 0.5), percentile(times["free"], 0.5)
            result[name] = {"bound_ms": round(bound, 3), "free_ms": round(free, 3), "ratio": round(bound / free, 2)}
            rows.append([name, f"{bound:.3f}", f"{free:.3f}", f"{bound / free:.2f}"])
        print(machine())
        table(["statement", "under the policy, ms", "without, ms", "ratio"], rows)
        finish("row_security", result)


if __name__ == "__main__":
    main()
