"""Extraction of many stored conversations as one job, with an estimate of its cost beforehand."""

import json
from collections import Counter
from contextlib import closing
from dataclasses import replace
from typing import Any

from django.conf import settings
from django.db.models import Count, Func, IntegerField, QuerySet, Sum, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from accounts.access import Access, space_transaction
from aiworker.extraction import Extractor, Outcome
from aiworker.jobinputs import job_inputs
from aiworker.jobruns import Progress, Turn
from aiworker.jobs import job_create
from aiworker.models import Job
from aiworker.prompts import EXTRACT
from aiworker.providers import key_for, provider_of
from aiworker.providers.base import ProviderError, Usage
from aiworker.sealing import key_open, key_seal
from aiworker.segments import OVERLAP_CHARS, PART_CHARS
from aiworker.usage import BYTES_PER_TOKEN, cost_micros, cost_present
from aiworker.work import Desk, Material
from api.errors import NotFound
from conversations.models import Conversation
from conversations.schemas import ExtractMany
from conversations.services import transcript_of

PROMPT_TOKENS = len(EXTRACT) // BYTES_PER_TOKEN + 250  # instructions, schema and frame of one request
ANSWER_TOKENS = 400  # of a usual part
NUMBERING = 1.1  # segments are numbered
# Failures of one text, which the next one need not share.
OF_THE_TEXT = frozenset({"malformed", "refused", "rejected", "too_large", "truncated"})


def _wanted(access: Access, ids: list[str] | None) -> "QuerySet[Conversation]":
    """Return the visible conversations with these ids, without ids those not yet extracted. Raises NotFound."""
    rows: QuerySet[Conversation] = Conversation.objects.visible_to(access)
    if ids is None:
        return rows.filter(extracted_at=None)
    rows = rows.filter(id__in=ids)
    missing = len(set(ids)) - rows.count()
    if missing:
        raise NotFound("Some of these conversations are not visible to this key.", {"missing": missing})
    return rows


def estimate_of(access: Access, ids: list[str] | None, provider: str | None = None) -> dict[str, Any]:
    """Return about what extracting conversations comes to.

    {"conversations", "provider", "model", "input_tokens", "output_tokens", "cost_usd"}; the cost is null when the
    model's price is not known.
    """
    size = Func(
        Cast("messages", TextField()), function="octet_length", output_field=IntegerField()
    )  # bytes follow tokens in every script better than characters do
    counted = _wanted(access, ids).aggregate(conversations=Count("id"), bytes=Sum(size))
    number, volume = counted["conversations"], int(counted["bytes"] or 0)
    name = provider or settings.AI_PROVIDER
    with closing(provider_of(name, "estimate")) as client:
        model = client.model
    requests = number + volume // (PART_CHARS - OVERLAP_CHARS)
    usage = Usage(round(volume / BYTES_PER_TOKEN * NUMBERING) + requests * PROMPT_TOKENS, requests * ANSWER_TOKENS)
    return {
        "conversations": number, "provider": name, "model": model, "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens, "cost_usd": cost_present(cost_micros(model, usage)),
    }  # fmt: skip


def extract_many_create(*, access: Access, data: ExtractMany) -> Job:
    """Return a queued job that extracts conversations one after another. Raises NotFound, NoApiKey."""
    provider, _ = key_for(data.provider, data.api_key)
    ids = list(_wanted(access, data.conversation_ids).order_by("created_at", "id").values_list("id", flat=True))
    packed = {"ids": ids, "provider": provider, "sealed_key": key_seal(data.api_key) if data.api_key else None}
    return job_create(access=access, kind="extract_many", params={}, inputs=[json.dumps(packed).encode()])


def extract_many_run(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Do an extract_many job; return {"conversations", "extracted", "skipped", "failed", "secrets_masked", "usage"}.

    Each conversation is committed together with the job's progress; one deleted meanwhile is passed over, and one that
    the provider cannot work on is counted under its reason. After its turn the job lets others have theirs.
    """
    access = replace(access, channel="extract")
    packed = json.loads(b"".join(job_inputs(access, job)))
    provider, key = key_for(packed["provider"], key_open(packed["sealed_key"]) if packed["sealed_key"] else None)
    state: dict[str, Any] = job.params.get("state") or {
        "next": 0, "extracted": 0, "skipped": {}, "failed": {}, "secrets_masked": 0, "tokens": [0, 0]
    }  # fmt: skip
    ids, before = packed["ids"], Usage(*state["tokens"])
    with Desk(access, "extract", provider_of(provider, key), progress.check_cancelled) as desk:
        extractor = Extractor(access, job, progress, desk)
        turn = Turn()
        for index in range(state["next"], len(ids)):
            progress.check_cancelled()
            turn.check()
            _extract_one(extractor, ids, index, state, before)
        used = desk.account(before + desk.used)
    progress.advance(len(ids), len(ids))
    return {
        "conversations": len(ids), "extracted": state["extracted"], "skipped": state["skipped"],
        "failed": state["failed"], "secrets_masked": state["secrets_masked"], "usage": used,
    }  # fmt: skip


def _extract_one(extractor: Extractor, ids: list[str], index: int, state: dict[str, Any], before: Usage) -> None:
    """Extract conversation number `index` and bring `state` up to date with what is committed."""
    access, desk, advance = extractor.access, extractor.desk, extractor.progress.advance
    with space_transaction(access):
        conversation = Conversation.objects.visible_to(access).filter(id=ids[index]).first()
    transcript = transcript_of(conversation.messages) if conversation else ""
    if conversation is None or not transcript:
        return

    def step(part: int, parts: int) -> None:
        advance(index, len(ids))

    def done(outcome: Outcome) -> None:
        used = before + desk.used
        state.update(
            next=index + 1, extracted=state["extracted"] + len(outcome.memory_ids),
            skipped=dict(Counter(state["skipped"]) + outcome.skipped),
            secrets_masked=state["secrets_masked"] + outcome.secrets, tokens=[used.input_tokens, used.output_tokens],
        )  # fmt: skip
        advance(index + 1, len(ids), state=dict(state))
        rows = Conversation.objects.visible_to(access).filter(id=conversation.id)
        rows.update(extracted_at=timezone.now())

    material = Material(
        transcript=transcript, date=conversation.created_at, tool=access.write_tool or conversation.model,
        provider=desk.provider.name, session_id=conversation.id, origin=conversation.id,
    )  # fmt: skip
    try:
        extractor.run(material, step, done)
    except ProviderError as error:
        if error.reason not in OF_THE_TEXT:
            raise
        used = before + desk.used
        state["failed"] = dict(Counter(state["failed"]) + Counter([error.reason]))
        state.update(next=index + 1, tokens=[used.input_tokens, used.output_tokens])
        advance(index + 1, len(ids), state=dict(state))
