"""A worker killed in the middle of AI work: the next one goes on, and each job ends once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from threading import Event
from typing import Any

import pytest

from accounts.access import space_transaction
from aiworker import jobruns, jobs, sweeping
from aiworker.fake.server import FakeProvider
from aiworker.jobruns import job_run
from aiworker.jobs import job_create
from aiworker.models import AiUsage, Job, JobInput
from aiworker.work import Material
from api.timestamps import timestamp_parse
from config.celery import app
from memories.models import Memory
from tests.aiworker.conftest import canned, found
from tests.aiworker.workers import celery_worker, job_now, job_silent, kill, wait_for
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)

ASYNC = {"Prefer": "respond-async"}
PARTS = 3  # of each job, the second of which is under way when the worker is killed


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("ai")


def memories(people: People) -> list[str]:
    with space_transaction(people.access()):
        return sorted(Memory.objects.visible_to(people.access()).values_list("content", flat=True))


def begun(people: People) -> dict[str, str]:
    """Queue a job of each kind, with PARTS parts each, and return their ids."""
    api = people.api()
    for n in range(PARTS):
        messages = [{"role": "user", "content": f"I have heard record number {n}."}]
        api.post("/v1/conversations", {"model": "chatgpt", "messages": messages})
    films, books = (
        "\n".join(f"User: I have {done} number {n}." for n in range(1_800)) for done in ("seen film", "read book")
    )
    answers = {
        "extract": api.post("/v1/extract", {"transcript": films}, headers=ASYNC),
        "compress": api.post("/v1/compress", {"transcript": books}, headers=ASYNC),
        "extract_many": api.post("/v1/conversations/extract", {"dry_run": False}),
    }
    return {kind: answer.json()["id"] for kind, answer in answers.items()}


def kind_of(data: dict[str, Any]) -> str:
    """Return which of the jobs has asked the provider."""
    text = str(data)
    return "extract" if "film" in text else "extract_many" if "record" in text else "compress"


@pytest.mark.slow
def test_every_kind_of_job_goes_on_after_sigkill_and_ends_once(people: People, provider: FakeProvider) -> None:
    asked: Counter[str] = Counter()
    in_second, go_on = {kind: Event() for kind in ("extract", "compress", "extract_many")}, Event()

    def answer(name: str, data: dict[str, Any]) -> Any:
        kind = kind_of(data)
        asked[kind] += 1
        if asked[kind] == 2:
            in_second[kind].set()
            go_on.wait(60)
        if name == "save_summary":
            return {"summary": f"The user read books, {asked[kind]}."}
        return {"memories": [found(data["segments"][0]["text"].removeprefix("User: "))]}

    provider.answer = answer
    jobs_begun = begun(people)
    env = {"OMP_AI_BASE_URL": provider.url, "OMP_AI_API_KEY": "sk-fake-ok"}
    with celery_worker("ai", slots=3, **env) as process:
        for kind, second in in_second.items():
            wait_for(second.is_set, f"{kind} asked for its second part")
        kill(process)
    go_on.set()
    killed = {kind: job_now(people, job_id) for kind, job_id in jobs_begun.items()}
    assert {kind: (job.status, job.done) for kind, job in killed.items()} == dict.fromkeys(in_second, ("running", 1))
    assert len(memories(people)) == 1, "that of the first conversation; of a transcript nothing is saved by halves"
    before = Counter(asked)

    for job_id in jobs_begun.values():
        job_silent(people, job_id)
    assert sweeping.jobs_sweep() == 3
    with celery_worker("ai", slots=3, **env):
        wait_for(
            lambda: not {job_now(people, job_id).status for job_id in jobs_begun.values()} & {*jobs.OPEN},
            "the jobs ended",
        )

    for job_id in jobs_begun.values():
        done = job_now(people, job_id)
        assert (done.status, done.attempts, done.done == done.total) == ("succeeded", 2, True)
    # What was answered before is not asked again; compressing sums up at the end.
    assert asked - before == Counter(extract=PARTS - 1, compress=PARTS - 1 + 1, extract_many=PARTS - 1)
    assert len(memories(people)) == PARTS + 1 + PARTS
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
        patch.setattr(jobruns, "_end_attempt", _killed)
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
