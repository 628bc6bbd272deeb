"""mem0, Letta, Zep and supermemory: the JSON that their APIs and exports give."""

import json
from collections.abc import Iterator
from typing import Any

from api.errors import Invalid
from memories.importers.records import Broken, Record, Report, Thread, broken, memory_records, text_of, time_of
from memories.importers.streams import Readable, json_items

PAGING = frozenset({"count", "next", "previous", "pagination", "total", "total_count", "row_count", "response_count"})
LETTA_LISTS = frozenset({"agents", "blocks", "core_memory", "passages", "messages"})
ZEP_LISTS = frozenset({"facts", "relevant_facts", "edges", "nodes", "episodes", "messages"})


def _objects(file: Readable, report: Report) -> Iterator[tuple[str | None, Any]]:
    """Yield (key, value) of a file's items, damaged ones as Broken; numbers of pages are no items."""
    for key, name, item in json_items(file, report):
        if isinstance(item, Invalid):
            yield key, Broken(item)
        elif key not in PAGING:
            yield key if name is None else name, item


def read_mem0(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the memories of get_all or of an export, and the relations of its graph."""
    for key, item in _objects(file, report):
        if isinstance(item, Broken):
            yield item
        elif isinstance(item, dict) and ("relationship" in item or key == "relations"):
            ends = [text_of(item.get(name)) for name in ("source", "relationship")]
            target = text_of(item.get("target") or item.get("destination"))
            yield from memory_records("mem0", " ".join([*ends, target]).replace("_", " "), tags=["relation"])
        elif isinstance(item, dict):
            content = item.get("memory") or item.get("text") or item.get("content") or item.get("data")
            extra = item.get("metadata") if isinstance(item.get("metadata"), dict) else {}
            kept = {name: item.get(name) for name in ("agent_id", "app_id", "categories")}
            yield from memory_records(
                "mem0", content, id=item.get("id"), created=item.get("created_at"), updated=item.get("updated_at"),
                expires=item.get("expiration_date"), tags=[item.get("categories")], session=item.get("run_id"),
                user=item.get("user_id"), type=(extra or {}).get("type"), metadata=(extra or {}) | kept,
            )  # fmt: skip
        elif key is None or key in ("results", "memories"):
            yield broken("It is no memory of mem0.")
        else:
            report.leave(key)


def read_letta(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the blocks and passages of an agent file or of Letta's API, and its messages as a conversation."""
    thread = Thread("letta")
    for key, item in _objects(file, report):
        if isinstance(item, Broken):
            yield item
        elif key == "name" and isinstance(item, str):
            thread.topic = thread.given = text_of(item)
        elif not isinstance(item, dict):
            if key is None or key in LETTA_LISTS:
                yield broken("It is neither a block, a passage nor a message of Letta.")
            else:
                report.leave(key)
        elif key == "agents":
            yield from _letta_agent(item)
        elif key == "messages" or (key is None and "role" in item and "content" in item):
            yield from _letta_said(thread, item)
        elif "label" in item and "value" in item:
            yield from _letta_block(item)
        elif "text" in item:
            yield from memory_records(
                "letta", item["text"], id=item.get("id"), created=item.get("created_at"), tags=[item.get("tags")],
                updated=item.get("updated_at"), metadata=item.get("metadata") or item.get("metadata_"),
            )  # fmt: skip
        elif key is None and "memory" in item:
            yield from _letta_agent(item)
        elif key is None or key in LETTA_LISTS:
            yield broken("It is neither a block, a passage nor a message of Letta.")
        else:
            report.leave(key)
    yield from thread.rest()


def _letta_agent(agent: dict[str, Any]) -> Iterator[Record]:
    memory = agent.get("memory")
    blocks = memory.get("blocks") if isinstance(memory, dict) else agent.get("core_memory")
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict):
            yield from _letta_block(block)
    thread = Thread("letta", text_of(agent.get("name")), text_of(agent.get("id")))
    messages = agent.get("messages")
    for item in messages if isinstance(messages, list) else []:
        yield from _letta_said(thread, item)
    yield from thread.rest()


def _letta_block(block: dict[str, Any]) -> Iterator[Record]:
    label = text_of(block.get("label"))
    yield from memory_records(
        "letta", block.get("value"), id=block.get("id"), created=block.get("created_at"),
        updated=block.get("updated_at"), tags=["block", label], subject=label,
        metadata={"description": block.get("description")},
    )  # fmt: skip


