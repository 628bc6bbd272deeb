"""POST /v1/extract."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import Event
from typing import Any

import pytest
from pytest_django import Settings

from accounts.access import space_transaction
from aiworker import ai_views
from aiworker.fake.server import FakeProvider
from aiworker.models import Job, JobInput
from memories.models import Memory
from tests.aiworker.conftest import canned, found
from tests.factories import People

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]

TRANSCRIPT = "Alice: I always use TypeScript. Bob: What about Python? Alice: Only for scripts."
TWO = [
    found("Alice always uses TypeScript", type="procedural", tags=("typescript",)),
    found("Alice uses Python only for scripts", tags=("python", "Scripts, mostly")),
]


def stored(people: People) -> list[Memory]:
    access = people.access()
    with space_transaction(access):
        return list(Memory.objects.any_status(access).order_by("content"))


def body(**changes: Any) -> dict[str, Any]:
    return {"transcript": TRANSCRIPT} | changes


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_stores_what_the_provider_finds(people: People, provider: FakeProvider, name: str) -> None:
    provider.answer = canned({"save_memories": {"memories": TWO}})

    response = people.api().post("/v1/extract", body(provider=name))

    assert response.status_code == 201
    answer = response.json()
    assert set(answer) == {"extracted", "memories"}
    assert answer["extracted"] == 2
    first, second = answer["memories"]
    assert (first["content"], first["type"], first["tags"]) == (TWO[0]["content"], "procedural", ["typescript"])
    assert second["tags"] == ["python", "scripts mostly"]
    assert first["source"]["tool"] == "omp-extract"
    assert people.api().get(f"/v1/memories/{first['id']}").json() == first
    assert provider.requests[0]["path"] == ("/v1/messages" if name == "anthropic" else "/v1/chat/completions")


def test_keeps_tool_date_namespace_session_and_the_span(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_memories": {"memories": [found("Alice uses Python for scripts", first=2, last=2)]}})
    transcript = "Alice: I always use TypeScript.\nAlice: Python only for scripts."
    sent = body(
        transcript=transcript, source_tool="claude", namespace="project:x", session_id="s1",
        timestamp="2026-03-01T10:00:00+02:00",
    )  # fmt: skip

    [memory] = people.api().post("/v1/extract", sent, view="full").json()["memories"]

    assert memory["source"] == {"tool": "claude", "session_id": "s1", "timestamp": "2026-03-01T08:00:00Z"}
    assert (memory["namespace"], memory["channel"]) == ("project:x", "extract")
    reference, _, span = memory["source_ref"].partition("#")
    start, end = map(int, span.split("-"))
    assert transcript[start:end] == "Alice: Python only for scripts."
    assert reference.startswith("job_")
    assert "2026-03-01 (Sunday)" in provider.requests[0]["body"]["messages"][0]["content"]


def test_uses_the_requests_key_before_the_operators(people: People, provider: FakeProvider) -> None:
    people.api().post("/v1/extract", body(api_key="sk-fake-ok-mine"))
    people.api().post("/v1/extract", body())

    assert [request["key"] for request in provider.requests] == ["sk-fake-ok-mine", "sk-fake-ok"]


def test_without_a_key_is_no_api_key_and_makes_no_job(
    people: People, provider: FakeProvider, settings: Settings, jobs_of: Callable[[People], list[Job]]
) -> None:
    settings.AI_API_KEY = ""

    for sent in (body(), body(api_key=""), body(api_key=None), body(provider="openai")):
        response = people.api().post("/v1/extract", sent)
        assert (response.status_code, response.json()["error"]) == (422, "no_api_key")

    assert jobs_of(people) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("transcript", ""), ("transcript", "  \n"), ("transcript", 7), ("transcript", "x" * 1_000_001),
        ("provider", "mistral"), ("api_key", "line\nbreak"), ("api_key", "ключ"), ("api_key", "x" * 501),
        ("source_tool", ""), ("timestamp", "yesterday"), ("namespace", ""),
    ],
)  # fmt: skip
def test_refuses_what_does_not_fit(people: People, provider: FakeProvider, field: str, value: Any) -> None:
    response = people.api().post("/v1/extract", body(**{field: value}))

    assert response.status_code == 422
    assert list(response.json()["details"]["fields"]) == [field]
    assert provider.requests == []


@pytest.mark.parametrize("name", ["anthropic", "openai"])
@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("401", "unauthorized"), ("429", "rate_limited"), ("500", "provider_failed"), ("529", "overloaded"),
        ("broken", "malformed"), ("refusal", "refused"), ("wrong_tool", "malformed"), ("truncated", "truncated"),
    ],
)  # fmt: skip
def test_a_provider_failure_is_502_with_a_failed_job_and_nothing_stored(
    people: People, provider: FakeProvider, jobs_of: Callable[[People], list[Job]], name: str, behaviour: str,
    reason: str,
) -> None:  # fmt: skip
    response = people.api().post("/v1/extract", body(provider=name, api_key=f"sk-fake-{behaviour}"))

    assert response.status_code == 502
    error = response.json()
    assert (error["error"], error["details"]["reason"]) == ("ai_error", reason)
    assert error["message"].startswith("The ")
    [job] = jobs_of(people)
    assert (job.status, job.result, job.error["error"]) == ("failed", None, "ai_error")
    assert job.error["details"]["reason"] == reason
    assert stored(people) == []
    with space_transaction(people.access()):
        assert not JobInput.objects.visible_to(people.access()).exists()


def test_a_slow_provider_is_502(people: People, provider: FakeProvider, settings: Settings) -> None:
    settings.AI_TIMEOUT_SECONDS, settings.AI_RETRIES = 0.2, 0

    response = people.api().post("/v1/extract", body(api_key="sk-fake-drip"))

    assert (response.status_code, response.json()["details"]["reason"]) == (502, "timeout")
    assert stored(people) == []


def test_a_failure_in_a_later_part_stores_nothing_of_the_earlier(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_memories": {"memories": [found("Alice likes tea number 1")]}})
    provider.script.extend(["ok", "401"])
    transcript = "\n".join(f"Alice: I like tea number {n}." for n in range(2_000))

    response = people.api().post("/v1/extract", body(transcript=transcript))

    assert response.status_code == 502
    assert len(provider.requests) == 2
    assert stored(people) == []


def test_a_passing_failure_is_not_seen(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_memories": {"memories": TWO}})

    response = people.api().post("/v1/extract", body(api_key="sk-fake-529x2"))

    assert response.json()["extracted"] == 2
    assert len(provider.requests) == 3


def test_prefer_respond_async_answers_the_job(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_memories": {"memories": TWO}})
    api = people.api()

    response = api.post("/v1/extract", body(), headers={"Prefer": "respond-async"})

    assert response.status_code == 202
    assert response["Location"] == f"/v1/jobs/{response.json()['id']}"
    ended = ai_views.job_wait(people.access(), response.json()["id"], 10)
    shown = api.get(response["Location"]).json()
    assert ended.status == shown["status"] == "succeeded"
    assert shown["progress"] == {"done": 2, "total": 2}
    assert shown["result"]["extracted"] == 2
    assert [memory.id for memory in stored(people)] == shown["result"]["memory_ids"]
    assert TWO[0]["content"] not in str(shown)


def test_when_the_wait_is_over_the_answer_is_the_job(
    people: People, provider: FakeProvider, settings: Settings
) -> None:
    settings.AI_WAIT_SECONDS = 0.1
    settings.AI_TIMEOUT_SECONDS = 2

    response = people.api().post("/v1/extract", body(api_key="sk-fake-hang"))

    assert (response.status_code, response.json()["status"]) == (202, "running")
    people.api().post(f"{response['Location']}/cancel")


def test_only_some_requests_wait_and_the_next_is_told_to_come_again(
    people: People, provider: FakeProvider, settings: Settings, jobs_of: Callable[[People], list[Job]]
) -> None:
    headers = {"Idempotency-Key": "once"}
    with ExitStack() as full:
        for _ in range(settings.AI_WAITING_REQUESTS):
            full.enter_context(ai_views.waiting_place())
        refused = people.api().post("/v1/extract", body(), headers=headers)
        begun = jobs_of(people)
        asynchronous = people.api().post("/v1/extract", body(), headers={"Prefer": "respond-async"})
    again = people.api().post("/v1/extract", body(), headers=headers)

    assert (refused.status_code, refused.json()["error"], refused["Retry-After"]) == (429, "rate_limited", "5")
    assert begun == [], "nothing has begun that could cost anything"
    assert asynchronous.status_code == 202
    assert again.status_code == 201


def test_a_cancelled_job_stores_nothing(people: People, provider: FakeProvider, settings: Settings) -> None:
    settings.AI_WAIT_SECONDS = 0
    cancelled = Event()

    def answer(name: str, data: dict[str, Any]) -> Any:
        cancelled.wait(10)
        return {"memories": TWO}

    provider.answer = answer
    job_id = people.api().post("/v1/extract", body()).json()["id"]

    assert people.api().post(f"/v1/jobs/{job_id}/cancel").json()["status"] == "cancelled"
    cancelled.set()

    assert ai_views.job_wait(people.access(), job_id, 10).status == "cancelled"
    assert stored(people) == []


def test_an_idempotency_key_makes_the_repetition_free(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_memories": {"memories": TWO}})
    headers = {"Idempotency-Key": "once"}

    first = people.api().post("/v1/extract", body(), headers=headers)
    again = people.api().post("/v1/extract", body(), headers=headers)

    assert (again.status_code, again.content) == (201, first.content)
    assert again["Idempotency-Replayed"] == "true"
    assert len(provider.requests) == 1
