"""Finding out which product a file comes from, by its first bytes and items."""

import json
from itertools import islice
from typing import Any, BinaryIO

from memories.importers.markdown import FRONTMATTER, HEADING, OBSERVATION, RELATION, frontmatter_of
from memories.importers.records import Report
from memories.importers.streams import MAX_ITEM_BYTES, Utf8, json_items
from memories.importers.tables import columns_of
from memories.importers.zips import zip_is

HEAD = 64 * 1024
LOOKED_AT = 40  # items of a JSON file
LOOKED_BYTES = MAX_ITEM_BYTES  # of a JSON file: a first item may be as long


class Beginning:
    """The beginning of a file, as if there were no more of it: however long a file is, a look at it takes moments."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file, self.left = file, size

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` bytes."""
        piece = self.file.read(min(size, self.left) if size >= 0 else self.left)
        self.left -= len(piece)
        return piece


def format_of(file: BinaryIO, name: str = "") -> str:
    """Return the name of the format of a file, which is read from its beginning and left there."""
    if zip_is(file):
        return "zip"
    head = Utf8(file, Report()).read(HEAD).decode("utf-8", "replace")
    file.seek(0)
    text = head.lstrip()
    if name.lower().endswith((".jsonl", ".ndjson")) or _is_lines(text):
        return _lines_format(text)
    if text[:1] in ("{", "["):
        # What holds nothing to judge by is left to the protocol's own reader, which says what is missing.
        found = _json_format(file) or ("json" if text[0] == "[" and text[1:].lstrip()[:1] in ("{", '"') else "omp")
        file.seek(0)
        return found
    if name.lower().endswith((".csv", ".tsv")) or _is_csv(text):
        return "csv"
    return _text_format(head, name)


def _is_lines(text: str) -> bool:
    """Return whether the first line is a JSON object by itself and others follow."""
    first, _, rest = text.partition("\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _lines_format(text: str) -> str:
    first = text.partition("\n")[0]
    return "ndjson" if '"omp_version"' in first or ('"id": "mem_' in first or '"id":"mem_' in first) else "jsonl"


def _is_csv(text: str) -> bool:
    first, _, rest = text.partition("\n")
    separator = max(",;\t|", key=first.count)
    names = [name.strip().strip('"') for name in first.split(separator)]
    return bool(columns_of(names)) and (len(names) > 1 or bool(rest.strip())) and not first.startswith(("#", "-"))


def _text_format(text: str, name: str) -> str:
    lines = text.split("\n")
    head, _ = frontmatter_of(text)
    if "permalink" in head or any(OBSERVATION.match(line) or RELATION.match(line) for line in lines):
        return "basic-memory"
    sections = any(HEADING.match(line) for line in lines)
    if any(line.strip().startswith("**") and line.strip().endswith("**") for line in lines) and not sections:
        return "claude-memory"
    if sections or FRONTMATTER.match(text) or name.lower().endswith((".md", ".markdown")):
        return "markdown"
    return "chatgpt-memory"


def _json_format(file: BinaryIO) -> str | None:
    report = Report()
    keys: set[str] = set()
    for key, name, item in islice(json_items(Beginning(file, LOOKED_BYTES), report), LOOKED_AT):
        keys.add(key or "")
        if name is not None:
            keys.add(name)
        found = _item_format(key, item) if isinstance(item, dict) else None
        if found:
            return found
        if key == "agent_type":
            return "letta"
        if key == "omp_version":
            return "omp"
    return _keys_format(keys)


def _item_format(key: str | None, item: dict[str, Any]) -> str | None:
    """Return the format that an item of a file's lists gives away, None when it does not."""
    names = set(item)
    for mark, found in (
        ("mapping", "chatgpt"), ("chat_messages", "claude"), ("conversations_memory", "claude-memories"),
        ("containerTags", "supermemory"), ("containerTag", "supermemory"), ("memoryEntries", "supermemory"),
        ("customId", "supermemory"), ("fact", "zep"), ("role_type", "zep"), ("source_node_uuid", "zep"),
        ("block_ids", "letta"), ("archive_id", "letta"), ("agent_type", "letta"), ("relationship", "mem0"),
    ):  # fmt: skip
        if mark in names:
            return found
    if {"label", "value"} <= names or key == "passages":
        return "letta"
    if "memory" in names and isinstance(item["memory"], str):
        return "supermemory" if names & {"isLatest", "isForgotten", "updatedAt", "similarity"} else "mem0"
    if key in ("nodes", "edges", "episodes") and "uuid" in names:
        return "zep"
    if key == "memories" and "content" in names:
        return "supermemory" if names & {"createdAt", "summary"} else "omp"
    return None


def _keys_format(keys: set[str]) -> str | None:
    for marks, found in (
        ({"mapping"}, "chatgpt"), ({"chat_messages"}, "claude"), ({"conversations_memory"}, "claude-memories"),
        ({"agent_type"}, "letta"), ({"core_memory"}, "letta"), ({"blocks"}, "letta"), ({"facts"}, "zep"),
        ({"relevant_facts"}, "zep"), ({"edges"}, "zep"), ({"results"}, "mem0"), ({"memories"}, "omp"),
        ({"omp_version"}, "omp"),
    ):  # fmt: skip
        if marks <= keys:
            return found
    return None
