"""GET /v1/openapi.json and /v1/docs."""

from __future__ import annotations

import re
from typing import Any

import jsonschema
import pytest
from django.urls import URLPattern

from api.openapi.links import LINKS
from api.openapi.narrowing import PARTS
from api.schema import HEADERS, LIMITS, OPERATIONS, SHAPES
from api.urls import urlpatterns
from api.views import ApiView
from tests.factories import Api, People, memory_body

METHODS = ("get", "post", "put", "patch", "delete")


@pytest.fixture
def document() -> dict[str, Any]:
    response = Api().get("/v1/openapi.json")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    found: dict[str, Any] = response.json()
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the operations of a document as {"GET /v1/me": ...}."""
    return {
        f"{method.upper()} {path}": item
        for path, methods in document["paths"].items()
        for method, item in methods.items()
        if method in METHODS
    }


def addresses() -> list[tuple[str, type[ApiView]]]:
    """Return each address of the API with its view."""
    found = []
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        view = getattr(pattern.callback, "view_class", None)
        if view is not None:
            found.append((re.sub(r"<\w+:(\w+)>", r"{\1}", f"/v1/{pattern.pattern}"), view))
    return found


@pytest.mark.parametrize(("path", "view"), addresses())
def test_describes_every_method_of_every_address(document: dict[str, Any], path: str, view: type[ApiView]) -> None:
    methods = {method.upper() for method in METHODS if hasattr(view, method)}

    assert {method.upper() for method in document["paths"][path]} & {m.upper() for m in METHODS} == methods
    for method in methods:
        assert f"{method} {path}" in OPERATIONS, "say in api/openapi what it takes and answers"


def test_describes_no_address_that_is_not_there(document: dict[str, Any]) -> None:
    assert set(OPERATIONS) <= set(operations(document))


def test_is_openapi_3_1_with_texts_and_errors(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    ids = [operation["operationId"] for operation in operations(document).values()]
    assert len(ids) == len(set(ids))
    for name, operation in operations(document).items():
        assert operation["summary"], name
        if name not in {"GET /v1/health", "GET /v1/openapi.json"}:
            assert {"401", "403", "422", "429"} <= set(operation["responses"]), name


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return found.union(*(references(inner) for inner in value.values()))
    return set().union(*(references(inner) for inner in value)) if isinstance(value, list) else set()


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    assert references(document) == {f"#/components/schemas/{name}" for name in names_used(document)}
    assert names_used(document) <= set(document["components"]["schemas"])


def names_used(document: dict[str, Any]) -> set[str]:
    return {reference.rpartition("/")[2] for reference in references(document)}


def fitting(document: dict[str, Any], content: dict[str, Any], where: str) -> None:
    """Check that JSON content has an example, and that its schema takes each one."""
    media = content["application/json"]
    assert media["examples"], f"give {where} an example"
    for example in media["examples"].values():
        whole = media["schema"] | {"components": document["components"]}
        jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(example["value"])


def test_every_body_has_an_example_that_fits(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        content = operation.get("requestBody", {"content": {}})["content"]
        assert content or "requestBody" not in operation, name
        if "application/json" in content:
            fitting(document, content, name)


def test_every_answer_has_an_example_that_fits(document: dict[str, Any]) -> None:
    for name, operation in operations(document).items():
        for status, answer in operation["responses"].items():
            if "application/json" in answer.get("content", {}):
                fitting(document, answer["content"], f"{status} of {name}")


@pytest.mark.parametrize("name", sorted(name for name, operation in OPERATIONS.items() if operation.body))
def test_the_service_takes_the_examples_of_bodies(name: str) -> None:
    model = OPERATIONS[name].body
    assert model is not None
    model.model_validate(OPERATIONS[name].example)


def test_describes_the_headers_of_answers(document: dict[str, Any], people: People) -> None:
    """What an answer carries is in the document, and what is in the document is carried by some answer."""
    api, key = people.api(), {"Idempotency-Key": "once"}
    answers = [
        ("GET /v1/memories", Api().get("/v1/memories")),
        ("GET /v1/memories", api.get("/v1/memories")),
        ("POST /v1/memories", api.post("/v1/memories", memory_body(), headers=key)),
        ("POST /v1/memories", api.post("/v1/memories", memory_body(), headers=key)),
        ("POST /v1/memories", api.post("/v1/memories", memory_body(content=""))),
        ("GET /v1/memories", api.get("/v1/memories", limit=1)),
        ("POST /v1/memories/batch", api.post("/v1/memories/batch", {"memories": [memory_body()] * 40})),
        ("POST /v1/memories/search", api.post("/v1/memories/search", {"q": "dark"})),
        ("POST /v1/memories/remember", api.post("/v1/memories/remember", {"text": "Prefers window seats"})),
        ("GET /v1/health", Api().get("/v1/health")),
    ]
    carried = {name for _, response in answers for name in response.headers if name in HEADERS}

    for name, response in answers:
        described = operations(document)[name]["responses"][str(response.status_code)]["headers"]
        assert {header for header in response.headers if header in HEADERS} <= set(described), name
    assert carried >= {"X-Request-Id", "ETag", "WWW-Authenticate", "X-Search-Pending", "Idempotency-Replayed", *LIMITS}


@pytest.mark.parametrize("shape", sorted(LINKS))
def test_links_lead_from_the_ids_in_answers_to_operations(document: dict[str, Any], shape: str) -> None:
    for target, pointers in LINKS[shape].values():
        assert target in operations(document)
        for name, pointer in pointers.items():
            found = SHAPES[shape]["examples"][0]
            for part in pointer.split("/")[1:]:
                found = found[int(part)] if part.isdigit() else found[part]
            jsonschema.validate(found, PARTS[name])


def test_the_page_loads_nothing_from_elsewhere(db: None) -> None:
    response = Api().get("/v1/docs")

    page = response.content.decode()
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "http://" not in page
    assert "https://" not in page
    assert re.findall(r"<script(?! src=)", page) == []
    assert "style=" not in page
