"""Whatever stands in a field of a product's file: its reader makes a record of it, or says what is wrong."""

from __future__ import annotations

import copy
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from accounts.access import Access
from api.errors import ApiError
from conversations.importing import conversation_of
from memories.importers import Report, format_of, read_foreign
from memories.importers.records import Talk
from memories.transfer.importing import import_error, memory_from
from tests.importers import files
from tests.importers.files import chatgpt_conversation, claude_conversation, spoken

ODD: list[Any] = [
    None, True, 0, -1, 2**70, 1e300, float("nan"), "", " ", "x" * 300, "\ud800", "a\x00b", "2025-99-99",
    "0001-01-01T00:00:00+23:59", [], [None], [[]], ["a"], {}, {"a": None}, {"text": 5}, [{"a": {}}],
]  # fmt: skip
ROW = {
    "id": "1", "text": "Likes tea", "type": "semantic", "created_at": "2025-01-01", "updated_at": "2025-01-02",
    "expires_at": "2999-01-01", "tags": ["a"], "subject": "s", "namespace": "n", "session_id": "s", "user_id": "u",
    "source": {"tool": "x", "session_id": "s", "timestamp": "2025-01-01"}, "metadata": {"a": 1},
}  # fmt: skip
TALK = {"id": "1", "title": "t", "model": "m", "messages": [{"role": "user", "content": [{"text": "Hi"}]}]}
SAVED = chatgpt_conversation(
    mapping={"b": {"message": spoken("b", "assistant", "Likes tea", recipient="bio"), "parent": None, "children": []}},
    current_node="b",
)
SAMPLES: list[tuple[str, Any]] = [
    ("chatgpt", [chatgpt_conversation()]), ("chatgpt", [SAVED]), ("claude", [claude_conversation()]),
    ("claude-memories", [{"conversations_memory": files.CLAUDE_MEMORY, "project_memories": {"p-1": "Ships in May."}}]),
    ("mem0", files.MEM0), ("letta", files.LETTA), ("letta", files.LETTA_OLD), ("zep", files.ZEP),
    ("zep", files.ZEP_SESSION), ("supermemory", files.SUPERMEMORY), ("json", [ROW, TALK]), ("jsonl", ROW),
    ("jsonl", TALK),
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything in a JSON value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def replaced(sample: Any, path: tuple[Any, ...], odd: Any) -> bytes:
    """Return the file with something odd at one of its places."""
    changed = copy.deepcopy(sample)
    holder = changed
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = odd
    return json.dumps(changed).encode()


@pytest.mark.parametrize(("format", "sample"), SAMPLES)
def test_an_odd_value_in_any_place_breaks_nothing(format: str, sample: Any) -> None:
    access, now = Access.system(1), timezone.now()
    for path in places(sample):
        for odd in ODD:
            content = replaced(sample, path, odd)
            try:
                format_of(io.BytesIO(content))
                records = list(read_foreign(io.BytesIO(content), format, Report()))
                for record in records:
                    kept(access, record, now)
            except Exception as error:
                raise AssertionError(f"{path} = {odd!r}") from error


def kept(access: Access, record: Any, now: Any) -> None:
    """Make of a record what an import would store; what it refuses must be told in words."""
    refused = None
    texts: list[Any] = []
    try:
        if isinstance(record, Talk):
            talk = conversation_of(access, record)
            texts = [talk.topic, talk.source_url, talk.model, talk.id, talk.messages]
        else:
            memory = memory_from(access, record, now)
            texts = [
                memory.content, memory.metadata, memory.tags, memory.subject, memory.namespace, memory.source_tool,
                memory.source_session_id, memory.source_user_id,
            ]  # fmt: skip
    except ApiError as error:
        refused = import_error(0, record, error)
    assert refused is None or refused["message"]
    written = json.dumps(texts, allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in written, "PostgreSQL holds no NUL"
    assert written.encode(), "nor half characters"
