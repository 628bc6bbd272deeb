"""POST /v1/handoff."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_django import Settings

from aiworker.fake.server import FakeProvider
from tests.aiworker.conftest import canned, provider
from tests.factories import Api, People, key_create

__all__ = ["provider"]

pytestmark = pytest.mark.django_db(transaction=True)

MESSAGES = [
    {"role": "user", "content": "How do I deploy?"},
    {"role": "assistant", "content": "With Docker Compose."},
    {"role": "user", "content": "And how do I roll back?"},
]


def saved(people: People) -> str:
    made = people.api().post("/v1/conversations", {"model": "chatgpt", "topic": "Deploying", "messages": MESSAGES})
    conversation_id: str = made.json()["id"]
    return conversation_id


def test_a_stored_conversation_without_a_key_gets_a_template(people: People, settings: Settings) -> None:
    settings.AI_API_KEY = ""

    response = people.api().post("/v1/handoff", {"conversation_id": saved(people), "target_model": "claude"})

    assert response.status_code == 200
    answer = response.json()
    assert {name: answer[name] for name in ("topic", "source_model", "target_model", "message_count")} == {
        "topic": "Deploying", "source_model": "chatgpt", "target_model": "claude", "message_count": 3,
    }  # fmt: skip
    assert answer["written_by"] == "template"
    for part in ("ChatGPT", "Deploying", "And how do I roll back?"):
        assert part in answer["brief"]


def test_an_inline_conversation_is_enough(people: People, settings: Settings) -> None:
    settings.AI_API_KEY = ""

    answer = (
        people.api().post("/v1/handoff", {"model": "gemini", "messages": MESSAGES, "target_model": "claude"}).json()
    )

    assert (answer["topic"], answer["source_model"], answer["message_count"]) == ("How do I deploy?", "gemini", 3)
    assert "Gemini" in answer["brief"]


@pytest.mark.parametrize("name", ["anthropic", "openai"])
def test_with_a_key_a_model_writes_it(people: People, provider: FakeProvider, name: str) -> None:
    provider.answer = canned({"write_message": {"message": " We worked out how to deploy. \n"}})
    sent = {"conversation_id": saved(people), "target_model": "claude", "provider": name}

    answer = people.api().post("/v1/handoff", sent).json()

    assert answer["brief"] == "We worked out how to deploy."
    assert answer["written_by"] == ("claude-haiku-4-5" if name == "anthropic" else "gpt-4o-mini")
    assert people.api().get("/v1/usage").json()["usage"][0]["purpose"] == "handoff"


@pytest.mark.parametrize("behaviour", ["401", "429", "500", "refusal", "broken", "wrong_tool"])
def test_a_provider_that_fails_leaves_the_template(people: People, provider: FakeProvider, behaviour: str) -> None:
    sent = {"conversation_id": saved(people), "target_model": "claude", "api_key": f"sk-fake-{behaviour}"}

    response = people.api().post("/v1/handoff", sent)

    assert (response.status_code, response.json()["written_by"]) == (200, "template")
    assert len(provider.requests) == 1, "somebody waits: it is asked once"


def test_secrets_go_neither_to_the_model_nor_into_the_brief(people: People, provider: FakeProvider) -> None:
    messages = [{"role": "user", "content": "My password is hunter2hunter2"}]
    sent: dict[str, Any] = {"model": "chatgpt", "messages": messages, "target_model": "claude"}

    people.api().post("/v1/handoff", sent)
    template = people.api().post("/v1/handoff", sent | {"api_key": "sk-fake-500"}).json()["brief"]

    assert "hunter2" not in str(provider.requests)
    assert "hunter2" not in template


def test_a_long_conversation_is_shown_from_its_end(people: People, provider: FakeProvider) -> None:
    messages = [{"role": "user", "content": f"message number {n} " + "x" * 900} for n in range(100)]

    people.api().post("/v1/handoff", {"model": "chatgpt", "messages": messages, "target_model": "claude"})

    sent = provider.requests[0]["body"]["messages"][0]["content"]
    assert "message number 99 " in sent
    assert "message number 80 " not in sent


@pytest.mark.parametrize(
    "sent",
    [
        {}, {"target_model": "claude"}, {"target_model": "claude", "model": "chatgpt"},
        {"target_model": "", "model": "chatgpt", "messages": MESSAGES},
        {"target_model": "claude", "model": "chatgpt", "messages": []},
        {"target_model": "claude", "model": "x", "messages": MESSAGES, "provider": "mistral"},
    ],
)  # fmt: skip
def test_refuses_what_does_not_fit(people: People, sent: dict[str, Any]) -> None:
    assert people.api().post("/v1/handoff", sent).status_code == 422


def test_a_key_without_the_scope_ai_gets_the_template(people: People, provider: FakeProvider) -> None:
    key = key_create(people.space, people.owner, "reader", scopes={"conversations:read"})

    answer = Api(key).post("/v1/handoff", {"conversation_id": saved(people), "target_model": "claude"}).json()

    assert answer["written_by"] == "template"
    assert provider.requests == []


def test_another_spaces_conversation_is_404(people: People, settings: Settings) -> None:
    settings.AI_API_KEY = ""
    sent = {"conversation_id": saved(people), "target_model": "claude"}

    assert people.api("outsider").post("/v1/handoff", sent).status_code == 404
