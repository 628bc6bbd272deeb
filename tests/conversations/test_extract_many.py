"""POST /v1/conversations/extract: an estimate first, then one job over many conversations."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from aiworker import jobruns
from aiworker.fake.server import FakeProvider
from aiworker.jobs import job_wait
from tests.aiworker.conftest import found, provider, worker
from tests.factories import People

__all__ = ["provider", "worker"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]


def saved(people: People, text: str) -> str:
    sent = {"model": "chatgpt", "messages": [{"role": "user", "content": text}]}
    conversation_id: str = people.api().post("/v1/conversations", sent).json()["id"]
    return conversation_id


def echo(name: str, data: dict[str, Any]) -> Any:
    return {"memories": [found(data["segments"][0]["text"].removeprefix("User: "))]}


def test_tells_the_cost_before_it_starts(people: People, provider: FakeProvider) -> None:
    for n in range(3):
        saved(people, f"I have {n} cats")

    estimate = people.api().post("/v1/conversations/extract", {}).json()["estimate"]

    assert (estimate["conversations"], estimate["model"]) == (3, "claude-haiku-4-5")
    assert estimate["input_tokens"] > 0
    assert estimate["cost_usd"] > 0
    assert provider.requests == []


def test_extracts_each_conversation_once(people: People, provider: FakeProvider) -> None:
    provider.answer = echo
    ids = [saved(people, f"I have {n} cats") for n in range(3)]

    accepted = people.api().post("/v1/conversations/extract", {"dry_run": False})
    job = job_wait(people.access(), accepted.json()["id"], 20)

    assert accepted.status_code == 202
    assert (job.status, job.done, job.total) == ("succeeded", 3, 3)
    assert job.result is not None
    assert (job.result["conversations"], job.result["extracted"]) == (3, 3)
    memories = people.api().get("/v1/memories", view="full").json()["memories"]
    assert {memory["source_ref"].partition("#")[0] for memory in memories} == set(ids)
    assert {memory["source"]["tool"] for memory in memories} == {"chatgpt"}
    assert people.api().post("/v1/conversations/extract", {}).json()["estimate"]["conversations"] == 0


def test_a_failing_provider_keeps_what_was_done_and_says_why(people: People, provider: FakeProvider) -> None:
    provider.answer = echo
    provider.script.extend(["ok", "401"])
    for n in range(3):
        saved(people, f"I have {n} cats")

    accepted = people.api().post("/v1/conversations/extract", {"dry_run": False})
    job = job_wait(people.access(), accepted.json()["id"], 20)

    assert job.status == "failed"
    assert job.error is not None
    assert job.error["details"]["reason"] == "unauthorized"
    assert people.api().get("/v1/memories").json()["total"] == 1
    assert people.api().post("/v1/conversations/extract", {}).json()["estimate"]["conversations"] == 2


def test_a_conversation_that_is_not_visible_is_404(people: People, provider: FakeProvider) -> None:
    mine = saved(people, "I have cats")
    sent = {"conversation_ids": [mine], "dry_run": False}

    assert people.api("outsider").post("/v1/conversations/extract", sent).status_code == 404
    assert people.api("read").post("/v1/conversations/extract", sent).status_code == 403


def test_a_text_that_is_refused_stops_none_of_the_others(
    people: People, provider: FakeProvider, settings: Settings
) -> None:
    settings.AI_RETRIES = 0
    provider.answer = echo
    provider.script.extend(["ok", "refusal", "ok"])
    for n in range(3):
        saved(people, f"I have {n} cats")

    accepted = people.api().post("/v1/conversations/extract", {"dry_run": False})
    job = job_wait(people.access(), accepted.json()["id"], 20)

    assert job.status == "succeeded"
    assert job.result is not None
    assert (job.result["extracted"], job.result["failed"]) == (2, {"refused": 1})


def test_a_long_job_lets_others_have_their_turn(
    people: People, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.answer = echo
    monkeypatch.setattr(jobruns, "TURN_SECONDS", 0.0)
    monkeypatch.setattr(jobruns, "CATCH_UP", 0.0)
    for n in range(8):
        saved(people, f"I have {n} cats")

    accepted = people.api().post("/v1/conversations/extract", {"dry_run": False})
    job = job_wait(people.access(), accepted.json()["id"], 30)

    assert job.status == "succeeded", "pauses do not count as failures"
    assert job.attempts == 8
    assert people.api().get("/v1/memories").json()["total"] == 8
