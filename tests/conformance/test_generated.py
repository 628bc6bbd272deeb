"""Thousands of requests made up from the OpenAPI document: no failure of ours, no answer outside the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any
from unittest import mock
from zlib import crc32

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test
from pytest_django import DjangoDbBlocker
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.generation.stateful.state_machine import StepInput, StepOutput
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from accounts.permissions import FULL_SCOPES
from api.schema import document
from tests.actions.queue import proposal
from tests.clock import MovedClock, clock_stopped
from tests.factories import Api, key_create, memory_body, people_create

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
#: Made-up requests for each operation and kind (those that fit and those that do not), and steps of walks.
EXAMPLES, WALKS, STEPS = 46, 80, 15
QUIET = settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip

schema = schemathesis.openapi.from_dict(document())
OPERATIONS = {f"{result.ok().method.upper()} {result.ok().path}": result.ok() for result in schema.get_all_operations()}
#: Operations that take nothing, or next to nothing, have too few different requests.
PLAIN = {name for name in OPERATIONS if not OPERATIONS[name].query and "{" not in name and not OPERATIONS[name].body}
#: Of the requests that fit and aim at what is there, the least share that succeeds; what the document cannot say
#: refuses the others.
SHARE = 0.5
LEAST_SHARE = {
    "POST /v1/dreams": 0.0,  # one is at work already
    "POST /v1/dreams/{run_id}/cancel": 0.25,  # of two dreams one is over
    "POST /v1/dreams/{run_id}/submit": 0.25,
    "POST /v1/dreams/{run_id}/undo": 0.25,
    "POST /v1/space/import": 0.0,  # nobody makes up an archive
}
#: What makes up the life of a memory, and families of addresses: walks succeed with each of the first, and twice as
#: often with each of the second.
ONE = "/v1/memories/{memory_id}"
LIFE = {
    "POST /v1/memories", "POST /v1/memories/search", f"GET {ONE}", f"PUT {ONE}", f"DELETE {ONE}", f"GET {ONE}/history",
    f"GET {ONE}/similar",
}  # fmt: skip
FAMILIES = ("journal", "records", "kv", "actions", "conversations", "jobs", "dreams", "extract")
EACH = 2
APPLICATION = get_wsgi_application()
BASE = "http://testserver"


@dataclass(frozen=True)
class World:
    """A space with rows of every kind, and two keys for all that can be done: none both proposes and decides."""

    proposer: str
    decider: str
    rows: list[dict[str, str]]  # what is there, by the name that it has in addresses
    clock: MovedClock
    random: Random  # of which new ids are made


def rows_make(api: Api, proposer: Api, clock: MovedClock) -> list[dict[str, str]]:
    """Return two rows of each kind, made by requests: one dream is over, the other is at work."""

    def made(path: str, body: Any, method: str = "POST") -> dict[str, Any]:
        response = api.call(method, f"/v1/{path}", body)
        assert response.status_code in {200, 201, 202}, (path, response.content)
        found: dict[str, Any] = response.json()
        return found

    old = [made("memories/remember", {"text": f"Plain fact {n}"})["id"] for n in range(3)]
    clock.forward(hours=25)
    changes: list[dict[str, Any]] = [{"op": "update", "id": old[0], "text": "The plain fact 0"}]
    changes += [{"op": "suggest", "kind": "core", "ids": [id], "text": "It always matters"} for id in old[1:]]
    runs = []
    for _ in range(2):
        runs.append(made("dreams", {})["id"])
        assert made("dreams/next-job", {})["job"]["run_id"] == runs[-1]
        if len(runs) == 1:
            made(f"dreams/{runs[0]}/submit", {"result": {"changes": changes}})
    suggestions = api.get("/v1/dreams/suggestions").json()["suggestions"]
    rows = []
    for n in range(2):
        memory = made("memories", memory_body(content=f"Fact {n}"))["id"]
        made(f"memories/{memory}", {"content": f"Fact {n}, said better"}, "PUT")
        talk = {"model": "m", "messages": [{"role": "user", "content": f"Hello {n}"}]}
        record = made("records/tasks", {"data": {"n": n}})
        action = proposer.post("/v1/actions", proposal(idempotency_key=f"mail-{n}")).json()["id"]
        if n:
            made(f"actions/{action}/transition", {"from": "pending", "to": "approved"})
        made(f"kv/app/key-{n}", {"value": n}, "PUT")
        made(f"journal/day/2026-06-0{n + 1}", {"summary": f"Day {n}"}, "PUT")
        rows.append(
            {
                "memory_id": memory, "kind": "day", "date": f"2026-06-0{n + 1}", "collection": "tasks",
                "id": record["id"], "ns": "app", "key": f"key-{n}", "action_id": action,
                "conversation_id": made("conversations", talk)["id"], "run_id": runs[n],
                "job_id": made("extract", {"transcript": f"Hello {n}"})["id"], "suggestion_id": suggestions[n]["id"],
            }
        )  # fmt: skip
    return rows


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """Give a space that all tests here begin with; what they do to it is undone.

    Nobody waits for a worker and no requests are counted; the end of a request leaves the connection open.
    """
    with ExitStack() as stack:
        stack.enter_context(django_db_blocker.unblock())
        stack.enter_context(
            override_settings(AI_WAIT_SECONDS=0, AI_API_KEY="sk-none", RATE_LIMIT_ON=False, QUOTAS_ON=False)
        )
        clock, random = stack.enter_context(clock_stopped()), Random(0)
        stack.enter_context(mock.patch("secrets.choice", random.choice))
        stack.enter_context(undone())
        people = people_create()
        decider = key_create(people.space, people.owner, scopes=FULL_SCOPES - {"actions:propose"} | {"actions:decide"})
        rows = rows_make(Api(decider), people.api(), clock)  # whose client connects the signals again
        for signal in (request_started, request_finished):
            signal.disconnect(close_old_connections)
            stack.callback(signal.connect, close_old_connections)
        yield World(people.keys["owner"], decider, rows, clock, random)


@contextmanager
def undone() -> Iterator[None]:
    """Undo what a block does to the database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def aim(case: Case, row: dict[str, str], *, plain: bool) -> None:
    """Have a request ask for a row that is there, whatever version it is at; `plain`, without filters either."""
    case.path_parameters = {name: row[name] for name in case.path_parameters or {}}
    case.headers.pop("If-Match", None)
    case.query.pop("cursor", None)
    if "confirm" in case.query:
        case.query["confirm"] = "Team"
    elif plain:
        case.query = {}
    if isinstance(case.body, dict) and isinstance(case.body.get("conversation_id"), str):
        case.body["conversation_id"] = row["conversation_id"]


