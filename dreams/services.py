"""Dreams from the door's side: handing out a job, taking its result, undoing it."""

import hashlib
import json
from typing import Any

from django.db import IntegrityError, transaction

from accounts.access import Access
from accounts.models import Space
from api import clock
from api.errors import Conflict, Forbidden, NotFound
from api.schemas import parse
from api.text import NOTICE
from dreams.applying import result_apply
from dreams.due import dream_due
from dreams.job import candidates, job_build, recent_journal
from dreams.models import LIVE, DreamRun
from dreams.runs import leases_reap, run_locked, run_move
from dreams.schemas import DreamResult, DreamSubmitBody
from dreams.undoing import run_undo
from memories.models import Memory
from notebook.models import JournalEntry

MIN_CHANGES, MAX_CHANGES = 3, 20
SHARE = 10  # percent of the active facts


@transaction.atomic
def dream_next_job(*, access: Access, start_if_due: bool = True) -> dict[str, Any]:
    """Return {notice, job, due}, or {job: None, due, reason} when there is nothing to do.

    The same credential gets the same job again while its lease lasts; another one waits (reason in_progress). Further
    reasons: those of dream_due, not_started, nothing_eligible. Raises Forbidden for a quarantine key.
    """
    if access.quarantine:
        raise Forbidden("What this key writes waits for the owner; it cannot tidy up.")
    leases_reap(access)
    space = Space.objects.get(pk=access.space_id)
    run = _live(access)
    if run is None:
        state = dream_due(access, space)
        if not state.due:
            return {"job": None, "due": False, "reason": state.reason}
        if not start_if_due:
            return {"job": None, "due": True, "reason": "not_started"}
        run = _create(access)
    if run.status == DreamRun.Status.LEASED and not run.leased_by(access):
        return {"job": None, "due": False, "reason": "in_progress"}
    if run.status == DreamRun.Status.PENDING and not _lease(access, run, space):
        return {"job": None, "due": False, "reason": "nothing_eligible"}
    memories, journal = _shown(access, run)
    return {"notice": NOTICE, "job": job_build(run, space, memories, journal), "due": True}


@transaction.atomic
def dream_start(*, access: Access) -> DreamRun:
    """Start a dream and return it: the owner at any time, others when one is due. Raises Conflict, Forbidden."""
    if access.quarantine:
        raise Forbidden("What this key writes waits for the owner; it cannot tidy up.")
    leases_reap(access)
    run = _live(access)
    if run is not None:
        raise Conflict("A dream is going on already.", {"current_status": run.status})
    state = dream_due(access, Space.objects.get(pk=access.space_id))
    if not state.due and not access.decides:
        raise Conflict("No dream is due now; the owner may start one at any time.", {"reason": state.reason})
    return _create(access)


def _live(access: Access) -> DreamRun | None:
    rows = DreamRun.objects.visible_to(access).filter(status__in=LIVE)
    run: DreamRun | None = rows.select_for_update().first()
    return run


def _create(access: Access) -> DreamRun:
    """Return a new pending run, or the one that somebody else has just created."""
    run = DreamRun(space_id=access.space_id, created_at=clock.now())
    try:
        with transaction.atomic():
            run.save(force_insert=True)
    except IntegrityError:
        other = _live(access)
        if other is None:
            raise Conflict("A dream has just ended. Ask again.") from None
        return other
    run_move(access, run, DreamRun.Status.PENDING, event="dream.started")
    return run


