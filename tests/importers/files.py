"""Files in the shapes that other products document, built small."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any


def dumped(value: Any) -> bytes:
    """Return a value as a JSON file."""
    return json.dumps(value, ensure_ascii=False).encode()


def zipped(members: dict[str, bytes]) -> bytes:
    """Return a zip of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def node(key: str, parent: str | None, children: list[str], message: dict[str, Any] | None) -> dict[str, Any]:
    return {"id": key, "parent": parent, "children": children, "message": message}


def spoken(key: str, role: str, *parts: Any, at: float | None = 1_706_745_600.5, **changes: Any) -> dict[str, Any]:
    return {
        "id": key, "author": {"role": role, "name": None, "metadata": {}}, "create_time": at, "recipient": "all",
        "content": {"content_type": "text", "parts": list(parts)}, "status": "finished_successfully", "weight": 1.0,
        "metadata": {},
    } | changes  # fmt: skip


def chatgpt_conversation(**changes: Any) -> dict[str, Any]:
    """Return a conversation with an edited prompt: the branch that was left is not part of it."""
    return {
        "title": "Deploying", "create_time": 1_706_745_600.0, "update_time": 1_706_749_200.0, "current_node": "a2",
        "conversation_id": "8f3a2b1c-0000", "id": "8f3a2b1c-0000", "default_model_slug": "gpt-4o",
        "mapping": {
            "root": node("root", None, ["sys"], None),
            "sys": node("sys", "root", ["u1", "u2"], spoken("sys", "system", "", at=None)),
            "u1": node("u1", "sys", ["a1"], spoken("u1", "user", "How do I deplpy?")),
            "a1": node("a1", "u1", [], spoken("a1", "assistant", "What is deplpy?")),
            "u2": node("u2", "sys", ["t"], spoken("u2", "user", "How do I deploy?", {"content_type": "image_asset"})),
            "t": node("t", "u2", ["a2"], spoken("t", "tool", "search results")),
            "a2": node("a2", "t", [], spoken("a2", "assistant", "With Docker Compose.")),
        },
    } | changes  # fmt: skip


def claude_conversation(**changes: Any) -> dict[str, Any]:
    return {
        "uuid": "c0ffee00-0000", "name": "Planning", "created_at": "2025-02-01T10:00:00.123456Z",
        "updated_at": "2025-02-01T10:05:00Z", "account": {"uuid": "a"},
        "chat_messages": [
            {
                "uuid": "m1", "text": "Plan my week", "sender": "human", "created_at": "2025-02-01T10:00:00Z",
                "content": [{"type": "text", "text": "Plan my week"}], "files": [],
                "attachments": [{"file_name": "notes.txt", "extracted_content": "..."}],
            },
            {
                "uuid": "m2", "text": "", "sender": "assistant", "created_at": "2025-02-01T10:01:00Z",
                "content": [
                    {"type": "tool_use", "name": "search", "input": {}}, {"type": "text", "text": "Gladly."},
                ],
                "attachments": [], "files": [],
            },
        ],
    } | changes  # fmt: skip


