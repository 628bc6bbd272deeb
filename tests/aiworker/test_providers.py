"""Both providers against a server that speaks their APIs: every answer and every failure."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from pydantic import BaseModel
from pytest_django import Settings

from aiworker.fake.server import FakeProvider
from aiworker.providers import key_for, provider_of
from aiworker.providers.base import Prompt, ProviderError, Usage
from aiworker.providers.calls import LONGEST_WAIT, ask, backoff_seconds
from aiworker.providers.openai import chat_url
from aiworker.providers.text import json_of_text
from api.errors import NoApiKey
from tests.aiworker.conftest import canned

NAMES = ["anthropic", "openai"]
KEY = "sk-fake-marker-of-the-key"
PROMPT = Prompt(
    system="Answer.", data='{"segments": [{"n": 1, "text": "marker-of-the-transcript"}]}', answer_name="save_memories",
    answer_purpose="Gives the memories.", max_tokens=100,
    answer_schema={"type": "object", "properties": {"memories": {"type": "array"}}, "required": ["memories"]},
)  # fmt: skip


class Answer(BaseModel):
    memories: list[dict[str, str]]


def asked(name: str, *, spent: list[Usage] | None = None, retries: int | None = None, seconds: float = 5) -> Answer:
    account = spent if spent is not None else []
    with closing(provider_of(name, KEY, seconds=seconds)) as client:
        return ask(client, PROMPT, Answer, spent=account.append, check=lambda: None, retries=retries)


@pytest.mark.parametrize("name", NAMES)
def test_gives_the_structured_answer_and_its_tokens(provider: FakeProvider, name: str) -> None:
    provider.answer = canned({"save_memories": {"memories": [{"content": "likes tea"}]}})
    spent: list[Usage] = []

    answer = asked(name, spent=spent)

    assert answer.memories == [{"content": "likes tea"}]
    assert len(spent) == 1
    assert spent[0].input_tokens > 0
    assert spent[0].output_tokens > 0


@pytest.mark.parametrize("name", NAMES)
def test_sends_the_key_the_instructions_and_the_schema_apart_from_the_data(provider: FakeProvider, name: str) -> None:
    provider.answer = canned({"save_memories": {"memories": []}})

    asked(name)

    [request] = provider.requests
    body = request["body"]
    assert request["key"] == KEY
    if name == "anthropic":
        assert body["tool_choice"]["name"] == "save_memories"
        assert body["tools"][0]["input_schema"] == PROMPT.answer_schema
        assert (body["system"], body["messages"][0]["content"]) == (PROMPT.system, PROMPT.data)
    else:
        assert body["response_format"]["json_schema"]["schema"] == PROMPT.answer_schema
        assert [message["content"] for message in body["messages"]] == [PROMPT.system, PROMPT.data]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("behaviour", "reason", "attempts"),
    [
        ("400", "rejected", 1),
        ("401", "unauthorized", 1),
        ("403", "forbidden", 1),
        ("404", "not_found", 1),
        ("413", "too_large", 1),
        ("429", "rate_limited", 3),
        ("500", "provider_failed", 3),
        ("503", "overloaded", 3),
        ("529", "overloaded", 3),
        ("close", "unreachable", 3),
        ("broken", "malformed", 3),
        ("html", "malformed", 3),
        ("refusal", "refused", 3),
        ("truncated", "truncated", 3),
        ("wrong_tool", "malformed", 3),
        ("wrong_schema", "malformed", 3),
        ("prose", "malformed", 3),
    ],
)
def test_a_failure_has_a_reason_and_tells_no_secret(
    provider: FakeProvider, name: str, behaviour: str, reason: str, attempts: int
) -> None:
    provider.answer = canned({"save_memories": {"memories": []}})
    provider.script.extend([behaviour] * 5)

    with pytest.raises(ProviderError) as caught:
        asked(name)

    error = caught.value
    assert (error.reason, error.status, error.code) == (reason, 502, "ai_error")
    assert error.details["attempts"] == attempts == len(provider.requests)
    shown = f"{error} {error.envelope()} {error.__cause__!r}"
    assert KEY not in shown
    assert "marker" not in shown


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("behaviour", ["429", "500", "529", "close", "broken", "refusal", "truncated", "wrong_tool"])
def test_what_passes_is_tried_again(provider: FakeProvider, name: str, behaviour: str) -> None:
    provider.answer = canned({"save_memories": {"memories": []}})
    provider.script.extend([behaviour, behaviour])

    assert asked(name).memories == []

    assert len(provider.requests) == 3


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("behaviour", ["hang", "drip"])
def test_the_deadline_holds_for_the_whole_exchange(provider: FakeProvider, name: str, behaviour: str) -> None:
    provider.script.append(behaviour)

    with pytest.raises(ProviderError) as caught:
        asked(name, seconds=0.3, retries=0)

    assert caught.value.reason == "timeout"


@pytest.mark.parametrize("name", NAMES)
def test_a_provider_that_is_not_there_is_unreachable(provider: FakeProvider, settings: Settings, name: str) -> None:
    settings.AI_BASE_URLS = dict.fromkeys(NAMES, "http://127.0.0.1:9")

    with pytest.raises(ProviderError) as caught:
        asked(name, retries=0)

    assert caught.value.reason == "unreachable"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("behaviour", ["refusal", "truncated", "wrong_schema"])
def test_tokens_of_a_useless_answer_are_counted_too(provider: FakeProvider, name: str, behaviour: str) -> None:
    provider.answer = canned({"save_memories": {"memories": []}})
    provider.script.append(behaviour)
    spent: list[Usage] = []

    asked(name, spent=spent)

    assert len(spent) == 2
    assert all(usage.input_tokens > 0 for usage in spent)


def test_waits_as_long_as_the_provider_asks(provider: FakeProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    provider.answer = canned({"save_memories": {"memories": []}})
    provider.retry_after = 7
    provider.script.append("429")
    waits: list[float] = []
    monkeypatch.setattr("aiworker.providers.calls._sleep", lambda seconds, check: waits.append(seconds))

    asked("anthropic")

    assert waits == [7.0]


def test_a_job_no_longer_wanted_stops_between_attempts(provider: FakeProvider) -> None:
    provider.script.extend(["500"] * 5)
    checks: list[int] = []

    def check() -> None:
        checks.append(1)
        if len(checks) > 1:
            raise InterruptedError

    with closing(provider_of("openai", KEY)) as client, pytest.raises(InterruptedError):
        ask(client, PROMPT, Answer, spent=lambda usage: None, check=check)

    assert len(provider.requests) == 1


def test_backoff_doubles_with_jitter_up_to_a_minute(settings: Settings) -> None:
    settings.AI_BACKOFF_MS = 1_000

    assert all(2 <= backoff_seconds(3, None) <= 4 for _ in range(50))
    assert backoff_seconds(20, None) <= LONGEST_WAIT
    assert backoff_seconds(1, 5_000) == LONGEST_WAIT


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("", "https://api.openai.com/v1/chat/completions"),
        ("http://127.0.0.1:8900", "http://127.0.0.1:8900/v1/chat/completions"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
        ("https://gateway.example/llm/v1/", "https://gateway.example/llm/v1/chat/completions"),
    ],
)
def test_the_chat_address_of_a_base_url(base: str, url: str) -> None:
    assert chat_url(base) == url


@pytest.mark.parametrize(
    ("text", "value"),
    [('{"a": 1}', {"a": 1}), ("```json\n[1]\n```", [1]), ("Here: {}", None), ("", None), ("[" * 100_000, None)],
)
def test_text_counts_only_when_all_of_it_is_json(text: str, value: Any) -> None:
    assert json_of_text(text) == value


def test_the_requests_own_key_comes_first_then_the_operators(settings: Settings) -> None:
    settings.AI_PROVIDER, settings.AI_API_KEY = "anthropic", "operator"
    settings.AI_BASE_URLS = {"anthropic": "", "openai": ""}

    assert key_for(None, "own") == ("anthropic", "own")
    assert key_for(None, None) == ("anthropic", "operator")
    assert key_for("openai", "own") == ("openai", "own")
    with pytest.raises(NoApiKey):
        key_for("openai", None)
    settings.AI_BASE_URLS = {"anthropic": "", "openai": "http://127.0.0.1:1"}
    assert key_for("openai", None) == ("openai", "operator")
    settings.AI_API_KEY = ""
    with pytest.raises(NoApiKey):
        key_for(None, None)
