"""The provider `openai`: the chat completions API, of OpenAI and of every server that speaks it.

Plain HTTP: the API is one POST, and compatible servers differ in what a client package would insist on.
"""

from typing import Any

import httpx2
from django.conf import settings

from aiworker.providers.base import (
    Completion,
    Prompt,
    ProviderError,
    Usage,
    reason_for_status,
    retry_after_seconds,
)
from aiworker.providers.http import client
from aiworker.providers.text import json_of_text

DEFAULT_MODEL = "gpt-4o-mini"
DEFAULT_URL = "https://api.openai.com/v1"


def chat_url(base_url: str) -> str:
    """Return the address of chat completions below a base URL; one without a path means /v1 of its host."""
    url = httpx2.URL(base_url or DEFAULT_URL)
    path = url.path.rstrip("/") or "/v1"
    return str(url.copy_with(path=f"{path}/chat/completions"))


class OpenAIProvider:
    """Asks a model over chat completions; the answer is JSON of the schema that the request names."""

    name = "openai"

    def __init__(self, api_key: str, seconds: float) -> None:
        self.model = settings.AI_MODELS["openai"] or DEFAULT_MODEL
        base_url = settings.AI_BASE_URLS["openai"]
        self.url = chat_url(base_url)
        # OpenAI's newer models know only the new name of the limit, many compatible servers only the old one.
        self.limit = "max_tokens" if base_url else "max_completion_tokens"
        self.headers = {"Authorization": f"Bearer {api_key}"}
        self.client = client(seconds)

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to one prompt, asked once. Raises ProviderError."""
        body = {
            "model": self.model,
            "messages": [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.data}],
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": prompt.answer_name, "schema": prompt.answer_schema, "strict": True},
            },
            self.limit: prompt.max_tokens,
        }
        try:
            response = self.client.post(self.url, json=body, headers=self.headers)
        except httpx2.TimeoutException:
            raise ProviderError("timeout", provider=self.name) from None
        except (httpx2.HTTPError, UnicodeError):
            raise ProviderError("unreachable", provider=self.name) from None
        if response.status_code != 200:
            raise ProviderError(
                reason_for_status(response.status_code), provider=self.name, status=response.status_code,
                retry_after=retry_after_seconds(response.headers),
            )  # fmt: skip
        try:
            return self._completion(prompt, response.json())
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            raise ProviderError("malformed", provider=self.name) from None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _completion(self, prompt: Prompt, body: Any) -> Completion:
        choice, counted = body["choices"][0], body.get("usage") or {}
        usage = Usage(int(counted.get("prompt_tokens") or 0), int(counted.get("completion_tokens") or 0))
        message, finish = choice["message"], choice.get("finish_reason")
        if message.get("refusal") or finish == "content_filter":
            raise ProviderError("refused", provider=self.name, usage=usage)
        if finish == "length":
            raise ProviderError("truncated", provider=self.name, usage=usage)
        text = message.get("content") or ""
        for call in message.get("tool_calls") or []:
            # Some compatible servers answer a schema by calling a function of its name.
            if call["function"]["name"] == prompt.answer_name:
                text = call["function"]["arguments"]
        answer = json_of_text(text)
        if answer is None:
            raise ProviderError("malformed", provider=self.name, usage=usage)
        return Completion(answer, usage)
