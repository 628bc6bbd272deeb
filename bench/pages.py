"""Pages: what each list page costs, in queries and processor time of the web process and of PostgreSQL.

The space has 100,000 memories, events and conversations.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, percentile, service, space_new, table

PAGES = [
    "/home", "/memories", "/memories?tag=tag3", "/memories?view=timeline", "/memories/map", "/journal", "/records",
    "/kv", "/actions", "/dreams", "/connections", "/transfer", "/team",
    "/usage", "/events", "/settings", "/conversations", "/conversations?model=claude",
    "/conversations/conv_0000000000000007",
]  # fmt: skip
ALLOWED_MS = 100
# Searching has a benchmark of its own (bench/search_latency.py), so these rows have no search entries.
FILL = """
INSERT INTO memories_memory (space_id, id, content, type, source_tool, source_timestamp, tags, metadata, created_at,
                             updated_at, subject)
SELECT %(space)s, 'mem_' || lpad(n::text, 16, '0'), 'Note ' || n || ' about the report',
       (ARRAY['semantic', 'episodic', 'procedural'])[1 + n %% 3], (ARRAY['claude', 'cursor', 'chatgpt'])[1 + n %% 3],
       now() - n * interval '7 minutes', ARRAY['tag' || n %% 40, 'tag' || n %% 7], '{}',
       now() - n * interval '7 minutes',
       now() - n * interval '7 minutes', CASE WHEN n %% 5 = 0 THEN 'Subject ' || n %% 30 ELSE '' END
FROM generate_series(1, %(rows)s) n
"""
EVENTS = """
INSERT INTO events_event (space_id, type, actor_kind, actor_id, actor_name, object_kind, object_ids, channel,
                          request_id, details, at)
SELECT %(space)s, (ARRAY['memory.created', 'memory.searched', 'memory.recalled'])[1 + n %% 3], 'key', n %% 5, 'Key '
       || n %% 5, 'memory', ARRAY['mem_' || lpad(n::text, 16, '0')], 'rest', '', '{}', now() - n * interval '7 minutes'
FROM generate_series(1, %(rows)s) n
"""
CONVERSATIONS = """
INSERT INTO conversations_conversation (space_id, id, model, topic, messages, message_count, actor, created_at,
                                        updated_at)
SELECT %(space)s, 'conv_' || lpad(n::text, 16, '0'), (ARRAY['claude', 'chatgpt'])[1 + n %% 2], 'Talk ' || n,
       jsonb_build_array(jsonb_build_object('role', 'user', 'content', repeat('word ', 100)),
                         jsonb_build_object('role', 'assistant', 'content', repeat('answer ', 100))),
       2, 'key:1', now() - n * interval '7 minutes', now()
FROM generate_series(1, %(rows)s) n
"""


def processor_ms() -> float:
    """Return the processor time that this process has used, ms."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000


def backend_ms(pid: int) -> float:
    """Return the processor time that a PostgreSQL process has used, ms, in steps of the kernel's clock."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def noted(asked: list[str], execute: Any, sql: str, *rest: Any) -> Any:
    """Run a statement and note it."""
    asked.append(sql)
    return execute(sql, *rest)


def main() -> None:
    """Fill a space, open each page many times, and say what it took; fail when a page takes too much."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=20)
    chosen = parser.parse_args()
    result: dict[str, Any] = {"memories": chosen.memories, "pages": {}}
    rows = []
    with service("pages"):
        from django.db import connection, connections
        from django.test import Client

        from accounts.access import space_transaction
        from accounts.models import Membership

        access = space_new("pages")
        with space_transaction(access), connection.cursor() as cursor:
            cursor.execute(FILL, {"space": access.space_id, "rows": chosen.memories})
            for statement in (EVENTS, CONVERSATIONS):
                cursor.execute(statement, {"space": access.space_id, "rows": chosen.memories})
        with connections["owner"].cursor() as cursor:
            cursor.execute("ANALYZE")  # as autovacuum does within a minute of such growth
        owner = Membership.objects.select_related("user").get(space_id=access.space_id, role="owner").user
        client = Client()
        client.force_login(owner, backend="allauth.account.auth_backends.AuthenticationBackend")
        for path in PAGES:
            assert client.get(path).status_code == 200, path
            asked: list[str] = []
            with connection.execute_wrapper(partial(noted, asked)):
                client.get(path)
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                pid = cursor.fetchone()[0]
            taken, database = [], backend_ms(pid)
            for _ in range(chosen.rounds):
                before = processor_ms()
                client.get(path)
                taken.append(processor_ms() - before)
            database = (backend_ms(pid) - database) / chosen.rounds
            median, high = percentile(taken, 0.5), percentile(taken, 0.95)
            result["pages"][path] = {
                "queries": len(asked), "cpu_ms": round(median, 1), "cpu_ms_95": round(high, 1),
                "database_ms": round(database, 1),
            }  # fmt: skip
            rows.append([path, len(asked), f"{median:.1f}", f"{high:.1f}", f"{database:.1f}"])
    table(["page", "queries", "web ms, median", "95th", "PostgreSQL ms, mean"], rows)
    finish("pages", result)
    slow = [
        path for path, figures in result["pages"].items() if figures["cpu_ms"] + figures["database_ms"] > ALLOWED_MS
    ]
    if slow:
        sys.exit(f"More than {ALLOWED_MS} ms of processor time: {', '.join(slow)}")


if __name__ == "__main__":
    main()
