"""The job framework: claims, progress, resumption, cancellation, lost work and dead letters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.access import Access, space_transaction
from accounts.models import Membership
from aiworker import jobs
from aiworker.jobaccess import access_load, access_save
from aiworker.jobinputs import job_inputs
from aiworker.jobruns import SILENT_SECONDS, JobStopped, Progress, job_run
from aiworker.jobs import Kind, job_create
from aiworker.models import Job, JobInput
from aiworker.sweeping import ENDED_KEPT, jobs_sweep
from aiworker.tasks import jobs_purge
from api.errors import AiError, Unauthorized
from apikeys.models import ApiKey
from config.celery import app
from tests.factories import People

pytestmark = pytest.mark.django_db(transaction=True)

CALLS: list[Any] = []


def echo(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Answer the size of the inputs."""
    size = sum(len(piece) for piece in job_inputs(access, job))
    progress.advance(size, size)
    return {"bytes": size, "actor": access.actor_name}


def interrupted(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Do ten steps; the first attempt dies after the fourth."""
    for step in range(job.done, 10):
        progress.check_cancelled()
        with space_transaction(access):
            CALLS.append(step)
            progress.advance(step + 1, 10, {"sum": job.params.get("state", {"sum": 0})["sum"] + step})
        if step == 3 and job.attempts == 1:
            raise KeyboardInterrupt  # as abrupt as a kill: nothing of the framework handles it
    return dict(job.params["state"])


def failing(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    raise RuntimeError("marker-of-memory-text")


def refused(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    raise AiError("The provider is overloaded.")


def cancelling(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    jobs.job_cancel(access=access, job_id=job.id)
    progress.sign_of_life()
    progress.check_cancelled()
    raise AssertionError("a cancelled job goes on")


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    CALLS.clear()
    for function in (echo, interrupted, failing, refused, cancelling):
        kind = Kind(f"{__name__}.{function.__name__}", "default", "import", attempts=3)
        monkeypatch.setitem(jobs.KINDS, function.__name__, kind)


@pytest.fixture(autouse=True)
def empty_queue() -> Iterator[None]:
    yield
    with app.connection_for_write() as connection:
        connection.default_channel.queue_purge("default")


def queued() -> int:
    with app.connection_for_read() as connection:
        return int(connection.default_channel.queue_declare("default", passive=False).message_count)


def make(people: People, kind: str, inputs: list[bytes] | None = None, by: str = "owner") -> Job:
    return job_create(access=people.access(by), kind=kind, params={"a": 1}, inputs=inputs or [])


def reread(people: People, job: Job) -> Job:
    access = Access.system(people.space.pk)
    with space_transaction(access):
        found: Job = Job.objects.visible_to(access).get(id=job.id)
    return found


def age(people: People, job: Job, **fields: Any) -> None:
    """Set columns of a job as if time had passed."""
    with space_transaction(people.access()):
        Job.objects.visible_to(people.access()).filter(id=job.id).update(**fields)


def run(job: Job) -> None:
    job_run(space_id=job.space_id, job_id=job.id)


def test_does_the_work_and_drops_the_inputs(people: People) -> None:
    job = make(people, "echo", [b"x" * 700_000] * 5)

    run(job)

    done = reread(people, job)
    assert (done.status, done.result) == ("succeeded", {"bytes": 3_500_000, "actor": "owner"})
    assert (done.done, done.total, done.params) == (3_500_000, 3_500_000, {"a": 1})
    with space_transaction(people.access()):
        assert not JobInput.objects.visible_to(people.access()).exists()


def test_sends_a_message_that_carries_ids_alone(people: People) -> None:
    job = make(people, "echo", [b"marker-of-memory-text"])

    with app.connection_for_read() as connection:
        message = connection.default_channel.basic_get("default", no_ack=True)
    args, kwargs, _ = message.decode()
    assert (args, kwargs) == ([], {"space_id": job.space_id, "job_id": job.id})


def test_goes_on_where_a_killed_worker_stopped(people: People) -> None:
    job = make(people, "interrupted")
    with pytest.raises(KeyboardInterrupt):
        run(job)
    run(job)
    assert reread(people, job).status == "running", "the dead worker's claim still stands"

    age(people, job, alive_at=timezone.now() - timedelta(seconds=SILENT_SECONDS + 1))
    run(job)

    done = reread(people, job)
    assert list(range(10)) == CALLS, "no step twice, none left out"
    assert (done.status, done.result, done.attempts) == ("succeeded", {"sum": 45}, 2)


def test_an_attempt_that_was_taken_over_writes_nothing(people: People) -> None:
    job = make(people, "echo")
    age(people, job, status="running", attempts=2, alive_at=timezone.now())
    stale = reread(people, job)
    stale.attempts = 1

    with pytest.raises(JobStopped):
        Progress(people.access(), stale).advance(5)

    assert reread(people, job).done == 0


def test_runs_once_however_often_the_message_comes(people: People) -> None:
    job = make(people, "echo")

    run(job)
    run(job)

    assert reread(people, job).attempts == 1


def test_repeats_what_failed_and_gives_up_after_the_last_attempt(
    people: People, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    job = make(people, "failing")
    for attempt in (1, 2):
        run(job)
        assert (reread(people, job).status, reread(people, job).attempts) == ("queued", attempt)
    run(job)

    dead = reread(people, job)
    assert dead.status == "failed"
    assert dead.error == {"error": "gave_up", "message": "It failed 3 times.", "details": {}}
    assert "marker-of-memory-text" not in caplog.text
    call_command("deadletters")
    assert f"{job.space_id}\t{job.id}\tfailing\t3\t" in capsys.readouterr().out


def test_gives_up_a_job_that_kills_its_workers(people: People) -> None:
    job = make(people, "echo")
    age(people, job, status="running", attempts=3, alive_at=timezone.now() - timedelta(hours=1))

    run(job)

    assert reread(people, job).error["message"] == "Its worker died 3 times."


def test_an_error_with_a_code_ends_the_job_with_it(people: People) -> None:
    job = make(people, "refused")

    run(job)

    assert reread(people, job).error == {"error": "ai_error", "message": "The provider is overloaded.", "details": {}}


def test_stops_when_cancelled(people: People) -> None:
    job = make(people, "cancelling")

    run(job)

    assert reread(people, job).status == "cancelled"


def test_refuses_a_key_that_was_revoked_meanwhile(people: People) -> None:
    job = make(people, "echo")
    ApiKey.objects.get(name="owner").revoke()

    run(job)

    assert reread(people, job).error["error"] == "unauthorized"


def test_refuses_a_key_whose_scope_was_taken_away(people: People) -> None:
    job = make(people, "echo")
    ApiKey.objects.filter(name="owner").update(scopes=["memories:read"])

    run(job)

    assert reread(people, job).error["error"] == "forbidden"


def test_the_access_is_as_wide_as_the_key_is_now(people: People) -> None:
    saved = access_save(people.access("tool"))
    assert access_load(saved).read_tools == {"claude", "cursor"}
    ApiKey.objects.filter(name="tool").update(read_tools=["claude"], quarantine=True)

    access = access_load(saved)

    assert access.read_tools == {"claude"}
    assert access.quarantine


def test_the_access_of_one_who_left_is_none(people: People) -> None:
    saved = access_save(people.access("member"))
    Membership.objects.filter(user=people.member).delete()

    with pytest.raises(Unauthorized):
        access_load(saved)


def test_the_sweep_sends_lost_messages_again(people: People) -> None:
    lost, fresh, silent = (make(people, "echo") for _ in range(3))
    hour_ago = timezone.now() - timedelta(hours=1)
    age(people, lost, created_at=hour_ago)
    age(people, silent, status="running", attempts=1, alive_at=hour_ago)
    before = queued()

    assert jobs_sweep() == 2

    assert queued() == before + 2
    assert reread(people, fresh).alive_at is None


def test_jobs_that_ended_long_ago_are_purged(people: People) -> None:
    old, recent = make(people, "echo"), make(people, "echo")
    run(old)
    run(recent)
    age(people, old, finished_at=timezone.now() - ENDED_KEPT - timedelta(minutes=1))

    jobs_purge()

    with space_transaction(people.access()):
        assert [job.id for job in Job.objects.visible_to(people.access())] == [recent.id]


def test_a_job_of_an_assistant_ends_with_its_grant(people: People) -> None:
    saved = access_save(replace(people.access("member"), actor_kind="grant", actor_id="4711"))

    with pytest.raises(Unauthorized):
        access_load(saved)


@pytest.mark.usefixtures("broken_broker")
def test_a_broker_that_is_away_loses_no_job(people: People) -> None:
    job = make(people, "echo")

    assert reread(people, job).status == "queued"


@pytest.fixture
def broken_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*args: Any, **options: Any) -> None:
        raise ConnectionRefusedError("nobody listens")

    monkeypatch.setattr(app, "send_task", away)
