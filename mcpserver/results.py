"""What tools answer: the objects of REST, with the notice in front of stored text."""

from collections.abc import Sequence
from typing import Any

from api.text import NOTICE
from memories.models import Memory
from memories.representation import memory_present


def noticed(value: dict[str, Any]) -> dict[str, Any]:
    """Return an answer that holds stored text, with the notice first."""
    return {"notice": NOTICE} | value


def fact_present(memory: Memory) -> dict[str, Any]:
    """Return a fact: the full memory, with `text` beside `content`."""
    return memory_present(memory, full=True) | {"text": memory.content}


def recalled(memories: Sequence[Memory]) -> dict[str, Any]:
    """Return recalled facts under the notice."""
    return noticed({"memories": [fact_present(memory) for memory in memories]})
