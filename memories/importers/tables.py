"""CSV, JSON lines and lists of plain JSON objects, by the usual names of their columns."""

import csv
import re
from collections.abc import Iterator
from typing import Any

from api.errors import Invalid
from memories.importers.records import Broken, Record, Report, Talk, broken, digest_of, memory_records, text_of, time_of
from memories.importers.streams import MAX_LINE, Readable, json_items, json_value, text_lines

# Column names, lower case, in order of preference.
NAMES: dict[str, tuple[str, ...]] = {
    "content": ("content", "text", "memory", "fact", "note", "statement", "value", "body", "message"),
    "id": ("id", "uuid", "key"),
    "type": ("type", "memory_type"),
    "created": ("created_at", "created", "createdat", "timestamp", "date", "time"),
    "updated": ("updated_at", "updated", "updatedat", "modified"),
    "expires": ("expires_at", "expires", "expiration_date"),
    "tags": ("tags", "labels", "categories", "category"),
    "subject": ("subject", "title", "topic"),
    "namespace": ("namespace", "project"),
    "tool": ("tool", "source", "source_tool", "app"),
    "session": ("session_id", "session", "conversation_id"),
    "user": ("user_id", "user"),
}
PLACES = {name: field for field, names in NAMES.items() for name in names}
MAX_FIELD = 1024 * 1024


def columns_of(names: list[str]) -> dict[str, str]:
    """Return field -> column name for a header; {} when no column holds text."""
    lower = {name.strip().lower().replace(" ", "_"): name for name in reversed(names) if name}
    found = {field: next((lower[name] for name in wanted if name in lower), "") for field, wanted in NAMES.items()}
    return {field: name for field, name in found.items() if name} if found["content"] else {}


def _row(product: str, values: dict[str, Any], columns: dict[str, str]) -> Iterator[Record]:
    fields = {field: values.get(name) for field, name in columns.items()}
    tags = fields.pop("tags", None)
    if isinstance(tags, str):
        tags = re.split(r"[;|,]", tags.strip("[]")) if tags.strip() else []
        tags = [tag.strip(" '\"") for tag in tags]
    source = fields.pop("tool", None)
    if isinstance(source, dict):
        fields |= {"session": source.get("session_id"), "user": source.get("user_id")}
        fields["created"] = fields.get("created") or source.get("timestamp")
        source = source.get("tool")
    metadata = values.get("metadata")
    rest = metadata if isinstance(metadata, dict) else {
        name: value for name, value in values.items() if name and name not in columns.values() and name != "metadata"
    }  # fmt: skip
    yield from memory_records(product, fields.pop("content"), tags=[tags], tool=source, metadata=rest, **fields)


def read_csv(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the rows of a table with a header; the separator is found out. Raises Invalid without a column of text."""
    lines = (line.replace("\x00", "") for line in text_lines(file, report))
    header = next(lines, "")
    while header and not header.strip():
        header = next(lines, "")
    separator = max(",;\t|", key=header.count)
    names = next(csv.reader([header], delimiter=separator), [])
    columns = columns_of(names)
    if not columns:
        raise Invalid.field("body", f"No column holds the text. Name one of: {', '.join(NAMES['content'])}.")
    csv.field_size_limit(MAX_FIELD)
    rows = csv.reader(lines, delimiter=separator)
    while True:
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error:
            yield broken("The row cannot be read: it has a field that is too long or quotes that do not close.")
            continue
        if any(cell.strip() for cell in row):
            if len(row) > len(names) and any(cell.strip() for cell in row[len(names) :]):
                yield broken(f"The row has {len(row)} fields, the header {len(names)}.")
            else:
                yield from _row("csv", dict(zip(names, row, strict=False)), columns)


def _object(product: str, item: Any) -> Iterator[Record]:
    """Yield the record of a JSON value: a statement, an object with text, or a conversation."""
    if isinstance(item, str):
        yield from memory_records(product, item)
    elif isinstance(item, dict) and isinstance(item.get("messages"), list):
        yield _talk(product, item)
    elif isinstance(item, dict) and (columns := columns_of([str(name) for name in item])):
        yield from _row(product, item, columns)
    else:
        yield broken(f"It has no text under one of: {', '.join(NAMES['content'])}.", path="content")


def _talk(product: str, item: dict[str, Any]) -> Record:
    messages = []
    for message in item["messages"]:
        role = str(message.get("role")) if isinstance(message, dict) else ""
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            content = "\n".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
        if role in ("user", "assistant") and text_of(content):
            messages.append({"role": role, "content": text_of(content)})
    given = text_of(item.get("id")) or digest_of(*(message["content"] for message in messages))
    if not messages:
        return broken("The conversation has no messages with text.", path="messages", id=f"{product}:{given}"[:100])
    return Talk(
        id=f"{product}:{given}", model=text_of(item.get("model"))[:100] or product,
        topic=text_of(item.get("topic") or item.get("title")), messages=messages,
        created_at=time_of(item.get("created_at")), updated_at=time_of(item.get("updated_at")),
    )  # fmt: skip


def read_jsonl(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the record of each line; a line that is no JSON is reported and stops no other."""
    whole = True
    for line in text_lines(file, report):
        ends = line.endswith("\n")
        if not whole or not ends:
            if whole:
                yield broken(f"The line is longer than the {MAX_LINE} bytes that are read of one.")
        elif line.strip():
            yield from _line(line)
        whole = ends


def _line(line: str) -> Iterator[Record]:
    try:
        item = json_value(line)
    except ValueError:
        yield broken("The line is no JSON.")
    else:
        yield from _object("jsonl", item)


def read_json(file: Readable, report: Report) -> Iterator[Record]:
    """Yield the records of the lists in a JSON file of no product that we know."""
    for key, name, item in json_items(file, report):
        if isinstance(item, Invalid):
            yield Broken(item)
        elif name is None and (key is None or isinstance(item, dict | str)):
            yield from _object("json", item)
        elif isinstance(item, dict | list):
            yield broken(f"It is not in a list at the top of the file, but in “{text_of(key)[:50]}”.")
        else:
            report.leave(str(key) if name is None else f"{key}.{name}")
