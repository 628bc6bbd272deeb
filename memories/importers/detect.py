"""Finding out which product a file comes from, by its first bytes and items."""

import re
from itertools import islice
from typing import Any, BinaryIO

from api.errors import Invalid
from memories.importers.markdown import FRONTMATTER, HEADING, OBSERVATION, RELATION, frontmatter_of
from memories.importers.records import Report
from memories.importers.streams import MAX_ITEM_BYTES, Utf8, json_items, json_value
from memories.importers.tables import columns_of
from memories.importers.zips import zip_is

HEAD = 64 * 1024
LOOKED_AT = 40  # items of a JSON file
LINES = 20  # of a text
LOOKED_BYTES = MAX_ITEM_BYTES  # of a JSON file: a first item may be as long


CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")  # no text holds them
BROKEN = object()


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
    head = _head(file)
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


def text_check(file: BinaryIO) -> None:
    """Raise Invalid for a file that is no list of texts: for bytes that are no text, and for one JSON value.

    The file is left at its beginning.
    """
    head = _head(file)
    if CONTROL.search(head) or 4 * head.count("\ufffd") > len(head):
        raise Invalid.field("body", "The file is neither text nor in a format that can be read.")
    if _value(head) is not BROKEN:
        raise Invalid.field("body", "The file is a single JSON value. It must be a list or an object with memories.")


def one_object(file: BinaryIO) -> bool:
    """Return whether a file is one line, a JSON object with text; it is left at its beginning."""
    value = _value(_head(file))
    return isinstance(value, dict) and bool(columns_of(list(value)))


def _head(file: BinaryIO) -> str:
    file.seek(0)
    head = Utf8(file, Report()).read(HEAD).decode("utf-8", "replace")
    file.seek(0)
    return head


def _value(text: str) -> Any:
    """Return the JSON value of a text, BROKEN when it is none."""
    try:
        return json_value(text)
    except ValueError:
        return BROKEN


def _is_lines(text: str) -> bool:
    """Return whether at least half of the first lines, of two or more, are a JSON object each."""
    lines = [line for line in text.split("\n") if line.strip()][:LINES]
    return len(lines) > 1 and 2 * sum(isinstance(_value(line), dict) for line in lines) >= len(lines)


def _lines_format(text: str) -> str:
    first = next((line for line in text.split("\n") if isinstance(_value(line), dict)), "")
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
