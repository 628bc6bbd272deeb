"""How a person reads memories: the words that matched, what changed between versions, who read one."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Any

from django.db.models import Count, Max
from django.utils.html import escape, format_html_join
from django.utils.safestring import SafeString, mark_safe

from accounts.access import Access
from events.models import Event
from memories.models import Memory, MemoryVersion

WORD = re.compile(r"\w+", re.UNICODE)
READS = ("memory.read", "memory.listed", "memory.searched", "memory.recalled", "memory.exported", "context.read")
SHOWN_FIELDS = ("content", "type", "subject", "tier", "tags", "namespace", "pinned", "expires_at", "metadata",
                "evidence_deleted")  # fmt: skip


def marked(text: str, query: str) -> SafeString:
    """Return the text escaped, with words that begin like a word of the query marked."""
    stems = {word.casefold()[: max(3, len(word) - 2)] for word in WORD.findall(query) if len(word) > 1}
    parts: list[str] = []
    last = 0
    for match in WORD.finditer(text):
        word = match.group().casefold()
        if any(word.startswith(stem) for stem in stems):
            parts += [escape(text[last : match.start()]), "<mark>", escape(match.group()), "</mark>"]
            last = match.end()
    return mark_safe("".join([*parts, escape(text[last:])]))  # noqa: S308  # every part is escaped


def why_words(scores: dict[str, Any]) -> list[str]:
    """Return in words why a search found a memory, from the reasons that the search gives."""
    if scores.get("keyword"):
        return ["its words match"]
    return ["its meaning is close"] if scores.get("semantic") else []


def diff(before: str, after: str) -> SafeString:
    """Return the second text with what was removed from the first in <del> and what was added in <ins>."""
    old, new = re.split(r"(\s+)", before), re.split(r"(\s+)", after)
    parts: list[tuple[str, str]] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            parts.append(("", "".join(new[c:d])))
            continue
        if a < b:
            parts.append(("del", "".join(old[a:b])))
        if c < d:
            parts.append(("ins", "".join(new[c:d])))
    pieces = (
        (mark_safe(f"<{tag}>" if tag else ""), text, mark_safe(f"</{tag}>" if tag else ""))  # noqa: S308
        for tag, text in parts
        if text
    )
    return format_html_join("", "{}{}{}", pieces)


def history(access: Access, memory: Memory) -> list[dict[str, Any]]:
    """Return the versions that a memory had, newest first, each with what the next one changed."""
    kept = list(MemoryVersion.objects.visible_to(access).filter(memory_id=memory.id).order_by("-version")[:50])
    after: dict[str, Any] = {name: getattr(memory, name) for name in SHOWN_FIELDS}
    entries = []
    for version in kept:
        before = version.fields
        changed = [
            name for name in SHOWN_FIELDS
            if name != "content" and str(before.get(name) or "") != str(after.get(name) or "") and name != "expires_at"
        ]  # fmt: skip
        entries.append(
            {
                "version": version, "changed": [(name, before.get(name), after.get(name)) for name in changed],
                "diff": diff(before["content"], after["content"]) if before["content"] != after["content"] else "",
            }
        )  # fmt: skip
        after = before
    return entries


def readers(access: Access, memory: Memory) -> Iterable[Any]:
    """Return who has read a memory, how often and when last, newest first."""
    rows: Any = Event.objects.visible_to(access).filter(object_ids__contains=[memory.id], type__in=READS)
    readers: Iterable[Any] = (
        rows.values("actor_kind", "actor_name").annotate(times=Count("id"), last=Max("at")).order_by("-last")[:20]
    )
    return readers
