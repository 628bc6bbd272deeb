"""No space waits for another one's jobs."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.access import Access, space_transaction
from aiworker import jobs
from aiworker.fairness import turn_take
from aiworker.jobruns import Progress, job_run
from aiworker.jobs import Kind, job_create
from aiworker.models import Job
from embedded.programs import jobs as jobs_worker
from embedded.programs import worker
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)

DONE: list[tuple[int, str]] = []


def note(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    DONE.append((job.space_id, job.params["name"]))
    return {}


def nested(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Take another turn while this job runs, as a second worker would."""
    DONE.append((job.space_id, job.params["name"]))
    if job.params.get("message"):
        turn_take(**job.params["message"])
    return {}


@pytest.fixture(autouse=True)
def messages(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Have the messages in a list, in the order in which a queue would give them."""
    DONE.clear()
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr("aiworker.queue.app.send_task", lambda name, *, kwargs, **options: sent.append(kwargs))
    for function in (note, nested):
        monkeypatch.setitem(jobs.KINDS, function.__name__, Kind(f"{__name__}.{function.__name__}", "ai", "ai"))
    return sent


def make(people: People, by: str, name: str, kind: str = "note", **params: Any) -> Job:
    return job_create(access=people.access(by), kind=kind, params={"name": name} | params)


def test_jobs_hold_no_slot_of_the_worker_that_embeds() -> None:
    """However long another space's import takes, an embedding finds a free worker."""
    embeds, does_jobs = (set(words[words.index("--queues") + 1].split(",")) for words in (worker(), jobs_worker()))

    assert {kind.queue for kind in jobs.KINDS.values()} == does_jobs
    assert "embed" in embeds
    assert not embeds & does_jobs


def test_a_long_import_takes_one_turn_of_its_space(people: People, messages: list[dict[str, Any]]) -> None:
    """An import of any length is one job: behind two of them another space's comes second, not third."""
    for name in ("long 1", "long 2"):
        make(people, "owner", name)
    make(people, "outsider", "short")

    for message in list(messages):
        turn_take(**message)

    assert [name for _, name in DONE].index("short") <= 1


def test_spaces_take_turns_with_one_worker(people: People, messages: list[dict[str, Any]]) -> None:
    for n in range(50):
        make(people, "owner", f"many {n}")
    make(people, "outsider", "single")
    make(people, "outsider", "second")

    for message in list(messages):
        turn_take(**message)

    order = [name for _, name in DONE]
    assert {"single", "second"} <= set(order[:4])
    assert len(order) == 52 == len(set(order)), "each job once"


def test_a_space_with_a_running_job_comes_after_one_without(people: People, messages: list[dict[str, Any]]) -> None:
    make(people, "outsider", "waiting 1")
    make(people, "outsider", "waiting 2")
    make(people, "owner", "other")
    first = messages[0]
    with_turn = make(people, "outsider", "running", "nested", message=first)

    job_run(space_id=with_turn.space_id, job_id=with_turn.id)

    assert [name for _, name in DONE] == ["running", "other"]


def test_a_job_taken_up_again_is_the_messages_own(people: People, messages: list[dict[str, Any]]) -> None:
    lost = make(people, "owner", "lost")
    make(people, "outsider", "fresh")
    access = Access.system(people.space.pk)
    with space_transaction(access):
        Job.objects.visible_to(access).update(status="running", attempts=1, created_at="2020-01-01T00:00:00Z")

    turn_take(space_id=lost.space_id, job_id=lost.id)

    assert [name for _, name in DONE] == ["lost"]


def test_a_message_too_many_does_nothing(people: People, messages: list[dict[str, Any]]) -> None:
    make(people, "owner", "only")

    turn_take(**messages[0])
    turn_take(**messages[0])

    assert [name for _, name in DONE] == ["only"]
