"""A worker killed in the middle of AI work: the next one goes on, and each job ends once."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from accounts.access import space_transaction
from aiworker import jobs
from aiworker.fake.server import FakeProvider
from aiworker.jobs import job_create, job_run
from aiworker.models import AiUsage, Job, JobInput
from aiworker.work import Material
from api.timestamps import timestamp_parse
from config.celery import app
from memories.models import Memory
from tests.aiworker.conftest import canned, found
from tests.aiworker.workers import celery_worker, job_now, job_silent, kill, wait_for
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)

TRANSCRIPT = "\n".join(f"User: I have seen film number {n}." for n in range(1_800))
ASYNC = {"Prefer": "respond-async"}


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("ai")


def memories(people: People) -> list[str]:
    with space_transaction(people.access()):
        return sorted(Memory.objects.visible_to(people.access()).values_list("content", flat=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["extract", "compress"])
def test_goes_on_after_sigkill(people: People, provider: FakeProvider, kind: str) -> None:
    second, go_on = Event(), Event()

    def answer(name: str, data: dict[str, Any]) -> Any:
        if name == "save_summary":
            return {"summary": f"The user saw films, {len(provider.requests)}."}
        return {"memories": [found(data["segments"][0]["text"].removeprefix("User: "))]}

    def before_answer() -> None:
        if len(provider.requests) == 2:
            second.set()
            go_on.wait(60)

    provider.answer, provider.before_answer = answer, before_answer
    job_id = people.api().post(f"/v1/{kind}", {"transcript": TRANSCRIPT}, headers=ASYNC).json()["id"]
    env = {"OMP_AI_BASE_URL": provider.url, "OMP_AI_API_KEY": "sk-fake-ok"}

    with celery_worker("ai", **env) as process:
        wait_for(second.is_set, "the second part was asked for")
        kill(process)
    go_on.set()
    killed = job_now(people, job_id)
    assert (killed.status, killed.done, memories(people)) == ("running", 1, []), "nothing half saved"
    asked_before = len(provider.requests)

    job_silent(people, job_id)
    assert jobs.jobs_sweep() == 1
    with celery_worker("ai", **env):
        wait_for(lambda: job_now(people, job_id).status not in jobs.OPEN, "the job ended")

    done = job_now(people, job_id)
    assert (done.status, done.attempts, done.done == done.total) == ("succeeded", 2, True)
    parts = 3
    summing_up = 1 if kind == "compress" else 0
    assert len(provider.requests) - asked_before == parts - 1 + summing_up, "the first part's answer was kept"
    assert len(memories(people)) == (1 if kind == "compress" else parts)
    with space_transaction(people.access()):
        assert not JobInput.objects.visible_to(people.access()).exists()


@pytest.mark.parametrize("kind", ["extract", "compress"])
def test_killed_between_the_work_and_the_end_stores_nothing_twice(
    people: People, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    provider.answer = canned(
        {"save_memories": {"memories": [found("The user likes tea")]}, "save_summary": {"summary": "They like tea."}}
    )
    material = Material(
        transcript="User: I like tea.", date=timestamp_parse("2026-01-01T00:00:00Z"), tool="x", provider="anthropic"
    )
    job = job_create(access=people.access(), kind=kind, params={}, inputs=[material.pack()])
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "_end_attempt", _killed)
        with pytest.raises(KeyboardInterrupt):
            job_run(space_id=job.space_id, job_id=job.id)
    assert job_now(people, job.id).status == "running"
    assert len(memories(people)) == 1
    job_silent(people, job.id)

    job_run(space_id=job.space_id, job_id=job.id)

    done: Job = job_now(people, job.id)
    assert done.status == "succeeded"
    assert done.result is not None
    assert done.result.get("extracted", 1) == 1, "the result is that of the work that was done"
    assert len(memories(people)) == 1
    assert len(provider.requests) == 1
    with space_transaction(people.access()):
        assert AiUsage.objects.visible_to(people.access()).get().calls == 1


def _killed(*args: Any, **options: Any) -> None:
    raise KeyboardInterrupt