def roll(case: Case) -> int:
    """Return one of 0 to 9 by what a request holds: hypothesis draws the same numbers over and over."""
    body = case.body if case.operation.body else None  # else an object whose text is not the same in two runs
    return crc32(repr((case.path_parameters, case.query, dict(case.headers), body)).encode()) % 10


def called(case: Case, world: World) -> Any:
    """Send a made-up request to the service in this process."""
    key = world.proposer if case.operation.label == "POST /v1/actions" else world.decider
    return case.call(base_url=BASE, app=APPLICATION, headers={"Authorization": f"Bearer {key}"})


def sent(case: Case, world: World) -> Any:
    """Send a made-up request and check the answer."""
    response = called(case, world)
    case.validate_response(response, checks=CHECKS)
    return response


def test_there_are_thousands() -> None:
    assert (len(OPERATIONS) - len(PLAIN)) * 2 * EXAMPLES >= 5_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"),
    [
        (name, mode)
        for name in sorted(OPERATIONS)
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE)
        if name not in PLAIN or mode is GenerationMode.POSITIVE
    ],
)
def test_every_answer_is_described(world: World, name: str, mode: GenerationMode) -> None:
    """Each request finds the space as it was at first; of ten, eight aim at what is there."""
    aimed: Counter[int] = Counter()
    astray: Counter[int] = Counter()

    @QUIET
    @given(case=OPERATIONS[name].as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        at = roll(case)
        if at < 8:
            aim(case, world.rows[at % 2], plain=at < 4 and mode is GenerationMode.POSITIVE)
        with undone():
            (aimed if at < 8 else astray)[sent(case, world).status_code] += 1

    ask()
    assert name in PLAIN or aimed.total() + astray.total() >= EXAMPLES
    if mode is GenerationMode.POSITIVE:
        assert share(aimed) >= LEAST_SHARE.get(name, SHARE), aimed


def share(statuses: Counter[int]) -> float:
    """Return which part of the answers are successes."""
    return sum(number for status, number in statuses.items() if status < 400) / statuses.total()


@pytest.mark.slow
def test_walks_along_the_links_are_described(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each walk begins with the same rows and goes on by what answers hold; steps of all kinds succeed."""
    succeeded: Counter[str] = Counter()
    asked: Counter[str] = Counter()

    start = world.clock.at
    stateful = "schemathesis.specs.openapi.stateful"
    # A link is always followed: at random, hypothesis would see one step go two ways.
    monkeypatch.setattr(f"{stateful}.BASE_EXPLORATION_RATE", 0)
    # A walk begins anywhere, since there are rows; the guess at what needs others leaves out POST /v1/memories.
    monkeypatch.setattr(f"{stateful}.is_likely_root_transition", lambda *_: True)

    def successes(family: str) -> int:
        return sum(number for name, number in succeeded.items() if f"/v1/{family}" in name)

    class Walk(schema.as_state_machine()):  # type: ignore[misc]
        """Creates, reads, changes and deletes what is there and what earlier steps have made."""

        def setup(self) -> None:
            self.taken = 0
            self.space = ExitStack()
            self.space.enter_context(undone())
            self.space.callback(setattr, world.clock, "at", start)
            world.random.seed(1)

        def teardown(self) -> None:
            self.space.close()
            super().teardown()

        def step(self, input: StepInput) -> StepOutput:
            self.taken += 1
            world.clock.forward(seconds=1)
            row = world.rows[self.taken % 2]
            if input.transition is not None:
                row = row | (input.case.path_parameters or {})
            aim(input.case, row, plain=self.taken % 2 == 1)
            return super().step(input)

        def call(self, case: Case, **options: Any) -> Any:
            return called(case, world)

        def validate_response(self, response: Any, case: Case, **options: Any) -> None:
            case.validate_response(response, checks=CHECKS)
            asked[case.operation.label] += 1
            if response.status_code < 300:
                succeeded[case.operation.label] += 1

    run_state_machine_as_test(Walk, settings=settings(QUIET, max_examples=WALKS, stateful_step_count=STEPS))
    assert asked.total() >= STEPS * WALKS * 2 / 3
    assert succeeded.total() >= asked.total() / 2
    few = {name: succeeded[name] for name in LIFE if succeeded[name] < EACH}
    few |= {family: count for family in FAMILIES if (count := successes(family)) < EACH * 2}
    assert not few, asked
