"""Types of query parameters: strings that stand for numbers, switches and lists."""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from api.schemas import Text


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        if not value.isascii() or not value.removeprefix("-").isdigit() or len(value) > 18:
            raise ValueError("It must be a whole number.")
        return int(value)
    return value


def _switch(value: Any) -> Any:
    if isinstance(value, str):
        if value not in {"true", "false"}:
            raise ValueError("It must be true or false.")
        return value == "true"
    return value


def _comma_list(value: Any) -> Any:
    if isinstance(value, str):
        parts = [part.strip() for part in value.split(",")]
        if not all(parts):
            raise ValueError("It must be a comma-separated list without empty parts.")
        return parts
    return value


Limit = Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)]
Offset = Annotated[int, Field(ge=0, le=10_000_000), BeforeValidator(_whole)]
Whole = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Cursor = Annotated[str, Text(2_000)]  # room for a position of 200 characters of any script
CommaList = BeforeValidator(_comma_list)
