"""Markdown: notes of basic-memory with their observations and relations, and plain Markdown."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import yaml

from memories.importers.records import Record, Report, broken, digest_of, memory_records, text_of
from memories.importers.streams import Readable, text_lines

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
MAX_STATEMENT = 1024 * 1024


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


def head_and_body(file: Readable, report: Report) -> tuple[dict[str, Any], Iterator[str]]:
    """Return the YAML head of a note, {} without a readable one, and the lines below it."""
    lines = text_lines(file, report, MAX_STATEMENT)
    taken: list[str] = []
    size = marks = 0
    while marks < 2 and size <= MAX_FRONTMATTER and (line := next(lines, None)) is not None:
        taken.append(line)
        size += len(line)
        marks += line.rstrip() == "---"
        if line.strip() and not marks:
            break
    head, body = frontmatter_of("".join(taken))
    return head, chain(body.removesuffix("\n").split("\n"), (line.rstrip("\n") for line in lines))


@dataclass(slots=True)
class Statements:
    """Takes a text line by line and gives its statements: list items with what is indented below them, and paragraphs.

    Each comes with its heading; with `bold`, a line in bold is a heading, too. A text without an end is cut.
    """

    bold: bool = False
    heading: str = ""
    held: list[str] = field(default_factory=list)
    size: int = 0
    fenced: bool = False
    item: bool = False

    def of(self, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
        """Yield (heading, statement) for a whole text."""
        for line in lines:
            yield from self.take(line)
        yield from self.rest()

    def take(self, line: str) -> Iterator[tuple[str, str]]:
        """Take a line; yield (heading, statement) when it ends one."""
        fence = line.lstrip().startswith("```")
        found = None
        if not self.fenced:
            found = HEADING.match(line) or (BOLD.match(line.strip()) if self.bold else None)
        bullet = None if self.fenced else BULLET.match(line)
        begins = bullet is not None and not bullet.group(1)
        outdented = self.item and not line[:1].isspace() and not bullet
        if found or self.size > MAX_STATEMENT or (not self.fenced and (begins or outdented or not line.strip())):
            yield from self.rest()
        if found:
            self.heading, self.fenced = found.group(found.lastindex or 1), False
            return
        if bullet and begins:
            self.held, self.item = [bullet.group(2)], True
        elif line.strip() or self.fenced:
            self.held.append(line.strip() if self.item else line)
        self.size += len(line)
        self.fenced ^= fence

    def rest(self) -> Iterator[tuple[str, str]]:
        """Yield the statement that is under way; one that only draws a line is none."""
        statement = "\n".join(self.held).strip()
        self.held, self.item, self.size = [], False, 0
        if statement.strip("-*_= \n"):
            yield self.heading, statement


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
    head, lines = head_and_body(file, report)
    title = text_of(str(head.get("title") or "")) or name.rpartition("/")[2].removesuffix(".md")
    place = text_of(str(head.get("permalink") or "")) or name or title
    common: dict[str, Any] = _times(head) | {"subject": title}
    tags = _tags(head)
    prose = Statements()
    count = 0

    def written(statements: Iterable[tuple[str, str]]) -> Iterator[Record]:
        for heading, statement in statements:
            own = [] if heading == title else [heading]
            yield from memory_records(
                BASIC, statement, id=f"{place}#{digest_of(statement)}", tags=[*tags, *own], **common
            )

    for line in lines:
        found = _own(title, line)
        records: Iterator[Record] = iter(())
        if found:
            content, own = found
            records = memory_records(
                BASIC, content, id=f"{place}#{digest_of(line.strip())}", tags=[*tags, *own], **common
            )
        for record in chain(written(prose.take("" if found else line)), records):
            count += 1
            yield record
    for record in written(prose.rest()):
        count += 1
        yield record
    if not count:
        yield broken("The note has no text.", id=f"{BASIC}:{place}"[:100])


def _own(title: str, line: str) -> tuple[str, list[str]] | None:
    """Return the statement and the tags of a line that is an observation or a relation, else None."""
    seen, relation = OBSERVATION.match(line), RELATION.match(line)
    if relation:
        verb = " ".join(text_of(relation.group(1)).replace("_", " ").split()) or "relates to"
        return f"{title} {verb} {text_of(relation.group(2))}", ["relation"]
    if seen:
        return _observation(title, seen.group(2)), [seen.group(1), *HASHTAG.findall(seen.group(2))]
    return None


def _observation(title: str, text: str) -> str:
    """Return an observation as a statement that is complete without its note."""
    words = HASHTAG.sub("", CONTEXT.sub("", text)).strip()
    context = CONTEXT.search(text)
    statement = " ".join(words.split()) + (f" ({context.group(1).strip()})" if context and context.group(1) else "")
    return f"{title}: {statement}" if title else statement


def read_plain(file: Readable, report: Report, name: str = "") -> Iterator[Record]:
    """Yield plain Markdown: one memory a list item and paragraph, under the nearest heading as their subject."""
    head, lines = head_and_body(file, report)
    title = text_of(str(head.get("title") or "")) or name.rpartition("/")[2].removesuffix(".md")
    for heading, statement in Statements().of(lines):
        yield from memory_records(
            PLAIN, statement, id=digest_of(name, heading, statement), subject=heading or title, tags=_tags(head),
            **_times(head),
        )  # fmt: skip
