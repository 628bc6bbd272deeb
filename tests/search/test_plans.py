"""What a search reads: entries and vectors of its own space, by their indexes, however many others there are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, connections

from memories import semantic
from memories.index_models import SearchSpace
from tests.factories import People
from tests.search.support import search, store_together

pytestmark = pytest.mark.django_db
PASTED = " ".join(f"word{number}" for number in range(200))
TABLES = ("memories_searchable", "memories_memoryvector")


def plans_of(people: People, q: str, mode: str, *, tables: tuple[str, ...] = TABLES, **filters: Any) -> list[str]:
    """Search, and give PostgreSQL's plan of each statement that reads one of these tables of the search."""
    found = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.lstrip().startswith("SELECT") and any(f"FROM {table}" in sql for table in tables):
            execute(f"EXPLAIN {sql}", params, many, context)
            found.append("\n".join(row[0] for row in context["cursor"].fetchall()))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(explain):
        search(people.access(), q, mode, **filters)
    return found


@pytest.mark.parametrize("q", ["word1", PASTED], ids=["one word", "pasted text"])
@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
@pytest.mark.parametrize("tags", [None, ["kept"]], ids=["all", "with a tag"])
def test_no_statement_reads_a_table_from_end_to_end(people: People, q: str, mode: str, tags: list[str] | None) -> None:
    store_together(people.access(), (f"word{number} word{number + 1}" for number in range(30)), tags=["kept"])

    plans = plans_of(people, q, mode, tags=tags)

    assert plans
    assert not [plan for plan in plans if "Seq Scan on memories_" in plan]


def test_a_filter_is_asked_of_each_vector_that_the_index_gives(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    access = people.access()
    store_together(access, (f"word{number}" for number in range(30)), tags=["kept"])
    SearchSpace.objects.filter(pk=access.space_id).update(vector_index="memories_vector_hnsw_test")
    monkeypatch.setattr(semantic, "EXACT_UP_TO", 0)

    plans = plans_of(people, "word1", "semantic", tags=["kept"])

    [plan] = [plan for plan in plans if "SubPlan" in plan]
    assert "Join" not in plan
    assert "Nested Loop" not in plan


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
def test_what_waits_in_other_spaces_is_not_read(people: People) -> None:
    other = people.access("outsider")
    store_together(people.access(), ["word1"])
    with connections["owner"].cursor() as cursor:
        cursor.execute("DELETE FROM memories_embeddingpending")
        cursor.execute(
            "INSERT INTO memories_memory (space_id, id, content, type, source_tool, source_timestamp, tags, metadata,"
            " created_at, updated_at) SELECT %s, 'mem_' || lpad(number::text, 16, '0'), 'x', 'semantic', 't', now(),"
            " '{}', '{}', now(), now() FROM generate_series(1, 5000) AS number",
            [other.space_id],
        )
        cursor.execute(
            "INSERT INTO memories_embeddingpending (space_id, memory_id, model) "
            "SELECT space_id, id, 'bge-small-en-v1.5' FROM memories_memory WHERE space_id = %s",
            [other.space_id],
        )
        cursor.execute("ANALYZE memories_embeddingpending")

    [plan] = plans_of(people, "word1", "keyword", tables=("memories_embeddingpending",))

    assert "memories_pending_newest" in plan
    assert "Seq Scan on memories_" not in plan
