"""What a search reads: entries and vectors of its own space, by their indexes, however many others there are."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from memories import semantic
from memories.index_models import SearchSpace
from tests.factories import People
from tests.search.support import search, store_together

pytestmark = pytest.mark.django_db
PASTED = " ".join(f"word{number}" for number in range(200))


def plans_of(people: People, q: str, mode: str, **filters: Any) -> list[str]:
    """Search, and give PostgreSQL's plan of each statement that reads the tables of the search."""
    found = []

    def explain(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if "FROM memories_searchable" in sql or "FROM memories_memoryvector" in sql:
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

    [*_, plan] = plans_of(people, "word1", "semantic", tags=["kept"])

    assert "SubPlan" in plan
    assert "Join" not in plan
    assert "Nested Loop" not in plan
