"""Forgetting: what a person wants gone leaves facts, versions, dreams, records and journal alike."""

import hmac
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from accounts.access import Access
from api import clock
from api.canonical import canonical_json
from api.errors import Conflict, Invalid
from api.idempotency import answers_forget
from dreams.scrubbing import dreams_scrub
from memories.matching import AllWords, Phrase
from memories.models import ForgetPreview, Memory, MemoryVersion
from memories.schemas import Forget
from memories.services import memories_delete, superseded_by, tombstones_put
from notebook.forgetting import (
    entry_texts,
    journal_forget,
    journal_matches,
    record_texts,
    records_forget,
    records_matches,
)
from notebook.models import JournalEntry, Record

MANY = 25
PREVIEW_LASTS = timedelta(minutes=15)
PREVIEWS = 20
PREVIEW_CHARACTERS = 200


class DryRunRequired(Conflict):
    """409: this would remove much, or what a person said: look first."""

    code = "dry_run_required"
    default = (
        "This would forget more than 25 facts, or pinned or user-stated ones. Call it with dry_run true first, look at "
        "the previews, then repeat it with the same arguments within 15 minutes."
    )


@dataclass
class Found:
    """What a forget would remove."""

    memories: list[Memory] = field(default_factory=list)
    by_query: list[Memory] = field(default_factory=list)
    readable: set[str] = field(default_factory=set)  # of the memories; what waits for the owner is only counted
    versions: list[MemoryVersion] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    journal: list[JournalEntry] = field(default_factory=list)


@transaction.atomic
def facts_forget(*, access: Access, data: Forget) -> dict[str, Any]:
    """Delete facts for good, by id and by all words of a query, and the exact phrase in records and journal.

    Returns {dry_run, memories, records, journal, previews}; a dry run only counts and previews. Nothing brings a
    forgotten text back but storing it anew: neither undo nor extraction nor a dream. Raises DryRunRequired, Forbidden,
    Invalid.
    """
    _check(access, data)
    words, phrase = AllWords(data.query or ""), Phrase(data.query or "")
    if data.query is not None and not words.words:
        raise Invalid.field("query", "It holds no word to look for.")
    found = _find(access, data, words, phrase)
    if data.dry_run:
        _remember_preview(access, data)
    else:
        _look_first(access, data, found)
        _remove(access, data, found, words, phrase)
    return {
        "dry_run": data.dry_run,
        "memories": len(found.memories),
        "records": len(found.records),
        "journal": len(found.journal),
        "previews": _previews(found, phrase) if data.dry_run else [],
    }


def _check(access: Access, data: Forget) -> None:
    if not data.ids and data.query is None:
        raise Invalid.field("query", "Give ids, or a query, or both.")
    if data.query is None and set(data.scopes) != {"memories"}:
        raise Invalid.field("query", "Records and journal are searched for it as an exact phrase.")
    if data.ids and "memories" not in data.scopes:
        raise Invalid.field("ids", "Ids name memories, which are not among the scopes.")
    needed = {"memories": ["memories:delete"], "records": ["records:read", "records:write"],
              "journal": ["journal:read", "journal:write"]}  # fmt: skip
    for scope in data.scopes:
        for name in needed[scope]:
            access.require(name)
    if "memories" in data.scopes and (data.query is not None or data.dry_run):
        access.require("memories:read")  # counts and previews tell what is there


def _find(access: Access, data: Forget, words: AllWords, phrase: Phrase) -> Found:
    found = Found()
    if "memories" in data.scopes:
        rows = Memory.objects.any_status(access)
        by_id = {memory.id: memory for memory in rows.filter(id__in=data.ids)}
        if data.query is not None:
            candidates = words.narrowed(rows).order_by("id").iterator(1_000)
            found.by_query = [m for m in candidates if words.match(m.content, m.subject, *m.tags)]
        by_id |= {memory.id: memory for memory in found.by_query}
        # What was merged into them goes with them, and is counted where the access could have read it.
        merged = {memory.id for memory in superseded_by(access, list(by_id))}
        by_id |= {memory.id: memory for memory in rows.filter(id__in=merged)}
        found.memories = list(by_id.values())
        found.readable = {id for id, memory in by_id.items() if memory.status != Memory.Status.QUARANTINED}
        if data.query is not None:
            found.versions = _versions(access, words, set(by_id))
    if data.query is not None and "records" in data.scopes:
        found.records = records_matches(access, phrase)
    if data.query is not None and "journal" in data.scopes:
        found.journal = journal_matches(access, phrase)
    return found


