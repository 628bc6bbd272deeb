"""The brief with which a person goes on with a conversation in another AI."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass

from django.conf import settings
from pydantic import BaseModel, ConfigDict, Field

from accounts.access import Access
from aiworker.prompts import handoff_prompt
from aiworker.providers import key_for, provider_of
from aiworker.providers.base import ProviderError, Usage
from aiworker.providers.calls import ask
from aiworker.secretscan import secrets_mask
from aiworker.usage import usage_add
from api.errors import NoApiKey
from api.text import text_clean, text_problem

NAMES = {"chatgpt": "ChatGPT", "claude": "Claude", "gemini": "Gemini", "perplexity": "Perplexity", "grok": "Grok"}
SHOWN_CHARS = 12_000  # the end of the conversation that the model reads
MESSAGE_CHARS = 2_000
QUOTE_CHARS = 160
MAX_BRIEF = 4_000
WAIT_SECONDS = 30  # somebody is looking at a button meanwhile


class Brief(BaseModel):
    """A model's answer."""

    model_config = ConfigDict(extra="ignore")
    message: str = Field(min_length=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The conversation to hand over."""

    source: str
    target: str
    topic: str
    messages: Sequence[dict[str, str]]


def model_name(model: str) -> str:
    """Return the name by which people know an AI."""
    return NAMES.get(model.lower(), model)


def brief_write(*, access: Access, talk: Talk, provider: str | None, api_key: str | None) -> tuple[str, str]:
    """Return the brief and who wrote it: a model's name, or "template" when there is no key or the provider fails.

    No transaction may be open: a provider is asked.
    """
    if not access.may("ai"):
        return brief_template(talk), "template"
    try:
        name, key = key_for(provider, api_key)
    except NoApiKey:
        return brief_template(talk), "template"
    prompt = handoff_prompt(
        source=model_name(talk.source), target=model_name(talk.target), topic=secrets_mask(talk.topic)[0],
        messages=last_messages(talk.messages),
    )  # fmt: skip
    with closing(provider_of(name, key, seconds=min(WAIT_SECONDS, settings.AI_TIMEOUT_SECONDS))) as asked:

        def spent(usage: Usage) -> None:
            usage_add(access=access, provider=name, model=asked.model, purpose="handoff", usage=usage)

        try:
            answer = ask(asked, prompt, Brief, retries=0, check=lambda: None, spent=spent)
        except ProviderError:
            return brief_template(talk), "template"
    text = text_clean(answer.message).strip()
    if not text or text_problem(text):
        return brief_template(talk), "template"
    return secrets_mask(text)[0][:MAX_BRIEF], asked.model


def last_messages(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """Return the end of a conversation that fits the prompt, long messages cut, secrets masked."""
    shown: list[dict[str, str]] = []
    size = 0
    for message in reversed(messages):
        content = secrets_mask(message["content"].strip())[0]
        if message["role"] not in {"user", "assistant"} or not content:
            continue
        content = content if len(content) <= MESSAGE_CHARS else content[:MESSAGE_CHARS] + " […]"
        size += len(content)
        if shown and size > SHOWN_CHARS:
            break
        shown.insert(0, {"role": message["role"], "content": content})
    return shown


def _quote(text: str) -> str:
    text = " ".join(secrets_mask(text)[0].split())
    return text if len(text) <= QUOTE_CHARS else text[:QUOTE_CHARS].rstrip() + "…"


def brief_template(talk: Talk) -> str:
    """Return a brief that needs no model: the topic, the person's last message, and the wish to go on."""
    source, target = model_name(talk.source), model_name(talk.target)
    topic = _quote(talk.topic)
    said = [message["content"] for message in talk.messages if message["role"] == "user" and message["content"].strip()]
    last = _quote(said[-1]) if said else ""
    where = f"with {source}" if source != target else "in another chat"
    parts = [f"I have been working {where} on this topic: “{topic}”." if topic else f"I have been talking {where}."]
    if last and last != topic:
        parts.append(f"My last message there was: “{last}”.")
    parts.append("Please go on from there.")
    return " ".join(parts)
