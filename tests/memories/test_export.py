"""GET /v1/export (OMP 0.1, section 3.3)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from tests.factories import Api, People

pytestmark = pytest.mark.django_db(transaction=True)


def exported(api: Api, **query: Any) -> dict[str, Any]:
    response = api.get("/v1/export", **query)
    assert response.status_code == 200
    document: dict[str, Any] = json.loads(b"".join(response.streaming_content))
    return document


def test_names_itself_and_holds_every_memory_oldest_first(people: People) -> None:
    made = [people.api().created(content=f"Fact {number}") for number in range(3)]

    document = exported(people.api())

    assert document.pop("exported_at").endswith("Z")
    assert document == {
        "omp_version": "0.1", "server": "commonplace/0.1.0", "memories": made, "extension": {},
    }  # fmt: skip


def test_is_empty_for_an_empty_space(people: People) -> None:
    assert exported(people.api())["memories"] == []


def test_keeps_the_extension_fields_by_id(people: People) -> None:
    made = people.api().created(tier="core", subject="user", pinned=True)

    assert exported(people.api())["extension"] == {made["id"]: {"tier": "core", "subject": "user", "pinned": True}}


def test_filters_like_the_list(people: People) -> None:
    people.api().created(tags=["a"])
    both = people.api().created(tags=["a", "b"], type="episodic")

    assert [item["id"] for item in exported(people.api(), tags="a,b", type="episodic")["memories"]] == [both["id"]]


def test_shows_expired_memories_only_when_asked(people: People) -> None:
    old = people.api().created(expires_at=(timezone.now() - timedelta(days=1)).isoformat())

    assert exported(people.api())["memories"] == []
    assert [item["id"] for item in exported(people.api(), include_expired="true")["memories"]] == [old["id"]]


def test_as_ndjson_is_one_memory_a_line(people: People) -> None:
    made = people.api().created(content="Line\nbreak", tier="scratch")

    response = people.api().get("/v1/export", format="ndjson")

    head, line, end = b"".join(response.streaming_content).decode().split("\n")
    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert json.loads(head)["omp_version"] == "0.1"
    assert json.loads(line) == made | {"tier": "scratch"}
    assert end == ""


def test_holds_nothing_beyond_the_limits_of_the_key(people: People) -> None:
    for tool in ("claude", "cursor", "other"):
        people.api().created(source={"tool": tool})

    tools = [item["source"]["tool"] for item in exported(people.api("tool"))["memories"]]

    assert tools == ["claude", "cursor"]
    assert exported(people.api("nothing"))["memories"] == []
    assert exported(people.api("outsider"))["memories"] == []


@pytest.mark.parametrize(
    "query", [{"format": "xml"}, {"type": "unknown"}, {"nonsense": "1"}, {"tags": "a,,b"}, {"created_after": "2026"}]
)
def test_refuses_what_it_does_not_know(people: People, query: dict[str, str]) -> None:
    response = people.api().get("/v1/export", **query)

    assert response.status_code == 422
    assert list(response.json()["details"]["fields"]) == list(query)


def test_needs_the_scope(people: People) -> None:
    assert people.api("write").get("/v1/export").status_code == 403


def test_the_log_tells_who_exported(people: People) -> None:
    exported(people.api("read"), type="semantic")

    event = people.api().get("/v1/events", type="memory.exported").json()["events"][0]

    assert event["actor"]["name"] == "read"
    assert event["details"] == {"format": "json", "filters": ["type"]}


def test_writers_during_an_export_do_not_tear_it(people: People) -> None:
    kept = [people.api().created(content="x" * 9_000)["id"] for _ in range(20)]
    stream = people.api().get("/v1/export").streaming_content
    begun = next(iter(stream))

    def write() -> int:
        """Write beside the export, on a connection of its own."""
        status: int = people.api().delete(f"/v1/memories/{kept[-1]}").status_code
        people.api().created()
        connection.close()
        return status

    with ThreadPoolExecutor(1) as beside:
        assert beside.submit(write).result() == 204
    document = json.loads(begun + b"".join(stream))
    assert [item["id"] for item in document["memories"]] == kept
