"""Which of the memories that a model proposes are stored: no secrets, no obedience, no inventions, nothing twice."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from accounts.access import Access, space_transaction
from aiworker.secretscan import MARK, secret_spans
from aiworker.segments import SENTENCE_END
from aiworker.statements import COMMON, PREPOSITIONS, Statement, words_of
from api.text import text_clean, text_problem
from memories.models import Memory, Tombstone, content_digest
from memories.schemas import MAX_CONTENT
from memories.search import SearchQuery, search_memories

MAX_TAGS = 5
STEM = 5  # letters of a word that inflection leaves alone, roughly
CANDIDATES = 5
MAX_RECENT = 2_000
COMMITTING = timedelta(minutes=2)  # rows carry the time of their transaction, not that of its commit

# A sentence that speaks to a model or to the memory system. Whatever follows it on its line is what it asks for, not
# something about the person. "Remember that I ..." is not among these: people say so to their assistants and mean it.
ORDER = re.compile(
    r"""
    \b(?:ignore|disregard|forget|override|ignorier\w*|vergiss|vergessen|ignorez|oubliez|ignora|ignoren|olvida|olviden)\b
      .{0,40}\b(?:above|previous|prior|earlier|preceding|instruction\w*|prompt\w*|rules|
        obige\w*|vorherige\w*|bisherige\w*|anweisung\w*|ci-dessus|précédent\w*|anterior\w*|instruccion\w*)\b
    | \b(?:new|updated|system|developer|hidden)[ ](?:prompt|override|instructions?)\b
    | \b(?:system|developer)[ ]?:\s
    | \b(?:note|message|instructions?|attention)[ ](?:to|for)[ ](?:the[ ]|any[ ])?
      (?:ai|assistant|model|llm|summari[sz]er|extractor|memory[ ](?:system|tool|extractor|assistant))\b
    | \bmemory[ ](?:extraction|extractor|system)\b | \bsave_memories\b
    | </?(?:system|instructions?|transcript|data)> | \[/?INST\] | <\|im_(?:start|end)\|>
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A memory that a model proposes, with the span of the transcript (code points) that it cites."""

    content: str
    type: str
    tags: list[str]
    start: int
    end: int


@dataclass(slots=True)
class Verdict:
    """The proposals to store, in order, and how many were left out for which reason."""

    accepted: list[Proposal] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)


def tags_tidy(tags: Iterable[Any]) -> list[str]:
    """Return a model's tags as the store takes them."""
    tidy = [" ".join(text_clean(tag).replace(",", " ").split()).lower()[:50] for tag in tags if isinstance(tag, str)]
    return list(dict.fromkeys(tag for tag in tidy if tag and not text_problem(tag)))[:MAX_TAGS]


def _telling(text: str) -> set[str]:
    """Return the words that a text shares with another of the same subject, whatever their endings."""
    return {word[:STEM] for word in words_of(text) if word not in COMMON and word not in PREPOSITIONS}


def obedient(content: str, passage: str) -> bool:
    """Return whether a memory owes more to an order in its passage than to what the person says there."""
    honest: list[str] = []
    ordered: list[str] = []
    for line in passage.splitlines():
        tainted = False
        for sentence in SENTENCE_END.split(line):
            tainted = tainted or bool(ORDER.search(sentence))
            (ordered if tainted else honest).append(sentence)
    if not ordered:
        return False
    telling = _telling(content)
    return len(telling & _telling(" ".join(ordered))) > len(telling & _telling(" ".join(honest)))


def _fault(access: Access, proposal: Proposal, transcript: str, known: frozenset[str]) -> str | None:
    """Return why a proposal by itself is not stored, None when it may be."""
    content = proposal.content
    if text_problem(content) or not content.strip() or len(content) > MAX_CONTENT:
        return "unusable"
    if MARK in content or secret_spans(content):
        return "secret"
    if access.types is not None and proposal.type not in access.types:
        return "not_allowed"
    if ORDER.search(content) or obedient(content, transcript[proposal.start : proposal.end]):
        return "instruction"
    telling = _telling(content)
    if telling and not telling & known:
        return "ungrounded"
    return None


def proposals_review(access: Access, transcript: str, proposals: Sequence[Proposal]) -> Verdict:
    """Return which proposals to store. Searches the space's memories, so call it outside of any transaction."""
    verdict = Verdict()
    known = frozenset(_telling(transcript))
    kept: list[Statement] = []
    for proposal in proposals:
        fault = _fault(access, proposal, transcript, known)
        statement = Statement(proposal.content)
        if fault is None and any(map(statement.repeats, kept)):
            fault = "repeated"
        if fault is None and stored_alike(access, proposal.content) is not None:
            fault = "duplicate"
        if fault:
            verdict.skipped[fault] += 1
        else:
            verdict.accepted.append(proposal)
            kept.append(statement)
    buried = tombstoned(access, [proposal.content for proposal in verdict.accepted])
    left = [proposal for proposal in verdict.accepted if proposal.content not in buried]
    if len(left) < len(verdict.accepted):
        verdict.skipped["deleted_before"] += len(verdict.accepted) - len(left)
        verdict.accepted = left
    return verdict


def stored_alike(access: Access, content: str) -> str | None:
    """Return the id of a stored memory that says the same, None when there is none.

    What says the same shares most of its words, so the search by words finds it. The one by meaning costs ten times as
    much; it is asked only about what may say the same in other words. A key that may not read is told of none: it
    learns nothing about what is stored.
    """
    if not access.may("memories:read"):
        return None
    query = SearchQuery(q=content[:2_000], mode="keyword", limit=CANDIDATES)
    ids = [hit.memory_id for hit in search_memories(access, query).hits]
    with space_transaction(access):
        rows = Memory.objects.visible_to(access).filter(id__in=ids).values_list("id", "content")
        texts = {memory_id: Statement(text) for memory_id, text in rows}
    statement = Statement(content)
    known = [memory_id for memory_id in ids if memory_id in texts]
    same = next((memory_id for memory_id in known if statement.repeats(texts[memory_id])), None)
    near = [memory_id for memory_id in known if statement.rephrases(texts[memory_id])]
    if same is None and near:
        found = search_memories(access, replace(query, mode="semantic"))
        alike = {hit.memory_id for hit in found.hits if found.alike is not None and hit.score >= found.alike}
        same = next((memory_id for memory_id in near if memory_id in alike), None)
    return same


def stored_since(access: Access, moment: datetime) -> list[str]:
    """Return the newest visible texts that were stored since a moment, for a key that may read."""
    if not access.may("memories:read"):
        return []
    rows = Memory.objects.visible_to(access).filter(created_at__gte=moment - COMMITTING)
    return list(rows.order_by("-created_at").values_list("content", flat=True)[:MAX_RECENT])


def tombstoned(access: Access, contents: Sequence[str]) -> frozenset[str]:
    """Return those of the texts that were deleted from the space before."""
    digests = {content_digest(access.space_id, content): content for content in contents}
    with space_transaction(access):
        rows = Tombstone.objects.visible_to(access).filter(digest__in=list(digests)).values_list("digest", flat=True)
        return frozenset(digests[bytes(digest)] for digest in rows)
