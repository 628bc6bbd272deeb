"""How many statements each call takes; the numbers are committed, so that a change of one is seen in review."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.switches import switched_on
from tests.factories import Api, People, memory_body

BASELINES = Path(__file__).resolve().parent.parent / "query_counts.json"


def calls(memory_id: str) -> dict[str, Callable[[Api], Any]]:
    path = f"/v1/memories/{memory_id}"
    return {
        "create": lambda api: api.post("/v1/memories", memory_body()),
        "create idempotent": lambda api: api.post("/v1/memories", memory_body(), headers={"Idempotency-Key": "k"}),
        "get": lambda api: api.get(path),
        "list": lambda api: api.get("/v1/memories"),
        "list of 100": lambda api: api.get("/v1/memories", limit=100, view="full"),
        "put": lambda api: api.put(path, {"content": "Changed"}),
        "put that changes nothing": lambda api: api.put(path, {}),
        "delete": lambda api: api.delete(path),
        "search": lambda api: api.post("/v1/memories/search", {"q": "dark", "mode": "keyword"}),
        "search of 100": lambda api: api.post("/v1/memories/search", {"q": "dark", "mode": "keyword", "limit": 100}),
        "batch of 20": lambda api: api.post("/v1/memories/batch", {"memories": [memory_body()] * 20}),
        "import of 20": lambda api: api.post("/v1/import", {"memories": [memory_body()] * 20}),
        "export": lambda api: b"".join(api.get("/v1/export").streaming_content),
        "me": lambda api: api.get("/v1/me"),
        "space": lambda api: api.get("/v1/space"),
        "events": lambda api: api.get("/v1/events"),
        "recall": lambda api: api.get("/v1/memories/recall"),
        "journal": lambda api: api.get("/v1/journal"),
        "collections": lambda api: api.get("/v1/records"),
        "records": lambda api: api.get("/v1/records/tasks"),
        "namespaces": lambda api: api.get("/v1/kv"),
        "values": lambda api: api.get("/v1/kv/state"),
        "actions": lambda api: api.get("/v1/actions"),
        "conversations": lambda api: api.get("/v1/conversations"),
    }  # fmt: skip


def counted(people: People, name: str, rows: int) -> int:
    """Return how many statements a call takes while the space holds so many memories."""
    api = people.api()
    api.post("/v1/memories/batch", {"memories": [memory_body()] * rows})
    made = api.created()
    api.get("/v1/me")  # the key's last use is written now, and not again within a minute
    switched_on("imports")  # and remembered for some seconds
    with CaptureQueriesContext(
        connection,
    ) as captured:
        calls(made["id"])[name](api)
    kept = [query["sql"] for query in captured if not query["sql"].startswith(("SAVEPOINT", "RELEASE", "ROLLBACK"))]
    return len(kept)


@pytest.mark.django_db
@pytest.mark.parametrize("name", calls(""))
def test_takes_the_statements_of_the_baseline(people: People, name: str) -> None:
    baselines: dict[str, int] = json.loads(BASELINES.read_text())

    assert counted(people, name, 30) == baselines.get(name), "look at the statements, then change the baseline"


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["list of 100", "search of 100", "export", "events"])
def test_takes_no_more_for_more_rows(people: People, name: str) -> None:
    assert counted(people, name, 90) == json.loads(BASELINES.read_text())[name]


def test_every_baseline_is_of_a_call() -> None:
    assert set(json.loads(BASELINES.read_text())) == set(calls(""))
