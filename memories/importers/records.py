"""What the files of other products come to: memories and conversations in our shapes, and what could not be read."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from api.errors import ApiError, Invalid
from api.timestamps import timestamp_format, timestamp_parse
from memories.models import ALPHABET
from memories.schemas import MAX_CONTENT, MAX_METADATA_BYTES, MAX_METADATA_KEYS, MAX_TAGS

SURROGATES = re.compile("[\ud800-\udfff]")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
OMP_ID = re.compile(r"mem_[a-z0-9]{16}")
TYPES = frozenset({"episodic", "semantic", "procedural"})
PIECE = MAX_CONTENT - 200  # of a text that is too long for one memory
MAX_IGNORED = 100
TALK_CHARS = 4_000_000  # of one conversation; what goes on for longer becomes several


@dataclass(frozen=True, slots=True)
class Broken:
    """A record that could not be read, with the error to report and the source's id of it."""

    error: ApiError
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """A conversation of another product. `id` is unique among all products; messages are {role, content, at?}."""

    id: str
    model: str
    topic: str
    messages: list[dict[str, str]]
    created_at: datetime | None = None
    updated_at: datetime | None = None
    url: str | None = None


@dataclass(slots=True)
class Thread:
    """Messages that a reader gets one by one on their way into a conversation, or several when they are very many.

    `given` is the source's id of it, which may come late; without one the messages stand for it.
    """

    product: str
    topic: str = ""
    given: str = ""
    messages: list[dict[str, str]] = field(default_factory=list)
    times: list[datetime] = field(default_factory=list)
    size: int = 0
    number: int = 0

    def add(self, role: str, content: str, at: datetime | None) -> Iterator[Talk]:
        """Take a message; yield the conversation so far when it is long enough."""
        self.messages.append(message_of(role, content, at))
        self.times += [at] if at else []
        self.size += len(content)
        if self.size > TALK_CHARS:
            yield from self.rest()

    def rest(self) -> Iterator[Talk]:
        """Yield the conversation of the messages that are left."""
        if not self.messages:
            return
        self.given = self.given or digest_of(*(message["content"] for message in self.messages))
        self.number += 1
        name = f"{self.product}:{self.given}" + (f"#{self.number}" if self.number > 1 else "")
        yield Talk(
            id=name, model=self.product, topic=self.topic, messages=self.messages,
            created_at=min(self.times, default=None), updated_at=max(self.times, default=None),
        )  # fmt: skip
        self.messages, self.times, self.size = [], [], 0


def message_of(role: str, content: str, at: datetime | None) -> dict[str, str]:
    """Return a message of a conversation."""
    return {"role": role, "content": content} | ({"at": at.isoformat()} if at else {})


@dataclass(slots=True)
class Report:
    """What a reader has to say about a file besides its records."""

    ignored: list[str] = field(default_factory=list)
    repaired: int = 0

    def leave(self, name: str) -> None:
        """Name a part of the file that holds nothing for us, once."""
        if name not in self.ignored and len(self.ignored) < MAX_IGNORED:
            self.ignored.append(name[:200])


Record = dict[str, Any] | Talk | Broken


def broken(sentence: str, *, path: str = "", id: str | None = None) -> Broken:
    """Return a record that is reported with a sentence about one of its fields."""
    return Broken(Invalid.field(path, sentence), id)


def text_of(value: Any) -> str:
    """Return a value as text that can be stored: bad halves of characters become U+FFFD, NUL goes."""
    text = value if isinstance(value, str) else ""
    return SURROGATES.sub("\ufffd", text).replace("\x00", "").strip()


