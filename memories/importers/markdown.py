"""Markdown: notes of basic-memory with their observations and relations, and plain Markdown."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from memories.importers.records import Record, Report, broken, digest_of, memory_records, text_of
from memories.importers.streams import Readable, text_all

BASIC = "basic-memory"
PLAIN = "markdown"
FRONTMATTER = re.compile(r"\A\s*---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
HEADING = re.compile(r"\A(#{1,6})\s+(.+?)\s*#*\Z")
BOLD = re.compile(r"\A(?:\*\*|__)(.+?)(?:\*\*|__):?\Z")
BULLET = re.compile(r"\A(\s*)(?:[-*+]|\d{1,4}[.)])\s+(.*)\Z")
OBSERVATION = re.compile(r"\A\s*[-*]\s+\[([^\]\[]{2,80})\]\s+(.+)\Z")
RELATION = re.compile(r"\A\s*[-*]\s+([^\[\]]*?)\s*\[\[([^\]]+)\]\](.*)\Z")
HASHTAG = re.compile(r"(?<!\w)#([\w/-]{1,50})")
CONTEXT = re.compile(r"\s*\(([^()]*)\)\s*\Z")
ANCHOR = re.compile(r"(?:^|[\s\[{,:-])[&*]\w")
MAX_FRONTMATTER = 64 * 1024


def frontmatter_of(text: str) -> tuple[dict[str, Any], str]:
    """Return the YAML head of a note, {} without a readable one, and its body."""
    match = FRONTMATTER.match(text)
    if match is None or len(match.group(1)) > MAX_FRONTMATTER:
        return {}, text
    # An anchor can make a small head unfold to gigabytes; no note needs one.
    if ANCHOR.search(match.group(1)):
        return {}, text[match.end() :]
    try:
        head = yaml.safe_load(match.group(1))
    except (yaml.YAMLError, ValueError, RecursionError, TypeError):
        return {}, text[match.end() :]
    return (head if isinstance(head, dict) else {}), text[match.end() :]


def sections_of(text: str, *, bold: bool = False) -> Iterator[tuple[str, str]]:
    """Yield (heading, text below it); with `bold`, a line in bold is a heading, too."""
    heading, fenced = "", False
    lines: list[str] = []
    for line in text.split("\n"):
        fenced ^= line.lstrip().startswith("```")
        found = None if fenced else HEADING.match(line) or (BOLD.match(line.strip()) if bold else None)
        if found:
            yield heading, "\n".join(lines)
            heading, lines = found.group(found.lastindex or 1), []
        else:
            lines.append(line)
    yield heading, "\n".join(lines)


def statements_of(text: str) -> Iterator[str]:
    """Yield the statements of a section: its list items with what is indented below them, and its paragraphs."""
    held: list[str] = []
    fenced = item = False
    for line in [*text.split("\n"), ""]:
        fence = line.lstrip().startswith("```")
        bullet = None if fenced else BULLET.match(line)
        begins = bullet is not None and not bullet.group(1)
        if held and not fenced and (begins or (not line.strip()) or (item and not line[:1].isspace() and not bullet)):
            yield "\n".join(held).strip()
            held, item = [], False
        if bullet and begins:
            held, item = [bullet.group(2)], True
        elif line.strip() or fenced:
            held.append(line.strip() if item else line)
        fenced ^= fence
    if held:
        yield "\n".join(held).strip()


def _times(head: dict[str, Any]) -> dict[str, Any]:
    def first(*names: str) -> str | None:
        value = next((head[name] for name in names if head.get(name)), None)
        return str(value).replace(" ", "T", 1) if value is not None else None

    return {
        "created": first("created", "created_at", "date"), "updated": first("modified", "updated", "updated_at"),
    }  # fmt: skip


def _tags(head: dict[str, Any]) -> list[str]:
    tags = head.get("tags")
    if isinstance(tags, str):
        tags = re.split(r"[,\s]+", tags)
    return [str(tag) for tag in tags] if isinstance(tags, list) else []


def read_basic(file: Readable, report: Report, name: str = "") -> Iterator[Record]:
    """Yield a basic-memory note: one memory an observation, a relation and a paragraph; the title is their subject."""
    head, body = frontmatter_of(text_all(file, report))
    title = text_of(str(head.get("title") or "")) or name.rpartition("/")[2].removesuffix(".md")
    place = text_of(str(head.get("permalink") or "")) or name or digest_of(body)
    common: dict[str, Any] = _times(head) | {"subject": title}
    tags = _tags(head)
    prose: list[str] = []
    count = 0
    for line in body.split("\n"):
        seen, relation = OBSERVATION.match(line), RELATION.match(line)
        if relation:
            verb = " ".join(text_of(relation.group(1)).replace("_", " ").split()) or "relates to"
            content, found = f"{title} {verb} {text_of(relation.group(2))}", ["relation"]
        elif seen:
            content, found = _observation(title, seen.group(2)), [seen.group(1), *HASHTAG.findall(seen.group(2))]
        else:
            prose.append(line)
            continue
        count += 1
        yield from memory_records(
            BASIC, content, id=f"{place}#{digest_of(line.strip())}", tags=[*tags, *found], **common
        )
    for heading, text in sections_of("\n".join(prose)):
        for statement in statements_of(text):
            count += 1
            own = [] if heading == title else [heading]
            yield from memory_records(
                BASIC, statement, id=f"{place}#{digest_of(statement)}", tags=[*tags, *own], **common
            )
    if not count:
        yield broken("The note has no text.", id=f"{BASIC}:{place}"[:100])


def _observation(title: str, text: str) -> str:
    """Return an observation as a statement that is complete without its note."""
    words = HASHTAG.sub("", CONTEXT.sub("", text)).strip()
    context = CONTEXT.search(text)
    statement = " ".join(words.split()) + (f" ({context.group(1).strip()})" if context and context.group(1) else "")
    return f"{title}: {statement}" if title else statement


def read_plain(file: Readable, report: Report, name: str = "") -> Iterator[Record]:
    """Yield plain Markdown: one memory a list item and paragraph, under the nearest heading as their subject."""
    head, body = frontmatter_of(text_all(file, report))
    title = text_of(str(head.get("title") or "")) or name.rpartition("/")[2].removesuffix(".md")
    for heading, text in sections_of(body):
        for statement in statements_of(text):
            yield from memory_records(
                PLAIN, statement, id=digest_of(name, heading, statement), subject=heading or title,
                tags=_tags(head), **_times(head),
            )  # fmt: skip
