"""ChatGPT: the conversations of its data export, and saved memories as text."""

import re
from collections.abc import Iterator
from typing import Any

from api.errors import Invalid
from memories.importers.records import (
    Broken,
    Record,
    Report,
    Talk,
    broken,
    digest_of,
    memory_records,
    message_of,
    text_of,
    time_of,
)
from memories.importers.streams import Readable, json_items, text_lines

PRODUCT = "chatgpt"
HIDDEN = "is_visually_hidden_from_conversation"
# Content that is no part of what was said: reasoning, browsing, results of tools.
SPOKEN = frozenset({"text", "multimodal_text", "code"})
DATED = re.compile(r"\A\[?(\d{4}-\d\d-\d\d)\]?\s*(?:[-–—:|]\s*)+")
MAX_LINE = 1024 * 1024
BULLET = re.compile(r"\A(?:[-*•–·]\s+|\d{1,4}[.)]\s+)")


def read_conversations(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the conversations of conversations.json, and the memories that ChatGPT saved in their course."""
    for key, _, item in json_items(file, report):
        if isinstance(item, Invalid):
            yield Broken(item)
        elif isinstance(item, dict) and isinstance(item.get("mapping"), dict):
            yield from _conversation(item)
        elif key is None or isinstance(item, dict):
            yield broken("It is no conversation: it has no mapping of messages.", path="mapping")
        else:
            report.leave(key)


def _conversation(item: dict[str, Any]) -> Iterator[Record]:
    given = item.get("conversation_id") or item.get("id")
    messages: list[dict[str, str]] = []
    saved: list[tuple[str, dict[str, Any]]] = []
    for message in _thread(item):
        text = _text(message)
        if not text:
            continue
        author = message.get("author") if isinstance(message.get("author"), dict) else {}
        role = author.get("role") if isinstance(author, dict) else None
        if message.get("recipient") == "bio":
            saved.append((text, message))
        elif role in ("user", "assistant") and message.get("recipient") in (None, "all"):
            messages.append(message_of(role, text, time_of(message.get("create_time"))))
    title = text_of(item.get("title"))
    name = f"{PRODUCT}:{text_of(given) or digest_of(title, *(message['content'] for message in messages))}"
    if messages:
        yield Talk(
            id=name, model=PRODUCT, topic=title, messages=messages, created_at=time_of(item.get("create_time")),
            updated_at=time_of(item.get("update_time")),
            url=f"https://chatgpt.com/c/{text_of(given)}" if text_of(given) else None,
        )  # fmt: skip
    elif not saved:
        yield broken("The conversation has no messages with text.", path="messages", id=name)
    for text, message in saved:
        yield from memory_records(
            PRODUCT, text, id=message.get("id"), created=message.get("create_time"), session=given, tags=["saved"]
        )


def _thread(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of the branch that the person saw last, in order."""
    nodes = {key: node for key, node in item["mapping"].items() if isinstance(node, dict)}
    current = item.get("current_node")
    if not isinstance(current, str) or current not in nodes:
        leaves = [key for key, node in nodes.items() if not node.get("children")] or list(nodes)
        current = max(leaves, key=lambda key: _moment(nodes[key]), default=None)
    thread: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(current, str) and current in nodes and current not in seen:
        seen.add(current)
        message = nodes[current].get("message")
        if isinstance(message, dict):
            thread.append(message)
        current = nodes[current].get("parent")
    return thread[::-1]


def _moment(node: dict[str, Any]) -> float:
    message = node.get("message")
    moment = time_of(message.get("create_time")) if isinstance(message, dict) else None
    return moment.timestamp() if moment else 0.0


def _text(message: dict[str, Any]) -> str:
    content, extra = message.get("content"), message.get("metadata")
    if not isinstance(content, dict) or str(content.get("content_type", "text")) not in SPOKEN:
        return ""
    if isinstance(extra, dict) and extra.get(HIDDEN):
        return ""
    parts = content.get("parts") if isinstance(content.get("parts"), list) else [content.get("text")]
    return text_of("\n\n".join(filter(None, map(_part, parts or []))))


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return "[image]" if "image" in str(part.get("content_type")) else ""


def read_saved(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the saved memories of a text: one a line, with or without bullet, number and date."""
    for line in text_lines(file, report, MAX_LINE):
        text = BULLET.sub("", line.strip())
        dated = DATED.match(text)
        text = text[dated.end() :] if dated else text
        if text.strip() and not text.lstrip().startswith(("#", "```")):
            yield from memory_records(PRODUCT, text, created=dated.group(1) if dated else None, tags=["saved"])