CLAUDE_MEMORY = (
    "**Work context**\n\nAlex builds CLI tools.\n\nAlex leads a team of 4.\n\n**Personal**\n\n- Has two cats\n"
)
MEM0 = {
    "results": [
        {
            "id": "0198-mem0", "memory": "Likes hiking", "hash": "x", "user_id": "alex", "agent_id": None,
            "metadata": {"category": "hobby"}, "categories": ["sports", "outdoors"],
            "created_at": "2025-01-05T08:00:00-08:00", "updated_at": None,
        },
        {"id": "0199-mem0", "memory": "Allergic to nuts", "created_at": None, "expiration_date": "2030-01-01"},
    ],
    "relations": [{"source": "alex", "relationship": "works_at", "target": "acme"}],
}  # fmt: skip
LETTA = {
    "agents": [
        {
            "id": "agent-0", "name": "Helper", "block_ids": ["block-0"],
            "messages": [
                {"role": "system", "content": [{"type": "text", "text": "You are"}]},
                {
                    "role": "user", "created_at": "2025-03-01T00:00:00Z",
                    "content": [{"type": "text", "text": '{"type": "user_message", "message": "Hi, I am Sarah"}'}],
                },
                {
                    "role": "assistant", "content": None,
                    "tool_calls": [{"function": {"name": "send_message", "arguments": '{"message": "Hello Sarah"}'}}],
                },
                {"role": "user", "content": '{"type": "heartbeat", "reason": "x"}'},
            ],
        }
    ],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Sarah is a product manager.", "limit": 5000},
        {"id": "block-1", "label": "scratch", "value": ""},
    ],
    "passages": [{"id": "passage-0", "text": "Sarah's deadline is in May.", "created_at": "2025-03-02T00:00:00Z"}],
    "tools": [], "metadata": {"version": 1},
}  # fmt: skip
LETTA_OLD = {
    "agent_type": "memgpt_agent", "name": "Old", "core_memory": [{"label": "persona", "value": "I help."}],
    "messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}],
}  # fmt: skip
ZEP = {
    "edges": [
        {
            "uuid": "e1", "name": "WORKS_AT", "fact": "Kendra works at Acme", "created_at": "2024-05-01T00:00:00Z",
            "valid_at": "2024-04-01T00:00:00Z", "invalid_at": None, "source_node_uuid": "n1", "target_node_uuid": "n2",
        },
        {
            "uuid": "e2", "name": "LIKES", "fact": "Kendra likes Adidas", "created_at": "2024-05-01T00:00:00Z",
            "invalid_at": "2024-06-01T00:00:00Z",
        },
    ],
    "nodes": [{"uuid": "n1", "name": "Kendra", "summary": "Kendra is a runner.", "labels": ["Person"]}],
}  # fmt: skip
ZEP_SESSION = {
    "session_id": "s-1", "facts": ["Kendra runs on Sundays"],
    "messages": [
        {"uuid": "1", "role": "Kendra", "role_type": "user", "content": "Hi", "created_at": "2024-05-01T00:00:00Z"},
        {"uuid": "2", "role": "bot", "role_type": "assistant", "content": "Hello"},
    ],
}  # fmt: skip
SUPERMEMORY = {
    "memories": [
        {
            "id": "sm1", "customId": "x", "title": "Standup", "summary": "Short", "content": "We stand up at 9.",
            "containerTags": ["user_123", "team"], "metadata": {"category": "work"},
            "createdAt": "2025-04-01T09:00:00.000Z", "updatedAt": "2025-04-02T09:00:00.000Z", "status": "done",
        },
        {"id": "sm2", "memory": "Old news", "isForgotten": True, "createdAt": "2025-04-01T09:00:00.000Z"},
    ],
    "pagination": {"currentPage": 1, "totalItems": 2},
}  # fmt: skip
BASIC = b"""---
title: Coffee Brewing
type: note
tags: [coffee, morning]
permalink: notes/coffee-brewing
created: 2025-01-02 08:30:00+00:00
---
# Coffee Brewing

I brew coffee every morning.

## Observations
- [method] Pour over gives more clarity #brewing (from experience)
- [preference] Ethiopian beans

## Relations
- relates_to [[Coffee Origins]]
- [ ] buy a new grinder
"""
MARKDOWN = b"""# About me

I live in Bonn.
I moved there in 2020.

## Work

- I write Python
- I lead
  a small team

```
code is kept
```
"""
CSV = '\ufeffText;Tags;Created At;Project\nLikes tea;drinks, hot;2025-01-05;home\n"Two\nlines";;;\n'.encode()
JSONL = b'{"text": "Likes tea", "tags": ["drinks"]}\nnot json\n{"messages": [{"role": "user", "content": "Hi"}]}\n'
SAVED = b"- Likes short answers\n2. Has a dog named Rex\n\n[2025-01-05] - Works at Acme\n"
