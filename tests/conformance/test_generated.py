"""Thousands of requests made up from the OpenAPI document: no failure of ours, no answer outside the document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test
from pytest_django import Settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api.schema import document
from tests.factories import People

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
#: Made-up requests for each operation and kind (those that fit and those that do not), and steps of walks.
EXAMPLES, WALKS, STEPS = 50, 40, 12
QUIET = settings(
    max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate],
)  # fmt: skip

schema = schemathesis.openapi.from_dict(document())
OPERATIONS = {f"{result.ok().method.upper()} {result.ok().path}": result.ok() for result in schema.get_all_operations()}
#: Operations that take nothing, or next to nothing, have too few different requests.
PLAIN = {name for name in OPERATIONS if not OPERATIONS[name].query and "{" not in name and not OPERATIONS[name].body}
APPLICATION = get_wsgi_application()
BASE = "http://testserver"


@pytest.fixture(autouse=True)
def unhurried(settings: Settings) -> None:
    """Neither wait for a worker nor count requests."""
    settings.AI_WAIT_SECONDS = 0
    settings.RATE_LIMIT_ON = settings.QUOTAS_ON = False


@pytest.fixture
def headers(people: People) -> Iterator[dict[str, str]]:
    """Give the owner's credential; the end of a request leaves the test's connection open."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield {"Authorization": f"Bearer {people.keys['owner']}"}
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def sent(case: Case, headers: dict[str, str]) -> Any:
    """Send a made-up request to the service in this process and check the answer."""
    response = case.call(base_url=BASE, app=APPLICATION, headers=headers)
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
def test_every_answer_is_described(headers: dict[str, str], name: str, mode: GenerationMode) -> None:
    statuses: Counter[int] = Counter()

    @QUIET
    @given(case=OPERATIONS[name].as_strategy(generation_mode=mode))
    def ask(case: Case) -> None:
        statuses[sent(case, headers).status_code] += 1

    ask()
    assert name in PLAIN or statuses.total() >= EXAMPLES


@pytest.mark.slow
def test_walks_along_the_links_are_described(headers: dict[str, str]) -> None:
    class Walk(schema.as_state_machine()):  # type: ignore[misc]
        """Creates, reads, changes and deletes what earlier steps have made."""

        def call(self, case: Case, **options: Any) -> Any:
            return case.call(base_url=BASE, app=APPLICATION, headers=headers)

        def validate_response(self, response: Any, case: Case, **options: Any) -> None:
            case.validate_response(response, checks=CHECKS)

    run_state_machine_as_test(Walk, settings=settings(QUIET, max_examples=WALKS, stateful_step_count=STEPS))
