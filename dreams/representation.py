"""Dreams as clients see them."""

from typing import Any

from accounts.access import Access
from api.timestamps import timestamp_format
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from memories.models import Memory, MemoryVersion
from memories.representation import memory_present


def _time(value: Any) -> str | None:
    return timestamp_format(value) if value else None


def dream_summary(run: DreamRun, *, limited: bool = False) -> dict[str, Any]:
    """Return a run without its changes, as a list shows it; a limited access does not see the model's words."""
    return {
        "id": run.id,
        "status": run.status,
        "attempts": run.attempts,
        "applied": run.applied,
        "summary": "" if limited else run.summary,
        "created_at": timestamp_format(run.created_at),
        "started_at": _time(run.started_at),
        "applied_at": _time(run.applied_at),
        "undo_until": _time(run.undo_until),
    }


def dream_present(access: Access, run: DreamRun) -> dict[str, Any]:
    """Return a run with the diff of each change; what the access may not read stays out.

    `before` and `after` hold the full memory by id, null for one that was forgotten, and nothing once undo is over.
    """
    changes = list(DreamChange.objects.visible_to(access).filter(run_id=run.id).order_by("seq"))
    if access.limited:
        readable = _readable(access, {id for change in changes for id in change.memory_ids})
        changes = [change for change in changes if set(change.memory_ids) <= readable]
    images = _images(access, changes)
    return dream_summary(run, limited=access.limited) | {
        "changes": [
            {
                "seq": change.seq,
                "op": change.op,
                "memory_ids": change.memory_ids,
                "before": {id: images.get((id, version)) for id, version in change.before.items()},
                "after": {id: images.get((id, version)) for id, version in change.after.items()},
                "evidence": change.evidence,
                "reason": change.reason,
                "status": change.status,
            }
            for change in changes
        ],
        "rejected": run.rejected,
    }


def _readable(access: Access, ids: set[str]) -> set[str]:
    return set(Memory.objects.any_status(access).filter(id__in=ids).values_list("id", flat=True))


def _images(access: Access, changes: list[DreamChange]) -> dict[tuple[str, int], dict[str, Any]]:
    """Return the full memories that the changes name, by id and version, as far as they are still there."""
    ids = {id for change in changes for id in [*change.before, *change.after]}
    versions = MemoryVersion.objects.visible_to(access).filter(memory_id__in=ids)
    images = {(version.memory_id, version.version): version.fields for version in versions}
    for memory in Memory.objects.any_status(Access.system(access.space_id)).filter(id__in=ids):
        images[memory.id, memory.version] = memory_present(memory, full=True)
    return images


def suggestion_present(suggestion: DreamSuggestion) -> dict[str, Any]:
    """Return {id, dream_id, kind, memory_ids, text, status, created_at, decided_at, decided_by}."""
    decided = {"kind": suggestion.decided_kind, "id": suggestion.decided_id, "name": suggestion.decided_name}
    return {
        "id": suggestion.id,
        "dream_id": suggestion.run_id,
        "kind": suggestion.kind,
        "memory_ids": suggestion.memory_ids,
        "text": suggestion.text,
        "status": suggestion.status,
        "created_at": timestamp_format(suggestion.created_at),
        "decided_at": _time(suggestion.decided_at),
        "decided_by": decided if suggestion.decided_at else None,
    }
