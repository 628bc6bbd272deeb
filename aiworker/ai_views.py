"""/v1/extract, /v1/compress and /v1/usage: the AI work that a client asks for (OMP 0.1, section 3.3)."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import Access, space_transaction
from aiworker.jobs import OPEN, job_create, job_wait
from aiworker.models import AiUsage, Job
from aiworker.providers import key_for
from aiworker.schemas import MAX_TRANSCRIPT_BYTES, TranscriptBody
from aiworker.usage import cost_present
from aiworker.views import accepted, prefers_async
from aiworker.work import Material
from api.errors import AiError, ApiError, Conflict, Forbidden, NoApiKey, RateLimited
from api.idempotency import idempotent
from api.views import ApiView
from memories.models import Memory
from memories.representation import memory_present
from memories.schemas import WriteParams, query_params
from memories.services import namespace_for, tool_for

DEFAULT_TOOL = "omp-extract"
FAILURES: dict[str, type[ApiError]] = {error.code: error for error in (AiError, Conflict, Forbidden, NoApiKey)}
RETRY_SECONDS = 5
# A request that waits holds a thread of the web server; the rest of the threads stay free for requests that do not.
waiting = threading.BoundedSemaphore(max(1, settings.AI_WAITING_REQUESTS))


@contextmanager
def waiting_place() -> Iterator[None]:
    """Hold one of the places of requests that wait. Raises RateLimited when all are taken: nothing has begun then."""
    if not waiting.acquire(blocking=False):
        raise RateLimited(
            "Too many requests wait for AI work. Try again, or send `Prefer: respond-async` to be answered with a job.",
            headers={"Retry-After": str(RETRY_SECONDS)},
        )
    try:
        yield
    finally:
        waiting.release()


def material_from(access: Access, body: TranscriptBody) -> Material:
    """Return what a job works on for a request. Raises NoApiKey, and Forbidden for what the key may not write."""
    tool = body.source_tool or (None if access.write_tool else DEFAULT_TOOL)
    provider, _ = key_for(body.provider, body.api_key)
    return Material(
        transcript=body.transcript, date=body.timestamp or timezone.now(), tool=tool_for(access, tool),
        provider=provider, api_key=body.api_key, namespace=namespace_for(access, body.namespace),
        session_id=body.session_id or None,
    )  # fmt: skip


def transcript_work(access: Access, kind: str, material: Material) -> Job:
    """Return the job that works on a transcript once it has ended, or as it is after OMP_AI_WAIT_SECONDS.

    Raises RateLimited when too many requests wait already.
    """
    with waiting_place():
        with space_transaction(access):
            job = job_create(access=access, kind=kind, params={}, inputs=[material.pack()])
        return job_wait(access, job.id, settings.AI_WAIT_SECONDS)


def failure_of(job: Job) -> ApiError:
    """Return the error that a job ended with, as the request that waited for it answers it."""
    if job.status == Job.Status.CANCELLED:
        return Conflict("The job was cancelled before it ended.", {"job": job.id})
    error = job.error or {}
    kind = FAILURES.get(error.get("error", ""))
    return kind(error["message"], error["details"]) if kind else ApiError(details={"job": job.id})


def memories_of(access: Access, ids: list[str]) -> list[Memory]:
    """Return the memories that a job of this access has written, in order: also those that wait for the owner."""
    # The limits of a key that reads other tools than it writes do not hide its own work from it.
    rows = Memory.objects.any_status(Access.system(access.space_id)).filter(id__in=ids)
    by_id = {memory.id: memory for memory in rows}
    return [by_id[memory_id] for memory_id in ids if memory_id in by_id]


class TranscriptView(ApiView):
    """Takes a transcript, has a worker work on it and waits for the result, within limits."""

    scopes: ClassVar = {"POST": "ai"}
    query_params = query_params(WriteParams)
    max_body_bytes = MAX_TRANSCRIPT_BYTES
    atomic = False  # no transaction and no connection is held while a provider is at work
    kind: ClassVar[str]

    @idempotent
    def post(self, request: Request) -> Response:
        """Answer 201 with what the transcript came to, or 202 with the job."""
        full = self.query(WriteParams).view == "full"
        material = material_from(self.access, self.body(TranscriptBody))
        if prefers_async(request):
            with space_transaction(self.access):
                return accepted(job_create(access=self.access, kind=self.kind, params={}, inputs=[material.pack()]))
        job = transcript_work(self.access, self.kind, material)
        with space_transaction(self.access):
            if job.status in OPEN:
                return accepted(job)
            if job.status != Job.Status.SUCCEEDED or job.result is None:
                raise failure_of(job)
            return Response(self.answer(job.result, full=full), status=201)

    def answer(self, result: dict[str, Any], *, full: bool) -> dict[str, Any]:
        """Return the body of a 201 for a job's result."""
        raise NotImplementedError


class ExtractView(TranscriptView):
    """/v1/extract."""

    kind = "extract"

    def answer(self, result: dict[str, Any], *, full: bool) -> dict[str, Any]:
        """Return {"extracted", "memories"}, and what was left out when anything was."""
        memories = [memory_present(memory, full=full) for memory in memories_of(self.access, result["memory_ids"])]
        body: dict[str, Any] = {"extracted": len(memories), "memories": memories}
        if result["skipped"] or result["secrets_masked"]:
            body |= {"skipped": result["skipped"], "secrets_masked": result["secrets_masked"]}
        return body


class CompressView(TranscriptView):
    """/v1/compress."""

    kind = "compress"

    def answer(self, result: dict[str, Any], *, full: bool) -> dict[str, Any]:
        """Return {"memory"}, and how many secrets were left out when there were any."""
        memories = memories_of(self.access, [result["memory_id"]])
        if not memories:
            raise Conflict("The summary was deleted in the moment after it was stored.")
        body: dict[str, Any] = {"memory": memory_present(memories[0], full=full)}
        return body | ({"secrets_masked": result["secrets_masked"]} if result["secrets_masked"] else {})


class UsageView(ApiView):
    """/v1/usage."""

    scopes: ClassVar = {"GET": "space:read"}

    def get(self, request: Request) -> Response:
        """Return what the space's AI work of the last 90 days with any came to, by day, model and purpose."""
        days = AiUsage.objects.visible_to(self.access).order_by("-day").values_list("day", flat=True).distinct()[:90]
        rows = AiUsage.objects.visible_to(self.access).filter(day__in=list(days))
        usage = [
            {
                "day": row.day.isoformat(), "provider": row.provider, "model": row.model, "purpose": row.purpose,
                "calls": row.calls, "input_tokens": row.input_tokens, "output_tokens": row.output_tokens,
                "cost_usd": cost_present(row.cost_micros),
            }
            for row in rows.order_by("-day", "provider", "model", "purpose")
        ]  # fmt: skip
        return Response({"usage": usage})
