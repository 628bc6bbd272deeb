"""Recorded transcripts with recorded provider answers, through the whole pipeline: what is stored is what must be."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from accounts.access import space_transaction
from aiworker.fake.answers import by_recording
from aiworker.fake.server import FakeProvider
from bench.extraction import Score, score_of
from memories.services import memories_delete
from tests.factories import People, memory_make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]

FOLDER = Path(__file__).resolve().parent.parent.parent / "bench" / "transcripts"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))


def recording(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_stores_what_it_must_and_nothing_else(people: People, provider: FakeProvider, name: str) -> None:
    given = recording(name)
    provider.answer = by_recording(FOLDER)
    for content in given["known"]:
        memory_make(people.access(), content=content)
    for content in given["deleted"]:
        memory = memory_make(people.access(), content=content)
        with space_transaction(people.access()):
            memories_delete(access=people.access(), memories=[memory])

    sent = {"transcript": given["transcript"], "timestamp": given["date"]}
    answer = people.api().post("/v1/extract", sent, view="full").json()

    contents = [memory["content"] for memory in answer["memories"]]
    assert contents == given["stored"]
    assert answer.get("skipped", {}) == given["skipped"]
    assert score_of(given, contents) == Score(len(given["facts"]), len(given["facts"]), len(contents), 0)
    for memory in answer["memories"]:
        start, end = map(int, memory["source_ref"].rpartition("#")[2].split("-"))
        assert given["transcript"][start:end].strip(), "each memory names the span it came from"
        assert memory["source"]["timestamp"] == given["date"]


def test_there_are_enough_of_them() -> None:
    assert len(NAMES) >= 8
    assert {reason for name in NAMES for reason in recording(name)["skipped"]} >= {
        "duplicate", "deleted_before", "instruction", "secret", "ungrounded",
    }  # fmt: skip


def test_the_score_counts_misses_and_inventions() -> None:
    given = {"facts": [["tea", "green"], ["2026-05-05"]], "absent": [["evilbank"]]}

    assert score_of(given, ["The user likes green tea", "The user has an account at Evilbank"]) == Score(1, 2, 2, 1)
    assert score_of(given, []) == Score(0, 2, 0, 0)
