"""Context: queries, size and processor time of get_context at 5,000 facts, 2,000 records and 365 journal days."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, percentile, service, space_new, table

BATCH = 1_000


def fill(access: Any, facts: int, records: int, days: int) -> None:
    """Put facts (fifty of them core), records, journal entries, key-value state and pending actions into a space."""
    from accounts.models import Space
    from actions.schemas import ActionPropose
    from actions.services import action_propose
    from api import clock
    from api.schemas import parse
    from memories.models import Memory
    from notebook.kv import kv_set
    from notebook.models import JournalEntry, Record
    from notebook.schemas import KvSet

    now = clock.now()
    Space.objects.filter(pk=access.space_id).update(context_namespaces=["state"])
    memories = [
        Memory(
            space_id=access.space_id, content=f"Fact {n}: " + "what was said about it " * 6, type="semantic",
            source_tool="bench", tier="core" if n < 50 else "long", source_timestamp=now,
            created_at=now - timedelta(hours=n % 2_000), updated_at=now - timedelta(hours=n % 2_000),
        )
        for n in range(facts)
    ]  # fmt: skip
    for start in range(0, facts, BATCH):
        Memory.objects.bulk_create(memories[start : start + BATCH])
    rows = [
        Record(
            space_id=access.space_id, collection=f"c{n % 7}", status="done" if n % 4 == 0 else "open",
            due_at=now + timedelta(hours=n - 200) if n % 3 else None, data={"title": f"Task {n}", "note": "x" * 200},
            created_at=now, updated_at=now,
        )
        for n in range(records)
    ]  # fmt: skip
    for start in range(0, records, BATCH):
        Record.objects.bulk_create(rows[start : start + BATCH])
    JournalEntry.objects.bulk_create(
        JournalEntry(
            space_id=access.space_id, kind="day", date=(now - timedelta(days=n)).date(), summary=f"Day {n}. " * 40,
            decisions=["Decided"] * 3, created_at=now, updated_at=now,
        )
        for n in range(days)
    )  # fmt: skip
    for n in range(100):
        kv_set(access=access, data=KvSet(ns="state", key=f"k{n}", value={"n": n, "text": "x" * 60}))
    for n in range(40):
        body = {"class": "mail", "summary": f"Mail {n}", "payload": {"n": n}, "idempotency_key": f"k{n}"}
        action_propose(access=access, data=parse(ActionPropose, body))


def main() -> None:
    """Fill a space, ask for its context again and again, and print what that costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=5_000)
    parser.add_argument("--records", type=int, default=2_000)
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--rounds", type=int, default=200)
    chosen = parser.parse_args()
    with service("context"):
        from django.db import connection
        from django.test.utils import CaptureQueriesContext

        from accounts.access import space_transaction
        from accounts.models import Space
        from accounts.team import space_erase
        from context.services import context_get, size

        access = space_new("context")
        try:
            with space_transaction(access):
                fill(access, chosen.facts, chosen.records, chosen.days)
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
            with space_transaction(access), CaptureQueriesContext(connection) as queries:
                context = context_get(access=access)
            wall, own = [], []
            for _ in range(chosen.rounds):
                started, busy = time.perf_counter(), time.process_time()
                with space_transaction(access):
                    context_get(access=access)
                own.append((time.process_time() - busy) * 1000)
                wall.append((time.perf_counter() - started) * 1000)
        finally:
            with space_transaction(access):
                space_erase(Space.objects.get(pk=access.space_id))
        result = {
            "queries": len(queries), "characters": size(context), "truncated": context["truncated"],
            "median_ms": percentile(wall, 0.5), "p95_ms": percentile(wall, 0.95), "processor_ms": sum(own) / len(own),
        }  # fmt: skip
        table(["what", "value"], [[name, str(value)] for name, value in result.items()])
        finish("context", result)


if __name__ == "__main__":
    main()