def _letta_said(thread: Thread, item: Any) -> Iterator[Record]:
    """Add a message of a person or an agent to its conversation; what systems and tools say is no part of it."""
    role, text = (item.get("role"), _letta_text(item)) if isinstance(item, dict) else (None, "")
    if role in ("user", "assistant") and text:
        yield from thread.add(role, text, time_of(item.get("created_at")))


def _letta_text(message: dict[str, Any]) -> str:
    """Return what was said: text, parts, the envelope around a person's words, or the tool by which agents speak."""
    content = message.get("content")
    if isinstance(content, list):
        content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    said: list[Any] = []
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict) and function.get("name") == "send_message":
            said.append(_member(function.get("arguments"), "message"))
    if message.get("role") == "user" and isinstance(content, str) and content.startswith("{"):
        wrapped = _member(content, "message")
        kind = _member(content, "type")
        content = wrapped if kind in (None, "user_message") and wrapped else ("" if kind else content)
    return text_of("\n".join(text for text in said if isinstance(text, str))) or text_of(content)


def _member(raw: Any, name: str) -> Any:
    try:
        value = json.loads(raw) if isinstance(raw, str) else raw
    except (ValueError, RecursionError):
        return None
    return value.get(name) if isinstance(value, dict) else None


def read_zep(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the facts of edges and facts, the summaries of nodes, and messages and episodes as a conversation."""
    thread = Thread("zep")
    for key, item in _objects(file, report):
        if isinstance(item, Broken):
            yield item
        elif key in ("session_id", "thread_id") and isinstance(item, str):
            thread.given = text_of(item)
        elif isinstance(item, str) and key in ("facts", "relevant_facts", "context"):
            yield from memory_records("zep", item, session=thread.given)
        elif not isinstance(item, dict):
            if key is None or key in ZEP_LISTS:
                yield broken("It is neither a fact, a node nor a message of Zep.")
            else:
                report.leave(key)
        elif "fact" in item:
            ended = item.get("invalid_at") or item.get("expired_at")
            yield from memory_records(
                "zep", item["fact"], id=item.get("uuid") or item.get("uuid_"), updated=ended, expires=ended,
                created=item.get("valid_at") or item.get("created_at"), tags=[item.get("name")],
                session=thread.given, metadata={name: item.get(name) for name in ("valid_at", "invalid_at", "rating")},
            )  # fmt: skip
        elif "summary" in item:
            yield from memory_records(
                "zep", item["summary"], id=item.get("uuid") or item.get("uuid_"), created=item.get("created_at"),
                subject=item.get("name"), tags=[item.get("labels")],
            )  # fmt: skip
        elif "content" in item:
            yield from _zep_said(thread, item)
        else:
            yield broken("It is neither a fact, a node nor a message of Zep.")
    yield from thread.rest()


def _zep_said(thread: Thread, item: dict[str, Any]) -> Iterator[Record]:
    kind = str(item.get("role_type") or item.get("role") or "user").lower()
    text = text_of(item.get("content"))
    if text:
        yield from thread.add(
            "assistant" if kind in ("assistant", "ai") else "user", text, time_of(item.get("created_at"))
        )


def read_supermemory(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the documents and the memory entries of supermemory's lists."""
    for key, item in _objects(file, report):
        if isinstance(item, Broken):
            yield item
        elif isinstance(item, dict):
            entries = item.get("memoryEntries") or item.get("memories")
            if isinstance(entries, list) and entries:
                for entry in entries:
                    yield from _supermemory(entry if isinstance(entry, dict) else {}, item)
            else:
                yield from _supermemory(item, {})
        elif key is None or key in ("memories", "documents", "results", "memoryEntries"):
            yield broken("It is no memory of supermemory.")
        else:
            report.leave(key)


def _supermemory(item: dict[str, Any], document: dict[str, Any]) -> Iterator[Record]:
    given = item.get("id") or item.get("customId")
    if item.get("isForgotten"):
        yield broken("supermemory marks it as forgotten.", id=f"supermemory:{given}"[:100])
        return
    tags = [item.get("containerTags"), item.get("containerTag"), document.get("containerTags")]
    yield from memory_records(
        "supermemory", item.get("memory") or item.get("content") or item.get("summary") or item.get("title"), id=given,
        created=item.get("createdAt"), updated=item.get("updatedAt"), expires=item.get("forgetAfter"), tags=tags,
        subject=item.get("title") or document.get("title"),
        metadata=(item.get("metadata") if isinstance(item.get("metadata"), dict) else {}) or {},
    )  # fmt: skip
