"""The form in which an operation is described."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel


@dataclass(frozen=True)
class Operation:
    """What one method of one address takes and answers.

    `answers` names for each status of success the shape of its body, None for no body. `example` is a body to send.
    Errors, scopes, headers and texts come from the view, links from the shapes of answers.
    """

    answers: Mapping[int, str | None]
    body: type[BaseModel] | None = None
    query: tuple[type[BaseModel], ...] = ()
    example: Any = None


def obj(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None, **extra: Any) -> dict[str, Any]:
    """Return the JSON schema of an object that holds these members and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
        **extra,
    }


def ref(name: str) -> dict[str, str]:
    """Return a reference to a shape."""
    return {"$ref": f"#/components/schemas/{name}"}


def listed(name: str, shape: str, example: Any, *, total: bool = False, cursor: bool = True) -> dict[str, Any]:
    """Return the schema of an answer whose only list is `name`, with the next page's cursor; `example` is an item."""
    members: dict[str, Any] = {name: {"type": "array", "items": ref(shape)}}
    shown: dict[str, Any] = {name: [example]}
    if total:
        members["total"], shown["total"] = COUNT, 1
    if cursor:
        members["next_cursor"], shown["next_cursor"] = OPTIONAL_TEXT, None
    return obj(members, examples=[shown])


TEXT = {"type": "string"}
OPTIONAL_TEXT = {"type": ["string", "null"]}
COUNT = {"type": "integer", "minimum": 0}
FLAG = {"type": "boolean"}
ANY: dict[str, Any] = {}
TIME = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$",
}
OPTIONAL_TIME = {"oneOf": [TIME, {"type": "null"}]}
OBJECT = {"type": "object"}
