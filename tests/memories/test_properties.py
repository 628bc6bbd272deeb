"""Properties that hold for every sequence of requests."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pytest_django import Settings

from tests.factories import Api, People

QUIET = settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), min_size=1, max_size=30).filter(
    lambda text: text.strip() and text == text.strip()
)
NAMES = st.text("abcdefgé漢🐘 -_:", min_size=1, max_size=12).map(str.strip).filter(bool)
TAGS = st.lists(NAMES, max_size=4, unique=True)
TIMES = st.datetimes().map(lambda moment: moment.replace(year=2000 + moment.year % 60).isoformat() + "Z")
# Beyond this PostgreSQL writes a float without exponent: the same number, which Python reads as an integer.
NUMBERS = st.integers(-(2**70), 2**70) | st.floats(-1e15, 1e15)
METADATA = st.dictionaries(NAMES, st.none() | st.booleans() | NUMBERS | TEXT | st.lists(TEXT, max_size=2), max_size=4)
TYPES = st.sampled_from(["episodic", "semantic", "procedural"])
IDS = st.sampled_from([f"mem_{letter * 16}" for letter in "abcdef"])
SOURCES = st.fixed_dictionaries({"tool": NAMES, "timestamp": TIMES}, optional={"session_id": NAMES, "user_id": NAMES})
FIELDS = {
    "content": TEXT, "type": TYPES, "source": SOURCES, "tags": TAGS, "namespace": st.none() | NAMES,
    "metadata": METADATA, "expires_at": st.none() | st.just("2199-01-01T00:00:00Z"),
}  # fmt: skip
EXTENSIONS = {
    "tier": st.sampled_from(["core", "long", "scratch"]), "pinned": st.booleans(), "subject": NAMES,
    "version": st.integers(1, 9), "recall_count": st.integers(0, 9), "last_recalled_at": TIMES,
    "evidence_deleted": st.booleans(),
}  # fmt: skip
RECORDS = st.fixed_dictionaries(FIELDS | {"created_at": TIMES, "updated_at": TIMES}, optional={"id": IDS})


@pytest.fixture(autouse=True)
def uncounted(settings: Settings) -> None:
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False


def exported(api: Api, format: str = "json") -> Any:
    """Return an export without its date."""
    response = api.get("/v1/export", format=format, include_expired="true")
    text = b"".join(response.streaming_content).decode()
    if format == "json":
        document = json.loads(text)
        assert document.pop("exported_at")
        return document
    lines = [json.loads(line) for line in text.splitlines()]
    assert lines[0].pop("exported_at")
    return lines


@pytest.mark.parametrize("format", ["json", "ndjson"])
def test_export_import_export_is_the_identity(people: People, format: str) -> None:
    @QUIET
    @given(st.lists(st.fixed_dictionaries(FIELDS | {"created_at": TIMES}, optional=EXTENSIONS), max_size=6))
    def check(records: list[dict[str, Any]]) -> None:
        here, there = people.api("owner"), people.api("outsider")
        with transaction.atomic():
            assert here.post("/v1/import", {"memories": records}).json()["imported"] == len(records)
            first = exported(here, format)
            if format == "json":
                answer = there.post("/v1/import", first)
            else:
                body = "\n".join(json.dumps(line) for line in first).encode()
                answer = there.post("/v1/import", body, content_type="application/x-ndjson")
            assert answer.json() == {"imported": len(records), "skipped": 0, "errors": []}
            assert exported(there, format) == first
            assert there.post("/v1/import", exported(there)).json()["skipped"] == len(records)
            assert exported(there, format) == first
            transaction.set_rollback(True)

    check()


class Model:
    """What the service should hold: the memories by id, as plain values."""

    def __init__(self) -> None:
        self.memories: dict[str, dict[str, Any]] = {}

    def imported(self, records: list[dict[str, Any]], conflict: str, answer: dict[str, Any]) -> None:
        imported = skipped = 0
        for record in records:
            known = record.get("id") in self.memories
            if known and conflict == "skip":
                skipped += 1
                continue
            imported += 1
            if "id" in record and conflict != "duplicate":
                self.memories[record["id"]] = deepcopy(record)
        assert (answer["imported"], answer["skipped"], answer["errors"]) == (imported, skipped, [])


COMPARED = ("content", "type", "tags", "namespace", "metadata", "expires_at")
STEPS = st.one_of(
    st.tuples(st.just("create"), st.fixed_dictionaries(FIELDS)),
    st.tuples(st.just("update"), st.fixed_dictionaries({}, optional=FIELDS), st.integers(0, 50)),
    st.tuples(st.just("delete"), st.integers(0, 50)),
    st.tuples(
        st.just("import"), st.lists(RECORDS.filter(lambda record: "id" in record), max_size=4),
        st.sampled_from(["skip", "overwrite"]),
    ),
)  # fmt: skip


def test_random_sequences_agree_with_a_model_in_memory(people: People) -> None:
    api = people.api()

    @QUIET
    @given(st.lists(STEPS, max_size=12))
    def check(steps: list[tuple[Any, ...]]) -> None:
        model = Model()
        with transaction.atomic():
            for name, *given_values in steps:
                step(api, model, name, given_values)
            listed = api.get("/v1/memories", limit=100, include_expired="true").json()
            assert listed["total"] == len(model.memories)
            found = {memory["id"]: memory for memory in listed["memories"]}
            assert set(found) == set(model.memories)
            for memory_id, expected in model.memories.items():
                assert {name: found[memory_id][name] for name in COMPARED} == {
                    name: expected[name] for name in COMPARED
                }
                assert found[memory_id]["source"]["tool"] == expected["source"]["tool"]
            transaction.set_rollback(True)

    check()


def step(api: Api, model: Model, name: str, values: list[Any]) -> None:
    """Do one step in both worlds."""
    known = sorted(model.memories)
    if name == "create":
        response = api.post("/v1/memories", values[0])
        assert response.status_code == 201, response.content
        model.memories[response.json()["id"]] = deepcopy(values[0])
    elif name == "import":
        records, conflict = values
        answer = api.post("/v1/import", {"memories": records}, conflict=conflict)
        model.imported(records, conflict, answer.json())
    elif not known:
        assert api.delete("/v1/memories/mem_0000000000000000").status_code == 404
    elif name == "update":
        chosen = known[values[1] % len(known)]
        assert api.put(f"/v1/memories/{chosen}", values[0]).status_code == 200
        source = model.memories[chosen]["source"] | values[0].get("source", {})
        model.memories[chosen] |= deepcopy(values[0]) | {"source": source}
    else:
        chosen = known[values[0] % len(known)]
        assert api.delete(f"/v1/memories/{chosen}").status_code == 204
        del model.memories[chosen]