def time_of(value: Any) -> datetime | None:
    """Return the time that a product wrote: seconds or milliseconds since 1970, RFC 3339, or a date; else None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        try:
            return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC) if value > 0 else None
        except (ValueError, OverflowError, OSError):
            return None
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return timestamp_parse(f"{text}T00:00:00Z" if DATE.fullmatch(text) else text)
    except ValueError:
        pass
    try:
        return time_of(float(text))
    except ValueError:
        return None


def tags_of(*sources: Any) -> list[str]:
    """Return tags as the store takes them from strings and lists of strings."""
    tags: list[str] = []
    for source in sources:
        for tag in source if isinstance(source, list) else [source]:
            text = " ".join(text_of(tag).replace(",", " ").split()).lstrip("#")[:50].strip()
            if text:
                tags.append(text)
    return list(dict.fromkeys(tags))[:MAX_TAGS]


def metadata_of(values: dict[str, Any]) -> dict[str, Any]:
    """Return those of the values that fit into a memory's metadata, in order."""
    kept: dict[str, Any] = {}
    size = 2
    for name, value in values.items():
        if value in (None, "", [], {}) or len(kept) == MAX_METADATA_KEYS:
            continue
        clean = json.loads(SURROGATES.sub("\ufffd", json.dumps(value, ensure_ascii=False, default=str)))
        size += len(json.dumps({name: clean}, ensure_ascii=False).encode("utf-8", "replace"))
        if size > MAX_METADATA_BYTES:
            break
        kept[text_of(name)[:100] or "value"] = clean
    return kept


def digest_of(*parts: str) -> str:
    """Return what stands for a record's id when its source gives none: the same text always gives the same."""
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]


def memory_records(
    product: str,
    content: Any,
    *,
    id: Any = None,
    type: Any = "semantic",
    created: Any = None,
    updated: Any = None,
    expires: Any = None,
    tags: Iterable[Any] = (),
    subject: Any = "",
    session: Any = None,
    user: Any = None,
    namespace: Any = None,
    tool: Any = None,
    metadata: dict[str, Any] | None = None,
) -> Iterator[Record]:
    """Yield the records of one statement of another product; a text beyond a memory's length becomes several.

    Times and the source's id are kept, so that the same file imported again adds nothing.
    """
    text = text_of(content)
    given = text_of(id) if isinstance(id, str) else str(id) if isinstance(id, int) else ""
    name = f"{product}:{given or digest_of(text)}"
    if product in ("json", "jsonl") and OMP_ID.fullmatch(given):
        name = given
    if not text:
        yield broken("It has no text.", path="content", id=name if given else None)
        return
    made, changed, ends = time_of(created), time_of(updated), time_of(expires)
    source: dict[str, Any] = {"tool": text_of(tool)[:100] or product}
    for key, value in (("session_id", session), ("user_id", user)):
        if text_of(value):
            source[key] = text_of(value)[:255]
    if made:
        source["timestamp"] = timestamp_format(made)
    fields: dict[str, Any] = {
        "type": type if isinstance(type, str) and type in TYPES else "semantic",
        "source": source, "tags": tags_of(*tags),
        "subject": text_of(subject)[:200], "namespace": text_of(namespace)[:100] or None,
        "metadata": metadata_of(metadata or {}),
    }  # fmt: skip
    for key, moment in (("created_at", made), ("updated_at", changed), ("expires_at", ends)):
        if moment:
            fields[key] = timestamp_format(moment)
    for number, piece in enumerate(pieces_of(text), 1):
        yield {"id": name if number == 1 else f"{name}#{number}", "content": piece} | fields


def pieces_of(text: str) -> list[str]:
    """Return a text in pieces that fit into memories, cut at paragraphs, lines or words as far as possible."""
    pieces: list[str] = []
    start = 0
    while len(text) - start > MAX_CONTENT:
        window = text[start : start + PIECE]
        found = (window.rfind(mark, PIECE // 2) + len(mark) for mark in ("\n\n", "\n", ". ", " "))
        cut = next((end for end in found if end > PIECE // 2), PIECE)
        pieces.append(window[:cut].strip())
        start += cut
    pieces.append(text[start:].strip())
    return [piece for piece in pieces if piece]


def id_letters(text: str) -> str:
    """Return the 16 letters and digits of the id that a foreign id gets: the same text always gives the same."""
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest())
    letters = ""
    while len(letters) < 16:
        digest, rest = divmod(digest, len(ALPHABET))
        letters += ALPHABET[rest]
    return letters
