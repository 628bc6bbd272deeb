"""A client that holds every answer against the OpenAPI document."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker

from api.schema import document
from tests.factories import ABSENT, Api, People


@cache
def routes() -> list[tuple[re.Pattern[str], str]]:
    """Return each address of the document as a pattern, those without parameters first."""
    paths = sorted(document()["paths"], key=lambda path: (path.count("{"), path))
    return [(re.compile(re.sub(r"{(\w+)}", r"[^/]+", path)), path) for path in paths]


@cache
def validator(path: str, method: str, status: str, media_type: str) -> Draft202012Validator | None:
    """Return the validator of one answer, None when it must have no body; fails for an answer not described."""
    responses = document()["paths"][path][method]["responses"]
    assert status in responses, f"{method} {path} answers {status}, which the document does not know"
    content = responses[status].get("content")
    if content is None:
        return None
    assert media_type in content, f"{method} {path} answers {media_type}"
    schema = content[media_type]["schema"] | {"components": document()["components"]}
    return Draft202012Validator(schema, format_checker=FormatChecker())


def answer_check(method: str, url: str, response: Any) -> None:
    """Fail unless the document describes this answer: status, type, body, headers."""
    path = urlsplit(url).path
    template = next((template for pattern, template in routes() if pattern.fullmatch(path)), None)
    assert response.headers["X-Request-Id"], "every answer names its request"
    if template is None or method.lower() not in document()["paths"][template]:
        assert response.status_code in {401, 404, 405}
        assert set(response.json()) == {"error", "message", "details"}
        return
    media_type = response.headers.get("Content-Type", "").partition(";")[0]
    found = validator(template, method.lower(), str(response.status_code), media_type)
    body = b"".join(response.streaming_content) if response.streaming else response.content
    if found is None:
        assert body == b""
    elif media_type == "application/json":
        found.validate(json.loads(body))
    if response.streaming:
        response.streaming_content = [body]


@dataclass(frozen=True)
class CheckedApi(Api):
    """The API of one key; each answer is checked."""

    def call(self, method: str, path: str, body: Any = ABSENT, **options: Any) -> Any:
        """Return the response to one request."""
        response = super().call(method, path, body, **options)
        if method not in {"HEAD", "OPTIONS"}:
            answer_check(method, path, response)
        return response


def checked(people: People, kind: str = "owner") -> CheckedApi:
    """Return the API as the holder of that kind of key calls it, every answer checked."""
    return CheckedApi(people.keys[kind])
