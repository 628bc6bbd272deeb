"""The two tools that have the service's own AI worker read a transcript; the operator switches them on."""

from typing import Annotated, Any

from pydantic import Field

from accounts.access import Access, space_transaction
from aiworker.ai_views import failure_of, material_from, memories_of, transcript_work
from aiworker.jobs import OPEN
from aiworker.models import Job
from aiworker.schemas import MAX_TRANSCRIPT, TranscriptBody
from aiworker.views import job_present
from api.errors import Conflict
from api.schemas import ClosedBody, Text, Timestamp
from mcpserver.results import fact_present, noticed
from memories.schemas import Namespace, Tool


class Transcript(ClosedBody):
    """The arguments of extract_memories and compress_conversation: what POST /v1/extract takes, without keys."""

    transcript: Annotated[str, Text(MAX_TRANSCRIPT)] = Field(repr=False)
    source_tool: Tool | None = None
    namespace: Namespace | None = None
    session_id: Annotated[str, Text(255)] | None = None
    timestamp: Timestamp | None = None


def extract_memories(access: Access, data: Transcript) -> dict[str, Any]:
    """Return the memories that a transcript held, or the job when it takes longer than a call may wait."""
    job = _worked(access, "extract", data)
    if job.result is None:
        return {"job": job_present(job)}
    with space_transaction(access):
        memories = memories_of(access, job.result["memory_ids"])
    return noticed({"extracted": len(memories), "memories": [fact_present(memory) for memory in memories]})


def compress_conversation(access: Access, data: Transcript) -> dict[str, Any]:
    """Return the one memory that a transcript was compressed to, or the job."""
    job = _worked(access, "compress", data)
    if job.result is None:
        return {"job": job_present(job)}
    with space_transaction(access):
        memories = memories_of(access, [job.result["memory_id"]])
    if not memories:
        raise Conflict("The summary was deleted in the moment after it was stored.")
    return noticed({"memory": fact_present(memories[0])})


def _worked(access: Access, kind: str, data: Transcript) -> Job:
    """Return the job after the wait: succeeded, or still open without a result. Raises the error that it ended with."""
    job = transcript_work(access, kind, material_from(access, TranscriptBody(**data.model_dump())))
    if job.status not in OPEN and (job.status != Job.Status.SUCCEEDED or job.result is None):
        raise failure_of(job)
    return job