def _lease(access: Access, run: DreamRun, space: Space) -> bool:
    """Give a run to the access, with a fresh snapshot; end it and return False when there is nothing to show."""
    last = DreamRun.objects.visible_to(access).exclude(id=run.id).order_by("-created_at", "-id").first()
    memories = candidates(access, last.created_at if last else None)
    journal = recent_journal(access, space) if access.may("journal:read") else []
    active = Memory.objects.visible_to(access).count()
    run.max_changes = max(MIN_CHANGES, min(MAX_CHANGES, active * SHARE // 100))
    run.max_leaving = active * SHARE // 100
    job = job_build(run, space, memories, journal)
    run.snapshot = [[fact["id"], fact["version"]] for fact in job["input"]["facts"]]
    run.journal = [entry["id"] for entry in job["input"]["journal"]]
    if not run.snapshot:
        run_move(access, run, DreamRun.Status.NO_CHANGES, event="dream.ended")
        return False
    run.lease_kind, run.lease_id = access.actor_kind, access.actor_id
    run.attempts += 1
    run_move(access, run, DreamRun.Status.LEASED, event="dream.leased")
    return True


def _shown(access: Access, run: DreamRun) -> tuple[list[Memory], list[JournalEntry]]:
    """Return what a run was shown, as far as it is still the same: what was changed or deleted since is left out."""
    versions = run.versions
    rows = Memory.objects.visible_to(access).filter(id__in=list(versions))
    same = {memory.id: memory for memory in rows if memory.version == versions[memory.id]}
    entries = JournalEntry.objects.visible_to(access).filter(kind=JournalEntry.Kind.DAY)
    days = [address.partition(":")[2] for address in run.journal]
    return [same[id] for id in versions if id in same], list(entries.filter(date__in=days).order_by("-date"))


def result_digest(result: Any) -> bytes:
    """Return the digest (32 bytes) by which a repeated result is recognised."""
    return hashlib.sha256(json.dumps(result, sort_keys=True).encode("utf-8", "surrogatepass")).digest()


@transaction.atomic
def dream_submit(*, access: Access, run_id: str, result: Any) -> dict[str, Any]:
    """Check a result, apply what the rules allow, and return {run_id, status, applied, rejected}.

    A result that does not fit output_schema is refused whole and the lease stays. A change that breaks a rule is in
    `rejected` with its code; the others are applied. The same result again returns the stored outcome. Raises
    NotFound, Conflict {current_status}, Invalid.
    """
    result = parse(DreamSubmitBody, {"result": result}).result
    run = run_locked(access, run_id)
    digest = result_digest(result)
    if run.result_digest is not None and bytes(run.result_digest) == digest and run.leased_by(access):
        return outcome(run)
    over = run.lease_until is not None and run.lease_until <= clock.now()
    if run.status != DreamRun.Status.LEASED or over or not run.leased_by(access):
        status = DreamRun.Status.PENDING if over and run.status == DreamRun.Status.LEASED else run.status
        raise Conflict("This dream is not yours to end: ask for a job first.", {"current_status": status})
    answer = parse(DreamResult, result, "result")
    run.result_digest = digest
    result_apply(access, run, answer)
    return outcome(run)


def outcome(run: DreamRun) -> dict[str, Any]:
    """Return what a submission came to."""
    return {"run_id": run.id, "status": run.status, "applied": run.applied, "rejected": run.rejected}


@transaction.atomic
def dream_undo(*, access: Access, run_id: str) -> dict[str, Any]:
    """Undo a dream within 7 days; return {restored, skipped: [{id, reason}]}.

    Rows that were changed since, or forgotten, are left and reported. Raises Forbidden for anybody but the owner,
    NotFound, Conflict {current_status}.
    """
    if not access.decides:
        raise Forbidden("Only the owner undoes a dream: signed in, or with a key that holds actions:decide.")
    run = run_locked(access, run_id)
    if run.status != DreamRun.Status.APPLIED:
        raise Conflict(
            f"This dream is {run.status}; only an applied one can be undone.", {"current_status": run.status}
        )
    if run.undo_until is None or run.undo_until <= clock.now():
        raise Conflict("A dream can be undone for 7 days, which are over.", {"current_status": run.status})
    return run_undo(access, run)


@transaction.atomic
def dream_cancel(*, access: Access, run_id: str) -> DreamRun:
    """Cancel a dream that is going on and return it. Raises NotFound, Conflict {current_status}, Forbidden."""
    run = run_locked(access, run_id)
    if not (access.decides or run.leased_by(access)):
        raise Forbidden("Only the owner, or the key that has the job, cancels a dream.")
    if run.status not in LIVE:
        raise Conflict(f"This dream is {run.status} already.", {"current_status": run.status})
    run_move(access, run, DreamRun.Status.CANCELLED, event="dream.cancelled")
    return run


def dream_get(*, access: Access, run_id: str) -> DreamRun:
    """Return a dream. Raises NotFound."""
    run: DreamRun | None = DreamRun.objects.visible_to(access).filter(id=run_id).first()
    if run is None:
        raise NotFound("There is no dream with this id.")
    return run
