"""A provider on loopback, and a worker that takes jobs as they are queued."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import pytest
from django.db import connections
from pytest_django import Settings

from accounts.access import Access, space_transaction
from aiworker.fake.server import FakeProvider
from aiworker.jobruns import job_run
from aiworker.models import Job
from config.celery import app
from tests.factories import People


@pytest.fixture
def provider(settings: Settings) -> Iterator[FakeProvider]:
    """Have both providers' addresses lead to a fake one, with short waits."""
    with FakeProvider() as server, server.running():
        settings.AI_BASE_URLS = {"anthropic": server.url, "openai": server.url}
        settings.AI_MODELS = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o-mini"}
        settings.AI_API_KEY = "sk-fake-ok"
        settings.AI_BACKOFF_MS = 1
        settings.AI_RETRIES = 2
        settings.AI_TIMEOUT_SECONDS = 5
        yield server


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Iterator[list[dict[str, Any]]]:
    """Run each job's message in a thread of its own; the list holds the messages."""
    threads: list[Thread] = []
    messages: list[dict[str, Any]] = []

    def send(name: str, *, kwargs: dict[str, Any], queue: str, countdown: float | None = None) -> None:
        messages.append({"name": name, "kwargs": kwargs, "queue": queue})
        if name == "jobs.run":
            threads.append(Thread(target=work, kwargs=kwargs))
            threads[-1].start()

    def work(**ids: Any) -> None:
        try:
            job_run(**ids)
        finally:
            connections.close_all()

    monkeypatch.setattr(app, "send_task", send)
    yield messages
    for thread in threads:
        thread.join(20)


@pytest.fixture
def jobs_of(transactional_db: None) -> Callable[[People], list[Job]]:
    """Return a function that reads the jobs of the owner's space, oldest first."""

    def read(people: People) -> list[Job]:
        system = Access.system(people.space.pk)
        with space_transaction(system):
            return list(Job.objects.visible_to(system).order_by("created_at"))

    return read


def canned(answers: dict[str, Any]) -> Callable[[str, dict[str, Any]], Any]:
    """Return an answer function that gives the same for each name, whatever it is asked."""
    return lambda name, data: json.loads(json.dumps(answers[name]))


def found(content: str, *, type: str = "semantic", tags: tuple[str, ...] = (), first: int = 1, last: int = 1) -> Any:
    """Return a memory as a model gives it."""
    return {"content": content, "type": type, "tags": list(tags), "first": first, "last": last}
