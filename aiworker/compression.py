"""A conversation becomes one summary (OMP 0.1, section 3.3)."""

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from accounts.access import Access, space_transaction
from aiworker.jobinputs import Kept
from aiworker.jobruns import Progress
from aiworker.models import Job
from aiworker.prompts import compress_prompt
from aiworker.review import stored_alike, tombstoned
from aiworker.secretscan import secrets_mask
from aiworker.segments import parts_of, segments_of
from aiworker.work import Desk, Material, material_of
from api.errors import Conflict
from api.text import text_clean, text_normal, text_problem
from memories.models import Memory
from memories.quota import quota_check
from memories.schemas import MAX_CONTENT, MemoryCreate, SourceIn
from memories.services import memories_create, memory_build

TAGS = ["session-summary"]


class Summary(BaseModel):
    """A model's answer: some visible text, cut to what a memory holds."""

    model_config = ConfigDict(extra="ignore")
    summary: str

    @field_validator("summary")
    @classmethod
    def _tidy(cls, value: str) -> str:
        if text_problem(value) or not text_clean(value).strip():
            raise ValueError("It is empty or no text.")
        return text_clean(value).strip()[:MAX_CONTENT]


def compress_run(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Do a compress job; return {"memory_id", "secrets_masked", "usage"}.

    A summary that is stored already, word for word, is not stored again: the answer is the memory that holds it.
    Raises Conflict when this very text was deleted before, QuotaFull when nothing could be stored.
    """
    if "state" in job.params:
        return dict(job.params["state"])
    access = replace(access, channel="extract")
    with space_transaction(access):
        quota_check(access)  # before tokens are spent on what could not be stored
    material = material_of(access, job)
    masked, secrets = secrets_mask(material.transcript)
    with Desk.of(access, material, "compress", progress.check_cancelled) as desk:
        summary = _summary(access, job, progress, desk, replace(material, transcript=masked))
    summary, more = secrets_mask(summary)
    progress.check_cancelled()
    with space_transaction(access):
        if tombstoned(access, [summary]):
            raise Conflict("A summary with exactly this text was deleted before, so it is not stored again.")
        memory_id = _stored_exactly(access, summary)
        if memory_id is None:
            memory = _memory(access, job, material, summary)
            memories_create(access=access, memories=[memory])
            memory_id = memory.id
        result = {"memory_id": memory_id, "secrets_masked": secrets + more, "usage": desk.account()}
        progress.advance(job.total or 1, state=result)
    return result


def _summary(access: Access, job: Job, progress: Progress, desk: Desk, material: Material) -> str:
    """Return one summary: of the transcript, or of the notes on its parts when it is long."""
    parts = parts_of(segments_of(material.transcript))
    total = len(parts) + (2 if len(parts) > 1 else 1)
    notes: list[str] = []
    kept = Kept(access, job)
    for index, part in enumerate(parts):
        noted = kept.get(index)
        if noted is None:
            prompt = compress_prompt([segment.text for segment in part], date=material.date, notes=False)
            note = desk.ask(prompt, Summary).summary
            with space_transaction(access):
                progress.advance(index + 1, total)
                kept.put(index, note.encode())
        else:
            note = noted.decode()
        notes.append(note)
    if len(notes) == 1:
        return notes[0]
    summary = desk.ask(compress_prompt(notes, date=material.date, notes=True), Summary).summary
    progress.advance(len(parts) + 1, total)
    return summary


def _stored_exactly(access: Access, summary: str) -> str | None:
    memory_id = stored_alike(access, summary)
    if memory_id is None:
        return None
    content = Memory.objects.visible_to(access).values_list("content", flat=True).get(id=memory_id)
    return memory_id if text_normal(content) == text_normal(summary) else None


def _memory(access: Access, job: Job, material: Material, summary: str) -> Memory:
    return memory_build(
        access=access,
        data=MemoryCreate(
            content=summary, type="episodic", tags=TAGS, namespace=material.namespace,
            source=SourceIn(tool=material.tool, timestamp=material.date, session_id=material.session_id),
            source_ref=material.origin or job.id,
        ),
    )  # fmt: skip
