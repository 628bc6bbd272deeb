"""Shared parts of request models: strict pydantic types that say in words what is wrong with a value."""

import json
import re
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler, ValidationError, WithJsonSchema
from pydantic_core import core_schema

from api.errors import Invalid, PayloadTooLarge
from api.text import text_blank, text_clean, text_problem
from api.timestamps import timestamp_parse

ModelT = TypeVar("ModelT", bound=BaseModel)
MAX_NUMBER_BITS = 1024  # beyond this a JSON number is no longer read alike by any two readers
MAX_DEPTH = 32
WRITTEN_OUT = 1e16  # from here on Python writes a float with an exponent


class Body(BaseModel):
    """Base of request bodies: strict types, unknown keys ignored (a later version may add fields)."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class ClosedBody(Body):
    """Base of request bodies in which an unknown key is an error: filters and tool arguments."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Annotation:
    """Base of annotations that check a value after pydantic has checked its type, and describe it in JSON Schema."""

    json_schema: dict[str, Any]

    def check(self, value: Any) -> Any:
        """Return the value to keep. Raises ValueError with a sentence for the client."""
        raise NotImplementedError

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        return self.json_schema


class Text(Annotation):
    """A string of up to `maximum` code points; with minimum 1, not only of white space."""

    def __init__(self, maximum: int, *, minimum: int = 1) -> None:
        self.maximum, self.minimum = maximum, minimum
        self.json_schema = {"type": "string", "minLength": minimum, "maxLength": maximum}

    def check(self, value: str) -> str:
        """Return the text without characters that no reader sees."""
        problem = text_problem(value)
        if problem:
            raise ValueError(problem)
        if len(value) > self.maximum:
            raise ValueError(f"It has {len(value)} characters; at most {self.maximum} are allowed.")
        value = text_clean(value)
        if self.minimum and text_blank(value):
            raise ValueError("It is empty. Give at least one visible character.")
        return value


def _timestamp(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str):
        raise ValueError("Use an RFC 3339 time such as 2026-06-29T12:00:00Z, as a string.")
    return timestamp_parse(value)


Timestamp = Annotated[datetime, BeforeValidator(_timestamp), WithJsonSchema({"type": "string", "format": "date-time"})]


DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)  # fromisoformat alone would read weeks as well


def _date(value: Any) -> date:
    if isinstance(value, date):
        return value
    try:
        if not isinstance(value, str) or not DAY.fullmatch(value):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise ValueError("Use a date such as 2026-06-29.") from None


Date = Annotated[date, BeforeValidator(_date), WithJsonSchema({"type": "string", "format": "date"})]


def _as_stored(value: float) -> float | int:
    """Return a number as PostgreSQL gives it back: its decimal digits written out, and no negative zero.

    So the answer to a write is the same text as the answer to a read.
    """
    if value == 0:
        return 0.0
    return int(Decimal(repr(value))) if abs(value) >= WRITTEN_OUT else value


def _json_check(value: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"It is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, str):
        problem = text_problem(value)
        if problem:
            raise ValueError(problem)
        return text_clean(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float) and value == value and abs(value) != float("inf"):
        value = _as_stored(value)
    if isinstance(value, int) and value.bit_length() > MAX_NUMBER_BITS:
        raise ValueError("It contains a number that is too large. Send it as a string.")
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        raise ValueError("It contains a number that JSON cannot express (NaN or infinity).")
    if isinstance(value, list):
        return [_json_check(item, depth + 1) for item in value]
    if isinstance(value, dict):
        for key in value:
            problem = text_problem(key)
            if problem:
                raise ValueError(problem)
        return {text_clean(key): _json_check(item, depth + 1) for key, item in value.items()}
    return value


class Json(Annotation):
    """A JSON value of up to `max_bytes` as UTF-8 text; an object of up to `max_keys` keys at its top level."""

    def __init__(self, max_bytes: int, max_keys: int | None = None) -> None:
        self.max_bytes, self.max_keys = max_bytes, max_keys
        self.json_schema = {} if max_keys is None else {"maxProperties": max_keys}

    def __get_pydantic_json_schema__(self, schema: core_schema.CoreSchema, handler: Any) -> dict[str, Any]:
        return dict(handler(schema)) | self.json_schema

    def check(self, value: Any) -> Any:
        """Return the value, its strings cleaned."""
        if self.max_keys is not None and len(value) > self.max_keys:
            raise ValueError(f"It has {len(value)} keys; at most {self.max_keys} are allowed.")
        value = _json_check(value, 1)
        if len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()) > self.max_bytes:
            raise self.too_large()
        return value

    def too_large(self) -> Exception:
        """Return the error for a value of more than `max_bytes`: one of its field."""
        return ValueError(f"It is larger than {self.max_bytes // 1024} KiB.")


class State(Json):
    """A JSON value of the agent state, of which too much is `payload_too_large`."""

    def too_large(self) -> Exception:
        """Return the error for a value of more than `max_bytes`: the request is too large."""
        return PayloadTooLarge(f"A value is larger than {self.max_bytes // 1024} KiB.", {"limit": self.max_bytes})


# pydantic's own sentences speak of Python; these speak of JSON. Values never enter a message.
SENTENCES = {
    "missing": "It is required.",
    "string_type": "It must be a string.",
    "int_type": "It must be a whole number.",
    "int_parsing": "It must be a whole number.",
    "int_from_float": "It must be a whole number.",
    "bool_type": "It must be true or false.",
    "bool_parsing": "It must be true or false.",
    "list_type": "It must be a list.",
    "dict_type": "It must be an object.",
    "model_type": "It must be an object.",
    "model_attributes_type": "It must be an object.",
    "extra_forbidden": "There is no such field here.",
    "finite_number": "It must be a finite number.",
    "json_invalid": "The body is no valid JSON.",
    "recursion_loop": "It is nested too deeply.",
}


def _sentence(error: Any) -> str:
    kind, context = error["type"], error.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind in {"enum", "literal_error"}:
        return f"It must be one of: {context['expected']}."
    if kind == "json_invalid":
        return f"The body is no valid JSON: {context['error'].rstrip('.')}."
    if kind in SENTENCES:
        return SENTENCES[kind]
    return f"{error['msg'].replace('Input should', 'It should').rstrip('.')}."


def invalid_from(error: ValidationError, prefix: str = "") -> Invalid:
    """Return the API's error for pydantic's, with a sentence for each field and no value of the request."""
    fields: dict[str, list[str]] = {}
    for item in error.errors(include_url=False, include_input=False):
        path = ".".join(str(part) for part in item["loc"]) or ("body" if not prefix else "")
        path = ".".join(filter(None, [prefix, path]))
        problem = text_problem(path)
        fields.setdefault("body" if problem else path[:200], []).append(_sentence(item))
    return Invalid(details={"fields": fields})


def parse(model: type[ModelT], value: Any, prefix: str = "") -> ModelT:
    """Return the model that a decoded JSON value fits. Raises Invalid."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise invalid_from(error, prefix) from None
    except RecursionError:
        raise Invalid.field("body", "It is nested too deeply.") from None
