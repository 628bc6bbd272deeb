"""What holds for every address, those of tomorrow included."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.access import space_set
from accounts.permissions import SCOPES
from aiworker import jobs
from aiworker.jobs import Kind, job_create
from api.schema import OPERATIONS
from dreams.models import DreamRun, DreamSuggestion
from tests.factories import Api, People, key_create
from tests.policy.walk import API_ROUTES, EACH, IDS, Route, routes

#: Addresses that answer without a credential, each with its reason.
OPEN = {
    "health": "clients ask before they have a key (OMP 0.1, section 3.3)",
    "openapi": "the description holds nothing of anybody",
    "docs": "the page shows the description",
}
#: Addresses that any valid key may call: they guard themselves more finely than by one scope.
UNSCOPED = {
    "GET /v1/me": "a key may always ask what it may",
    "GET /v1/jobs/{job_id}": "who asked for a job sees it",
    "POST /v1/jobs/{job_id}/cancel": "the kind of the job names the scope",
    "GET /v1/actions": "any actions scope reads the queue",
    "GET /v1/actions/{action_id}": "any actions scope reads the queue",
    "POST /v1/actions/{action_id}/transition": "the move decides",
    "GET /v1/context": "each section needs its own scope",
    "POST /v1/memories/forget": "each kind of thing needs its own scope",
    "GET /v1/dreams": "dreams or actions:decide reads them",
    "POST /v1/dreams": "dreams or actions:decide starts one",
    "GET /v1/dreams/{run_id}": "dreams or actions:decide reads it",
    "POST /v1/dreams/{run_id}/undo": "the owner's",
    "POST /v1/dreams/{run_id}/cancel": "the owner's, or that of the key which has the job",
    "GET /v1/dreams/suggestions": "dreams or actions:decide reads them",
    "POST /v1/dreams/suggestions/{suggestion_id}": "the owner's",
}


@pytest.mark.parametrize("route", routes(), ids=lambda route: route.path)
def test_stands_on_the_base_view_or_on_the_list(route: Route) -> None:
    assert (route.view is None) == (route.name in OPEN)


@pytest.mark.parametrize(("route", "method"), EACH, ids=IDS)
def test_names_a_scope_that_exists(route: Route, method: str) -> None:
    assert route.view is not None
    scope = route.view.scopes.get(method, "missing")

    assert scope in SCOPES or (scope is None and f"{method} {route.path}" in UNSCOPED)


@pytest.mark.parametrize(("route", "method"), [pair for pair in EACH if pair[1] == "POST"], ids=lambda v: str(v)[:60])
def test_every_post_is_idempotent(route: Route, method: str) -> None:
    handler = getattr(route.view, "post", None)

    assert getattr(inspect.unwrap(handler, stop=lambda f: hasattr(f, "idempotent")), "idempotent", False)


@pytest.mark.parametrize("route", API_ROUTES, ids=lambda route: route.path)
def test_takes_the_query_parameters_that_are_described(route: Route) -> None:
    assert route.view is not None
    described = {
        field.alias or name
        for method in route.methods
        for model in OPERATIONS[f"{method} {route.path}"].query
        for name, field in model.model_fields.items()
    }

    assert set(route.view.query_params) == described


@pytest.mark.django_db
@pytest.mark.parametrize(("route", "method"), EACH, ids=IDS)
def test_answers_401_without_a_key_and_403_without_the_scope(people: People, route: Route, method: str) -> None:
    assert route.view is not None
    scope = route.view.scopes[method]
    other = next(name for name in SCOPES if name != scope)
    powerless = Api(key_create(people.space, people.owner, scopes={other}))
    url, body = route.address({}), ({},) if method in {"POST", "PUT", "PATCH"} else ()

    assert Api().call(method, url, *body).status_code == 401
    assert people.api("revoked").call(method, url, *body).status_code == 401
    assert people.api("expired").call(method, url, *body).status_code == 401
    if scope is not None:
        refused = powerless.call(method, url, *body)
        assert (refused.status_code, refused.json()["details"]) == (403, {"scope": scope})


@pytest.mark.django_db
@pytest.mark.parametrize("route", API_ROUTES, ids=lambda route: route.path)
def test_answers_options_without_a_key_and_refuses_other_methods(people: People, route: Route) -> None:
    url = route.address({})
    options = Api().call("OPTIONS", url)
    allowed = {part.strip() for part in options.headers["Allow"].split(",")}

    assert options.status_code == 204
    assert set(route.methods) <= allowed
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE"} - allowed:
        refused = people.api().call(method, url)
        assert (refused.status_code, refused.json()["error"]) == (405, "method_not_allowed")


@pytest.mark.django_db
@pytest.mark.parametrize(("route", "method"), [pair for pair in EACH if pair[1] == "GET"], ids=lambda v: str(v)[:60])
def test_refuses_an_unknown_query_parameter(people: People, route: Route, method: str) -> None:
    response = people.api().get(route.address({}), surprise="1")

    assert response.status_code == 422
    assert list(response.json()["details"]["fields"]) == ["surprise"]


# Every object of the owner's space, asked for by the outsider.

Names = dict[str, str]


def a_memory(people: People) -> Names:
    return {"memory_id": people.api().created()["id"]}


def a_job(people: People) -> Names:
    return {"job_id": job_create(access=people.access(), kind="policy", params={}).id}


def a_conversation(people: People) -> Names:
    body = {"model": "claude", "messages": [{"role": "user", "content": "Hello"}]}
    return {"conversation_id": people.api().post("/v1/conversations", body).json()["id"]}


def a_journal_entry(people: People) -> Names:
    made = people.api().put("/v1/journal/day/2026-01-02", {"summary": "A day"})
    assert made.status_code == 201, made.content
    return {"kind": "day", "date": "2026-01-02"}


def a_record(people: People) -> Names:
    made = people.api().post("/v1/records/tasks", {"data": {"title": "Secret"}})
    assert made.status_code == 201, made.content
    return {"collection": "tasks", "id": made.json()["id"]}


def a_value(people: People) -> Names:
    made = people.api().put("/v1/kv/state/secret", {"value": 1})
    assert made.status_code == 201, made.content
    return {"ns": "state", "key": "secret"}


def an_action(people: People) -> Names:
    made = people.api().post(
        "/v1/actions", {"class": "email.send", "summary": "Send", "payload": {}, "idempotency_key": "a"}
    )
    assert made.status_code == 201, made.content
    return {"action_id": made.json()["id"]}


def a_dream(people: People) -> Names:
    space_set(people.space.pk)
    run = DreamRun.objects.create(space_id=people.space.pk, created_at=timezone.now())
    return {"run_id": run.id}


def a_suggestion(people: People) -> Names:
    suggestion = DreamSuggestion.objects.create(
        space_id=people.space.pk, run_id=a_dream(people)["run_id"], kind="core", memory_ids=[MISSING["memory_id"]],
        text="Secret", created_at=timezone.now(),
    )  # fmt: skip
    return {"suggestion_id": suggestion.id}


MAKERS: dict[frozenset[str], Callable[[People], Names]] = {
    frozenset({"memory_id"}): a_memory,
    frozenset({"job_id"}): a_job,
    frozenset({"conversation_id"}): a_conversation,
    frozenset({"kind", "date"}): a_journal_entry,
    frozenset({"collection"}): a_record,
    frozenset({"collection", "id"}): a_record,
    frozenset({"ns"}): a_value,
    frozenset({"ns", "key"}): a_value,
    frozenset({"action_id"}): an_action,
    frozenset({"run_id"}): a_dream,
    frozenset({"suggestion_id"}): a_suggestion,
}
MISSING = {
    "memory_id": "mem_0000000000000000", "job_id": "job_0000000000000000", "conversation_id": "conv_000000000000",
    "kind": "day", "date": "1999-01-02", "collection": "nothing", "id": "rec_0000000000000000", "ns": "nowhere",
    "key": "nothing", "action_id": "A999", "run_id": "dream_0000000000000000",
    "suggestion_id": "sug_0000000000000000",
}  # fmt: skip
BODIES: dict[str, Any] = {
    "POST /v1/actions/{action_id}/transition": {"from": "pending", "to": "withdrawn"},
    "PATCH /v1/records/{collection}/{id}": {"data": {"title": "Stolen"}},
}
DETAILS = [pair for pair in EACH if pair[0].parameters]


@pytest.fixture
def makeable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(jobs.KINDS, "policy", Kind("nowhere", "import", "import"))


@pytest.mark.django_db
@pytest.mark.usefixtures("makeable")
@pytest.mark.parametrize(("route", "method"), DETAILS, ids=[f"{method} {route.path}" for route, method in DETAILS])
def test_an_outsider_cannot_tell_what_exists(people: People, route: Route, method: str) -> None:
    assert frozenset(route.parameters) in MAKERS, "say here how to make what this address shows"
    there = MAKERS[frozenset(route.parameters)](people)
    operation = f"{method} {route.path}"
    body = BODIES.get(operation, OPERATIONS[operation].example or {})
    sent = (body,) if method in {"POST", "PUT", "PATCH"} else ()

    def asked(names: Names) -> tuple[int, str]:
        response = people.api("outsider").call(method, route.address(names), *sent)
        # What the outsider writes under such a name becomes an object of their own space.
        text = response.content.decode() if response.status_code >= 400 or method == "GET" else ""
        for name in route.parameters:
            text = text.replace(f'"{names[name]}"', f'"<{name}>"')
        return response.status_code, text

    seen, missing = asked(there), asked(MISSING)

    assert seen == missing
    if method in {"GET", "DELETE"}:
        assert seen[0] == 404 or (seen[0] == 200 and route.name in {"records", "namespace"})
    if "GET" in route.methods:
        assert people.api().get(route.address(there)).status_code == 200, "the owner's own is untouched"
