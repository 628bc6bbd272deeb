"""What every AI provider must do, in words of our own, and how it may fail."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from api.errors import AiError

# Reason codes of a failure, each with the sentence that a person reads. A provider's own words are never shown:
# they can quote the transcript or the key.
REASONS = {
    "unauthorized": "The AI provider did not accept the API key. Check the key and send the request again.",
    "forbidden": "The AI provider does not let this API key use the model, or its credit is used up.",
    "not_found": "The AI provider does not know the model or the address. The operator sets OMP_AI_MODEL and "
    "OMP_AI_BASE_URL.",
    "rejected": "The AI provider rejected the request.",
    "too_large": "The transcript is too large for the AI provider's model.",
    "rate_limited": "The AI provider is limiting requests. Try again in a few minutes.",
    "overloaded": "The AI provider is overloaded. Try again in a few minutes.",
    "provider_failed": "The AI provider had an internal error. Try again in a few minutes.",
    "timeout": "The AI provider did not answer in time. Try again in a few minutes.",
    "unreachable": "The AI provider could not be reached.",
    "malformed": "The AI provider's answer could not be read.",
    "truncated": "The AI provider's answer was cut off before its end.",
    "refused": "The AI provider declined to process this text.",
}
# What may go better when it is tried again.
RETRIED = frozenset(
    {
        "rate_limited", "overloaded", "provider_failed", "timeout", "unreachable", "malformed", "truncated", "refused",
    }
)  # fmt: skip
STATUS_REASONS: Mapping[int, str] = {
    400: "rejected", 401: "unauthorized", 402: "forbidden", 403: "forbidden", 404: "not_found", 408: "timeout",
    409: "overloaded", 413: "too_large", 422: "rejected", 425: "overloaded", 429: "rate_limited", 503: "overloaded",
    504: "timeout", 529: "overloaded",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question to a model, to be answered as an object of a JSON schema.

    `system` is ours; `data` holds the untrusted text, as JSON, so that text stays inside JSON strings.
    """

    system: str
    data: str
    answer_name: str
    answer_purpose: str
    answer_schema: dict[str, Any]
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider has counted."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens)


@dataclass(frozen=True, slots=True)
class Completion:
    """A provider's answer: the object it gave, not yet validated, and what it cost in tokens."""

    answer: Any
    usage: Usage


class ProviderError(AiError):
    """A provider failed; `reason` is a key of REASONS.

    `usage` holds the tokens of an answer that was paid for and could not be used, `retry_after` the seconds that the
    provider asks to wait.
    """

    def __init__(
        self,
        reason: str,
        *,
        provider: str,
        status: int | None = None,
        retry_after: float | None = None,
        usage: Usage = Usage(),
    ) -> None:
        details: dict[str, Any] = {"provider": provider, "reason": reason}
        if status is not None:
            details["provider_status"] = status
        super().__init__(REASONS[reason], details)
        self.reason, self.retry_after, self.usage = reason, retry_after, usage

    @property
    def retryable(self) -> bool:
        """Return whether the same request may succeed later."""
        return self.reason in RETRIED


def reason_for_status(status: int) -> str:
    """Return the reason that an HTTP error status of a provider stands for."""
    return STATUS_REASONS.get(status, "provider_failed" if status >= 500 else "rejected")


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of Retry-After (or retry-after-ms), None without a usable one."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * scale
        except ValueError:
            continue
        if 0 <= seconds < 86_400:
            return seconds
    return None


class Provider(Protocol):
    """A service that answers prompts; one instance serves one job, with that job's key."""

    name: str
    model: str

    def complete(self, prompt: Prompt) -> Completion:
        """Return the answer to one prompt, asked once. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...
