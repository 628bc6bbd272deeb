"""The provider `anthropic`: its Messages API, through its own package."""

from typing import Any

import anthropic
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

DEFAULT_MODEL = "claude-haiku-4-5"


class AnthropicProvider:
    """Asks a model of Anthropic; the answer is the input of the one tool that it is offered."""

    name = "anthropic"

    def __init__(self, api_key: str, seconds: float) -> None:
        self.model = settings.AI_MODELS["anthropic"] or DEFAULT_MODEL
        base_url = settings.AI_BASE_URLS["anthropic"].removesuffix("/v1") or None
        # Retries are ours, so that both providers wait alike and a cancelled job stops between two of them.
        self.client = anthropic.Anthropic(
            api_key=api_key, base_url=base_url, max_retries=0, http_client=client(seconds)
        )

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to one prompt, asked once. Raises ProviderError."""
        try:
            message = self.client.messages.create(
                model=self.model,
                max_tokens=prompt.max_tokens,
                system=prompt.system,
                messages=[{"role": "user", "content": prompt.data}],
                tools=[
                    {
                        "name": prompt.answer_name, "description": prompt.answer_purpose,
                        "input_schema": prompt.answer_schema,
                    }
                ],
                tool_choice={"type": "tool", "name": prompt.answer_name, "disable_parallel_tool_use": True},
            )  # fmt: skip
        except anthropic.APITimeoutError:
            raise ProviderError("timeout", provider=self.name) from None
        except anthropic.APIStatusError as error:
            raise ProviderError(
                reason_for_status(error.status_code), provider=self.name, status=error.status_code,
                retry_after=retry_after_seconds(error.response.headers),
            ) from None  # fmt: skip
        except anthropic.APIResponseValidationError:
            raise ProviderError("malformed", provider=self.name) from None
        except anthropic.APIConnectionError as error:
            reason = "timeout" if "timeout" in type(error.__cause__).__name__.lower() else "unreachable"
            raise ProviderError(reason, provider=self.name) from None
        except (ValueError, TypeError, AttributeError, anthropic.AnthropicError):
            # The package parses before it checks: a body that is no JSON, or of another shape, ends here.
            raise ProviderError("malformed", provider=self.name) from None
        return self._completion(prompt, message)

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _completion(self, prompt: Prompt, message: Any) -> Completion:
        try:
            usage = Usage(int(message.usage.input_tokens or 0), int(message.usage.output_tokens or 0))
            blocks, stop = list(message.content), message.stop_reason
        except (AttributeError, TypeError, ValueError):
            raise ProviderError("malformed", provider=self.name) from None
        if stop == "refusal":
            raise ProviderError("refused", provider=self.name, usage=usage)
        if stop in {"max_tokens", "model_context_window_exceeded"}:
            raise ProviderError("truncated", provider=self.name, usage=usage)
        for block in blocks:
            if getattr(block, "type", "") == "tool_use" and block.name == prompt.answer_name:
                return Completion(block.input, usage)
        # A compatible server may not know tools; then the whole text must be the JSON.
        text = "".join(block.text or "" for block in blocks if getattr(block, "type", "") == "text")
        answer = json_of_text(text)
        if answer is None:
            raise ProviderError("malformed", provider=self.name, usage=usage)
        return Completion(answer, usage)
