"""Asking a provider until its answer is usable: retries with jitter, checked answers, counted tokens."""

import random
import time
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from pydantic import BaseModel, ValidationError

from aiworker.providers.base import Completion, Prompt, Provider, ProviderError, Usage

AnswerT = TypeVar("AnswerT", bound=BaseModel)
LONGEST_WAIT = 60.0
STEP = 0.5  # seconds after which a wait looks whether the job is still wanted


def backoff_seconds(attempt: int, asked: float | None) -> float:
    """Return how long to wait after failed attempt number `attempt` (from 1): what the provider asks, or full jitter.

    A provider that asks for more than LONGEST_WAIT gets that: the job is tried again rather than left to sleep.
    """
    if asked is not None:
        return min(asked, LONGEST_WAIT)
    ceiling = min(LONGEST_WAIT, settings.AI_BACKOFF_MS / 1000 * 2 ** (attempt - 1))
    return random.uniform(ceiling / 2, ceiling)  # noqa: S311 - spreads retries, protects nothing


def _sleep(seconds: float, check: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        check()
        time.sleep(min(left, STEP))


def ask(
    provider: Provider,
    prompt: Prompt,
    model: type[AnswerT],
    *,
    spent: Callable[[Usage], None],
    check: Callable[[], None],
    retries: int | None = None,
) -> AnswerT:
    """Return a provider's answer to a prompt, as `model`.

    `spent` is told the tokens of each attempt, the failed ones included; `check` is called before each attempt and
    during waits, and stops the work by raising. Raises ProviderError after the last attempt.
    """
    attempt, retries = 0, settings.AI_RETRIES if retries is None else retries
    while True:
        attempt += 1
        check()
        try:
            completion = provider.complete(prompt)
            spent(completion.usage)
            return _validated(provider, completion, model)
        except ProviderError as error:
            if error.usage != Usage():
                spent(error.usage)
            error.details["attempts"] = attempt
            if not error.retryable or attempt > retries:
                raise
            wait = backoff_seconds(attempt, error.retry_after)
        _sleep(wait, check)


def _validated(provider: Provider, completion: Completion, model: type[AnswerT]) -> AnswerT:
    try:
        return model.model_validate(completion.answer)
    except (ValidationError, RecursionError):
        raise ProviderError("malformed", provider=provider.name) from None
