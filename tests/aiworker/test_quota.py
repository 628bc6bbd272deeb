"""A full space spends no tokens on memories that it could not keep."""

from __future__ import annotations

import pytest
from pytest_django import Settings

from aiworker.fake.server import FakeProvider
from config.valkey import client
from tests.aiworker.conftest import canned, found
from tests.aiworker.workers import job_now, wait_for
from tests.factories import People

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("worker")]

TALK = "User: I like green tea.\nAssistant: Noted."


@pytest.fixture(autouse=True)
def small(settings: Settings, people: People, provider: FakeProvider) -> None:
    settings.QUOTA_MEMORIES = 2
    client().delete(f"quota:memories:{people.space.pk}")
    provider.answer = canned(
        {"save_memories": {"memories": [found("The user likes tea")]}, "save_summary": {"summary": "They like tea."}}
    )


@pytest.mark.parametrize("kind", ["extract", "compress"])
def test_a_full_space_asks_no_provider(people: People, provider: FakeProvider, kind: str) -> None:
    for n in range(2):
        people.api().created(content=f"number {n}")

    answer = people.api().post(f"/v1/{kind}", {"transcript": TALK})

    assert (answer.status_code, answer.json()["details"]) == (403, {"limit": 2})
    assert provider.requests == []


@pytest.mark.parametrize("kind", ["extract", "compress"])
def test_the_last_place_is_taken_and_looking_takes_none(people: People, provider: FakeProvider, kind: str) -> None:
    people.api().created()

    assert people.api().post(f"/v1/{kind}", {"transcript": TALK}).status_code == 201

    assert len(provider.requests) == 1
    assert people.api().get("/v1/memories").json()["total"] == 2


def test_conversations_are_not_extracted_into_a_full_space(people: People, provider: FakeProvider) -> None:
    for n in range(2):
        people.api().created(content=f"number {n}")
    messages = [{"role": "user", "content": "I like green tea."}]
    people.api().post("/v1/conversations", {"model": "chatgpt", "messages": messages})

    job = people.api().post("/v1/conversations/extract", {"dry_run": False}).json()["id"]

    wait_for(lambda: job_now(people, job).status == "failed", "the job failed")
    body = people.api().get(f"/v1/jobs/{job}").json()
    assert body["error"]["error"] == "forbidden"
    assert provider.requests == []
