"""Claude: the conversations and the memory of its data export, and memory text."""

from collections.abc import Iterable, Iterator
from typing import Any

from api.errors import Invalid
from memories.importers.markdown import MAX_STATEMENT, Statements
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

PRODUCT = "claude"
ROLES = {"human": "user", "user": "user", "assistant": "assistant"}


def read_conversations(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the conversations of conversations.json."""
    for key, _, item in json_items(file, report):
        if isinstance(item, Invalid):
            yield Broken(item)
        elif isinstance(item, dict) and isinstance(item.get("chat_messages"), list):
            yield _conversation(item)
        elif isinstance(item, dict) and ("conversations_memory" in item or "project_memories" in item):
            yield from _memory(item)
        elif key is None or isinstance(item, dict):
            yield broken("It is no conversation: it has no chat_messages.", path="chat_messages")
        else:
            report.leave(key)


def _conversation(item: dict[str, Any]) -> Record:
    messages = []
    for message in item["chat_messages"]:
        if not isinstance(message, dict):
            continue
        role, text = ROLES.get(str(message.get("sender"))), _text(message)
        if role and text:
            messages.append(message_of(role, text, time_of(message.get("created_at"))))
    title, given = text_of(item.get("name")), text_of(item.get("uuid"))
    name = f"{PRODUCT}:{given or digest_of(title, *(message['content'] for message in messages))}"
    if not messages:
        return broken("The conversation has no messages with text.", path="chat_messages", id=name)
    return Talk(
        id=name, model=PRODUCT, topic=title, messages=messages, created_at=time_of(item.get("created_at")),
        updated_at=time_of(item.get("updated_at")), url=f"https://claude.ai/chat/{given}" if given else None,
    )  # fmt: skip


def _text(message: dict[str, Any]) -> str:
    """Return what was said; older exports have only `text`, newer ones blocks, of which tools' are left out."""
    blocks = message.get("content")
    said = [
        str(block.get("text") or "") for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    ] if isinstance(blocks, list) else []  # fmt: skip
    text = text_of("\n\n".join(filter(None, said))) or text_of(message.get("text"))
    files = [file for kind in ("attachments", "files") if isinstance(message.get(kind), list) for file in message[kind]]
    names = [text_of(file.get("file_name")) for file in files if isinstance(file, dict)]
    notes = "\n".join(f"[file: {name}]" for name in names if name)
    return "\n\n".join(filter(None, [text, notes]))


def read_memories(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the statements of memories.json: what Claude keeps about the person and about each project."""
    for key, name, item in json_items(file, report):
        if isinstance(item, Invalid):
            yield Broken(item)
        elif isinstance(item, dict):
            yield from _memory(item)
        elif key == "conversations_memory":
            yield from _memory({key: item})
        elif key == "project_memories" and name is not None:
            yield from _memory({key: {name: item}})
        elif key is None:
            yield broken("It is no memory of Claude.")
        else:
            report.leave(key)


def _memory(item: dict[str, Any]) -> Iterator[Record]:
    projects = item.get("project_memories")
    texts = {"": item.get("conversations_memory")} | (projects if isinstance(projects, dict) else {})
    found = {project: said for project, text in texts.items() if (said := text_of(text))}
    for project, text in found.items():
        yield from _statements(text.split("\n"), [f"project {text_of(project)[:8]}"] if project else [])
    if not found:
        yield broken("It has no memory text.", path="conversations_memory")


def read_text(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the statements of Claude's memory as text, tagged with the heading they stand under."""
    yield from _statements((line.rstrip("\n") for line in text_lines(file, report, MAX_STATEMENT)), [])


def _statements(lines: Iterable[str], tags: list[str]) -> Iterator[Record]:
    for heading, statement in Statements(bold=True).of(lines):
        yield from memory_records(PRODUCT, statement, tags=[*tags, heading], subject=heading)