def _versions(access: Access, words: AllWords, going: set[str]) -> list[MemoryVersion]:
    """Return the earlier versions that match of facts that stay: only their past says what is to be forgotten.

    Of facts that the access may not change none.
    """
    rows = MemoryVersion.objects.visible_to(access).exclude(memory_id__in=going)
    if access.limited or access.write_tool is not None:
        reach = Memory.objects.any_status(access)
        if access.write_tool is not None:
            reach = reach.filter(source_tool=access.write_tool)
        rows = rows.filter(memory_id__in=reach.values("id"))
    return [
        version
        for version in rows.iterator(1_000)
        if words.match(version.fields["content"], version.fields["subject"], *version.fields["tags"])
    ]


def _preview_key(access: Access, data: Forget) -> tuple[str, bytes]:
    """Return the credential, and a keyed digest of what it asks: equal for equal arguments, and telling nothing."""
    asked = {"ids": sorted(set(data.ids)), "query": data.query, "scopes": sorted(set(data.scopes)),
             "journal_mode": data.journal_mode}  # fmt: skip
    digest = hmac.digest(settings.SECRET_KEY.encode(), f"forget:{canonical_json(asked)}".encode(), "sha256")
    return f"{access.actor_kind}:{access.actor_id}", digest


def _remember_preview(access: Access, data: Forget) -> None:
    actor, digest = _preview_key(access, data)
    ForgetPreview.objects.update_or_create(
        space_id=access.space_id, actor=actor, digest=digest, defaults={"at": clock.now()}
    )


def _look_first(access: Access, data: Forget, found: Found) -> None:
    """Raise DryRunRequired for a wide or delicate query that was not previewed by the same credential."""
    delicate = any(memory.pinned or memory.origin == Memory.Origin.USER for memory in found.by_query)
    if len(found.by_query) <= MANY and not delicate:
        return
    actor, digest = _preview_key(access, data)
    since = clock.now() - PREVIEW_LASTS
    if not ForgetPreview.objects.visible_to(access).filter(actor=actor, digest=digest, at__gte=since).exists():
        raise DryRunRequired()


def _remove(access: Access, data: Forget, found: Found, words: AllWords, phrase: Phrase) -> None:
    if found.memories:
        memories_delete(access=access, memories=found.memories, type="memory.forgotten")
    if found.versions:
        tombstones_put(access, {version.fields["content"] for version in found.versions})
        for version in found.versions:
            version.delete()
        answers_forget(access, {version.memory_id for version in found.versions})
    if data.query is not None and "memories" in data.scopes:
        dreams_scrub(access, words.match)
    noted = [*(record.id for record in found.records), *(entry.address for entry in found.journal)]
    records_forget(access, found.records)
    journal_forget(access, found.journal, phrase, redact=data.journal_mode == "redact")
    answers_forget(access, noted)


def _previews(found: Found, phrase: Phrase) -> list[dict[str, str]]:
    """Return up to 20 of {scope, id, text}."""
    shown = [
        {"scope": "memories", "id": memory.id, "text": memory.content[:PREVIEW_CHARACTERS]}
        for memory in found.memories
        if memory.id in found.readable
    ][:PREVIEWS]
    shown += [
        {"scope": "records", "id": record.id, "text": phrase.excerpt(record_texts(record))}
        for record in found.records[:PREVIEWS]
    ]
    shown += [
        {"scope": "journal", "id": entry.address, "text": phrase.excerpt(entry_texts(entry))}
        for entry in found.journal[:PREVIEWS]
    ]
    return shown[:PREVIEWS]
