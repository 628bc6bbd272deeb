"""Import files of any size, made while they are read: one kind for each format that an import takes."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Any

WORDS = "Words about the weather, the garden and what was for dinner. "


@dataclass(frozen=True)
class Large:
    """A file of a format: its beginning, its n-th item, what stands between items, its end."""

    item: Callable[[int], bytes]
    opening: bytes = b""
    separator: bytes = b""
    closing: bytes = b""

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield a file of about so many bytes, item by item."""
        if self.opening:
            yield self.opening
        written = number = 0
        while written < size:
            piece = (self.separator if number else b"") + self.item(number)
            written += len(piece)
            number += 1
            yield piece
        if self.closing:
            yield self.closing


def _json(value: Callable[[int], Any]) -> Callable[[int], bytes]:
    return lambda number: json.dumps(value(number)).encode()


def _chatgpt(number: int) -> dict[str, Any]:
    mapping: dict[str, Any] = {"root": {"id": "root", "parent": None, "children": ["m0"], "message": None}}
    for n in range(20):
        mapping[f"m{n}"] = {
            "id": f"m{n}", "parent": "root" if n == 0 else f"m{n - 1}", "children": [f"m{n + 1}"] if n < 19 else [],
            "message": {
                "id": f"m{n}", "author": {"role": "assistant" if n % 2 else "user"}, "create_time": 1_700_000_000.0 + n,
                "recipient": "all",
                "content": {"content_type": "text", "parts": [f"Message {n} of {number}. {WORDS * 12}"]},
            },
        }  # fmt: skip
    return {
        "id": f"conversation-{number}", "title": f"Conversation {number}", "create_time": 1_700_000_000.0,
        "current_node": "m19", "mapping": mapping,
    }  # fmt: skip


def _claude(number: int) -> dict[str, Any]:
    messages = [
        {"uuid": f"{number}-{n}", "sender": "assistant" if n % 2 else "human", "text": f"Message {n}. {WORDS * 12}",
         "created_at": "2025-02-01T10:00:00Z"}
        for n in range(20)
    ]  # fmt: skip
    return {"uuid": f"conversation-{number}", "name": f"Talk {number}", "chat_messages": messages}


def _memory(number: int) -> dict[str, Any]:
    return {
        "id": f"mem_{number:016d}", "content": f"Fact {number}. {WORDS}", "type": "semantic",
        "source": {"tool": "bench"}, "tags": ["bench"], "created_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip


def _said(number: int) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    return {"role": role, "role_type": role, "content": f"Message {number}. {WORDS * 4}"}


def _observation(number: int) -> bytes:
    return f"- [fact] Observation {number}: {WORDS}#bench\n".encode()


LARGE: dict[str, Large] = {
    "omp": Large(_json(_memory), b'{"omp_version": "0.1", "memories": [', b",", b"]}"),
    "ndjson": Large(lambda number: _json(_memory)(number) + b"\n"),
    "chatgpt": Large(_json(_chatgpt), b"[", b",", b"]"),
    "chatgpt-memory": Large(lambda number: f"- Fact {number}. {WORDS}\n".encode()),
    "claude": Large(_json(_claude), b"[", b",", b"]"),
    "claude-memories": Large(
        _json(lambda number: {"conversations_memory": f"**Work**\n\nFact {number}. {WORDS}"}), b"[", b",", b"]"
    ),
    "claude-memory": Large(lambda number: f"**Heading {number}**\n\n- Fact {number}. {WORDS}\n\n".encode()),
    "mem0": Large(
        _json(lambda number: {"id": str(number), "memory": f"Fact {number}. {WORDS}"}), b'{"results": [', b",", b"]}"
    ),
    "letta": Large(
        _json(lambda number: {"id": str(number), "text": f"Passage {number}. {WORDS}"}), b'{"passages": [', b",", b"]}"
    ),
    "letta messages": Large(
        _json(_said), b'{"agent_type": "memgpt_agent", "name": "Helper", "messages": [', b",", b"]}"
    ),
    "zep": Large(
        _json(lambda number: {"uuid": str(number), "fact": f"Fact {number}. {WORDS}"}), b'{"edges": [', b",", b"]}"
    ),
    "zep messages": Large(_json(_said), b'{"session_id": "s-1", "messages": [', b",", b"]}"),
    "supermemory": Large(
        _json(lambda number: {"id": str(number), "content": f"Fact {number}. {WORDS}", "containerTags": ["bench"]}),
        b'{"memories": [', b",", b"]}",
    ),
    "basic-memory": Large(_observation, b"---\ntitle: Notes\npermalink: notes\n---\n"),
    "markdown": Large(lambda number: f"## Heading {number}\n\nFact {number}. {WORDS}\n\n- An item.\n".encode()),
    "csv": Large(lambda number: f'{number},"Fact {number}. {WORDS}","a, b"\n'.encode(), b"id,text,tags\n"),
    "jsonl": Large(lambda number: _json(lambda n: {"id": n, "text": f"Fact {n}. {WORDS}"})(number) + b"\n"),
    "json": Large(_json(lambda number: {"id": number, "text": f"Fact {number}. {WORDS}"}), b"[", b",", b"]"),
}  # fmt: skip


def zip_write(file: IO[bytes], kind: str, size: int) -> None:
    """Write a zip with one file of a kind."""
    name = "conversations.json" if kind in ("chatgpt", "claude") else "note.md"
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as member,
    ):
        for piece in LARGE[kind].pieces(size):
            member.write(piece)


def vault_write(file: IO[bytes], size: int) -> None:
    """Write a zip of many Markdown notes of about 12 kB."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for number in range(max(1, size // 12_000)):
            archive.writestr(f"vault/note {number}.md", b"".join(LARGE["markdown"].pieces(12_000)))
