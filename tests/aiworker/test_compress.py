"""POST /v1/compress."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from accounts.access import space_transaction
from aiworker.fake.server import FakeProvider
from memories.models import Memory
from tests.aiworker.conftest import canned
from tests.factories import Api, People, key_create, memory_make

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]

SUMMARY = "The team decided to deploy with Docker Compose and set up GitHub Actions."


def body(**changes: Any) -> dict[str, Any]:
    return {"transcript": "User: How do we deploy?\nAssistant: With Docker Compose."} | changes


def count(people: People) -> int:
    with space_transaction(people.access()):
        return Memory.objects.any_status(people.access()).count()


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_stores_one_episodic_summary(people: People, provider: FakeProvider, name: str) -> None:
    provider.answer = canned({"save_summary": {"summary": f"  {SUMMARY}\n"}})

    response = people.api().post("/v1/compress", body(provider=name, source_tool="claude"))

    assert response.status_code == 201
    assert list(response.json()) == ["memory"]
    memory = response.json()["memory"]
    assert (memory["content"], memory["type"], memory["tags"]) == (SUMMARY, "episodic", ["session-summary"])
    assert memory["source"]["tool"] == "claude"
    assert people.api().get(f"/v1/memories/{memory['id']}").json() == memory


def test_the_default_tool_is_that_of_extract(people: People, provider: FakeProvider) -> None:
    assert people.api().post("/v1/compress", body()).json()["memory"]["source"]["tool"] == "omp-extract"


def test_a_long_conversation_is_summarised_part_by_part(people: People, provider: FakeProvider) -> None:
    provider.answer = lambda name, data: {"summary": f"Notes of {len(data.get('transcript', data.get('notes')))}"}
    transcript = "\n".join(f"User: line number {n} about the deployment." for n in range(1_500))

    memory = people.api().post("/v1/compress", body(transcript=transcript)).json()["memory"]

    assert len(provider.requests) == 4
    assert memory["content"] == "Notes of 3", "the last request had the notes of three parts"


def test_without_a_key_is_no_api_key(people: People, provider: FakeProvider, settings: Settings) -> None:
    settings.AI_API_KEY = ""

    response = people.api().post("/v1/compress", body())

    assert (response.status_code, response.json()["error"]) == (422, "no_api_key")


@pytest.mark.parametrize("name", ["anthropic", "openai"])
@pytest.mark.parametrize("behaviour", ["401", "429", "500", "529", "broken", "refusal", "wrong_tool", "wrong_schema"])
def test_a_provider_failure_is_502_and_stores_nothing(
    people: People, provider: FakeProvider, name: str, behaviour: str
) -> None:
    response = people.api().post("/v1/compress", body(provider=name, api_key=f"sk-fake-{behaviour}"))

    assert (response.status_code, response.json()["error"]) == (502, "ai_error")
    assert count(people) == 0


@pytest.mark.parametrize("summary", ["", " \n", "\u200b", "a\x00b"])
def test_an_empty_summary_is_502(people: People, provider: FakeProvider, summary: str) -> None:
    provider.answer = canned({"save_summary": {"summary": summary}})

    response = people.api().post("/v1/compress", body())

    assert (response.status_code, response.json()["details"]["reason"]) == (502, "malformed")


def test_secrets_are_masked_both_ways(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_summary": {"summary": "They set the password: correct-horse-9."}})

    answer = people.api().post("/v1/compress", body(transcript="User: the password is correct-horse-9")).json()

    assert "correct-horse" not in answer["memory"]["content"]
    assert answer["secrets_masked"] == 2, "one that was sent, one that came back"
    assert "correct-horse" not in str(provider.requests)


def test_a_summary_that_is_stored_already_is_not_added(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_summary": {"summary": SUMMARY}})
    first = people.api().post("/v1/compress", body()).json()["memory"]

    again = people.api().post("/v1/compress", body())

    assert (again.status_code, again.json()["memory"]["id"]) == (201, first["id"])
    assert count(people) == 1


def test_a_deleted_summary_does_not_come_back(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_summary": {"summary": SUMMARY}})
    first = people.api().post("/v1/compress", body()).json()["memory"]
    people.api().delete(f"/v1/memories/{first['id']}")

    response = people.api().post("/v1/compress", body())

    assert (response.status_code, response.json()["error"]) == (409, "conflict")
    assert count(people) == 0


def test_a_key_that_may_not_read_is_shown_nobody_elses_memory(people: People, provider: FakeProvider) -> None:
    provider.answer = canned({"save_summary": {"summary": SUMMARY}})
    known = memory_make(people.access(), content=SUMMARY)
    key = key_create(people.space, people.owner, "ai only", scopes={"ai"})

    assert Api(key).post("/v1/compress", body()).json()["memory"]["id"] != known.id


def test_needs_the_scope_ai(people: People, provider: FakeProvider) -> None:
    assert people.api("write").post("/v1/compress", body()).status_code == 403
