"""The periodic tasks: each is on the schedule, visits every space, and removes what is over and nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from accounts.access import space_set
from accounts.models import Space
from api.models import IdempotentRequest
from api.tasks import purge as answers_purge
from config.celery import app
from events.models import Event
from events.tasks import purge as events_purge
from memories.models import ForgetPreview, Memory
from memories.tasks import purge as memories_purge
from tests.clock import MovedClock
from tests.factories import People


@pytest.mark.parametrize("entry", settings.CELERY_BEAT_SCHEDULE.values(), ids=lambda entry: str(entry["task"]))
def test_every_scheduled_task_exists(entry: dict[str, str]) -> None:
    app.loader.import_default_modules()
    assert entry["task"] in app.tasks


@pytest.mark.parametrize(
    "name", ["memories.purge", "actions.expire", "dreams.reap", "dreams.purge", "events.purge", "api.purge"]
)
def test_the_agent_states_tasks_are_scheduled(name: str) -> None:
    assert name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}


def test_expired_memories_of_every_space_go(people: People, clock: MovedClock) -> None:
    for kind in ("owner", "outsider"):
        people.api(kind).post("/v1/memories/remember", {"text": "scratch", "tier": "scratch"})
        people.api(kind).post("/v1/memories/forget", {"query": "scratch", "dry_run": True})
    clock.forward(days=14, seconds=1)
    memories_purge()
    for space in (people.space, people.other):
        space_set(space.pk)
        assert not Memory.objects.filter(space=space).exists()
        assert not ForgetPreview.objects.filter(space=space).exists()


def test_events_go_after_the_days_that_the_space_keeps_them(people: People, clock: MovedClock) -> None:
    Space.objects.filter(pk=people.space.pk).update(events_kept_days=10)
    people.api().get("/v1/memories")
    space_set(people.space.pk)
    count = Event.objects.filter(space=people.space).count()
    clock.forward(days=9, hours=23)
    events_purge()
    space_set(people.space.pk)
    assert Event.objects.filter(space=people.space).count() == count
    clock.forward(hours=2)
    events_purge()
    space_set(people.space.pk)
    assert not Event.objects.filter(space=people.space).exists()
    space_set(people.other.pk)
    assert Event.objects.filter(space=people.other).exists()


def test_stored_answers_go_after_a_day(people: People, clock: MovedClock) -> None:
    headers = {"Idempotency-Key": "one"}
    people.api().post("/v1/memories/remember", {"text": "x"}, headers=headers)
    clock.forward(hours=settings.IDEMPOTENCY_HOURS, minutes=-1)
    answers_purge()
    space_set(people.space.pk)
    assert IdempotentRequest.objects.filter(space=people.space).count() == 1
    clock.at += timedelta(minutes=2)
    answers_purge()
    space_set(people.space.pk)
    assert not IdempotentRequest.objects.filter(space=people.space).exists()
