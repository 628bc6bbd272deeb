"""The OpenAPI document."""

from typing import Any


def complete(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Return the document with what the generator cannot know."""
    return result
