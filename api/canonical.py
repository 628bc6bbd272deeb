"""One text for one JSON value: the JSON Canonicalization Scheme (RFC 8785), by which two requests are compared."""

import json
from decimal import Decimal
from typing import Any

from api.errors import Invalid

MAX_SAFE = 2**53 - 1  # beyond it two readers of JSON may see two numbers (RFC 7493, section 2.2)


def _number(value: float) -> str:
    """Return a number as ECMAScript writes it, which RFC 8785 asks for (section 3.2.2.3)."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits))
    stripped = text.rstrip("0")
    assert isinstance(exponent, int)
    exponent += len(text) - len(stripped)
    text, point = stripped, len(stripped) + exponent
    if 0 < point <= 21:
        shown = text.ljust(point, "0") if point >= len(text) else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        shown = f"0.{'0' * -point}{text}"
    else:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        shown = f"{text[0]}{fraction}e{point - 1:+d}"
    return f"-{shown}" if sign else shown


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a value. Raises Invalid for a whole number that doubles cannot hold."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical_json(name)}:{canonical_json(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical_json, value)) + "]"
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > MAX_SAFE:
        raise Invalid.field("payload", "It contains a whole number beyond 2^53 - 1. Send it as a string.")
    return json.dumps(value, ensure_ascii=False)
