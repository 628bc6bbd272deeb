"""A transcript becomes memories, once (OMP 0.1, section 3.3)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.db import connection
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, model_validator

from accounts.access import Access, space_transaction
from aiworker.jobinputs import Kept
from aiworker.jobruns import Progress
from aiworker.models import Job
from aiworker.prompts import extract_prompt
from aiworker.review import Proposal, proposals_review, stored_since, tags_tidy, tombstoned
from aiworker.secretscan import Masked, text_mask
from aiworker.segments import Segment, parts_of, segments_of, span_of
from aiworker.statements import Statement
from aiworker.work import Desk, Material, material_of
from memories.models import Memory
from memories.quota import quota_check
from memories.schemas import MemoryCreate, SourceIn
from memories.services import memories_create, memory_build

MAX_MEMORIES = 200  # of one transcript; a model that gives more is not extracting


class Extracted(BaseModel):
    """A memory as a model gives it."""

    model_config = ConfigDict(extra="ignore")
    content: str
    type: Literal["episodic", "semantic", "procedural"]
    tags: list[Any] = Field(default_factory=list)
    first: int = 0
    last: int = 0


class Extraction(BaseModel):
    """A model's answer for one part; a bare list is read as its memories."""

    model_config = ConfigDict(extra="ignore")
    memories: list[Extracted]

    @model_validator(mode="before")
    @classmethod
    def _listed(cls, value: Any) -> Any:
        return {"memories": value} if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a transcript came to: memories that are stored, what was left out, how many secrets it held."""

    memory_ids: list[str]
    skipped: Counter[str]
    secrets: int


@dataclass(frozen=True, slots=True)
class Extractor:
    """Extracts memories for one job. `access` is the job's, with the channel `extract`."""

    access: Access
    job: Job
    progress: Progress
    desk: Desk

    def run(self, material: Material, step: Callable[[int, int], None], done: Callable[[Outcome], None]) -> Outcome:
        """Extract and store the memories of one transcript.

        `step` (part, parts) is called in the transaction that keeps a part's answer, `done` in the one that stores
        the memories: so that a job taken up again after a crash asks and stores nothing twice. Raises QuotaFull.
        """
        with space_transaction(self.access):
            quota_check(self.access)  # before tokens are spent on what could not be stored
        masked = text_mask(material.transcript)
        proposals = self._proposals(masked.text, material, step)
        began = timezone.now()
        verdict = proposals_review(self.access, masked.text, proposals)
        self.progress.check_cancelled()
        with space_transaction(self.access):
            self._one_at_a_time()
            fresh, skipped = self._unknown_still(verdict.accepted, began), verdict.skipped
            if len(fresh) < len(verdict.accepted):
                skipped["duplicate"] += len(verdict.accepted) - len(fresh)
            memories = [self._memory(material, proposal, masked) for proposal in fresh]
            if memories:
                memories_create(access=self.access, memories=memories)
            Kept(self.access, self.job).drop()
            outcome = Outcome([memory.id for memory in memories], skipped, len(masked.spans))
            done(outcome)
        return outcome

    def _proposals(self, masked: str, material: Material, step: Callable[[int, int], None]) -> list[Proposal]:
        """Return what the model proposes for every part; a part answered before a crash is not asked again."""
        parts = parts_of(segments_of(masked))
        proposals: list[Proposal] = []
        kept = Kept(self.access, self.job)
        for index, part in enumerate(parts):
            answered = kept.get(index)
            if answered is None:
                prompt = extract_prompt(part, date=material.date, part=index + 1, parts=len(parts))
                answer = self.desk.ask(prompt, Extraction)
                with space_transaction(self.access):
                    # First, since it fails when another attempt has taken the job over.
                    step(index + 1, len(parts))
                    kept.put(index, answer.model_dump_json().encode())
            else:
                answer = Extraction.model_validate_json(answered)
            proposals += [_proposal(part, found) for found in answer.memories]
        return proposals[:MAX_MEMORIES]

    def _one_at_a_time(self) -> None:
        """Let one extraction of a space write at a time: two of the same transcript see each other's memories."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('extract', %s))", [self.access.space_id])

    def _unknown_still(self, proposals: Sequence[Proposal], since: datetime) -> list[Proposal]:
        """Return the proposals that nobody has stored or deleted since the review began."""
        buried = tombstoned(self.access, [proposal.content for proposal in proposals])
        recent = [Statement(text) for text in stored_since(self.access, since)] if proposals else []
        return [
            proposal for proposal in proposals
            if proposal.content not in buried and not any(map(Statement(proposal.content).repeats, recent))
        ]  # fmt: skip

    def _memory(self, material: Material, proposal: Proposal, masked: Masked) -> Memory:
        start, end = masked.original(proposal.start), masked.original(proposal.end)
        source = SourceIn(tool=material.tool, timestamp=material.date, session_id=material.session_id)
        fields = {
            "content": proposal.content, "type": proposal.type, "tags": proposal.tags, "source": source,
            "namespace": material.namespace,
            "source_ref": f"{material.origin or self.job.id}#{start}-{end}",
        }  # fmt: skip
        return memory_build(access=self.access, data=MemoryCreate.model_validate(fields))


def _proposal(part: Sequence[Segment], found: Extracted) -> Proposal:
    start, end = span_of(part, found.first, found.last)
    return Proposal(found.content.strip(), found.type, tags_tidy(found.tags), start, end)


def extract_run(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Do an extract job; return what it stored by id and what it left out.

    {"extracted", "memory_ids", "skipped": {reason: n}, "secrets_masked", "usage"}.
    """
    if "state" in job.params:
        return dict(job.params["state"])
    access = replace(access, channel="extract")
    material = material_of(access, job)
    result: dict[str, Any] = {}

    def step(part: int, parts: int) -> None:
        progress.advance(part, parts + 1)

    def done(outcome: Outcome) -> None:
        result.update(
            extracted=len(outcome.memory_ids), memory_ids=outcome.memory_ids, skipped=dict(outcome.skipped),
            secrets_masked=outcome.secrets, usage=desk.account(),
        )  # fmt: skip
        progress.advance(job.total or 1, job.total or 1, state=result)

    with Desk.of(access, material, "extract", progress.check_cancelled) as desk:
        Extractor(access, job, progress, desk).run(material, step, done)
    return result
