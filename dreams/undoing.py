"""Taking a dream back: in reverse order, all that was not changed or forgotten since."""

from typing import Any

from accounts.access import Access
from api.idempotency import answers_forget
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from dreams.runs import run_move
from events.services import event_record
from memories.history import columns_of
from memories.models import Memory, MemoryVersion
from memories.representation import memory_present
from memories.services import memory_apply


def run_undo(access: Access, run: DreamRun) -> dict[str, Any]:
    """Bring back what a locked, applied run changed; return {restored, skipped: [{id, reason}]}.

    What it suggested and nobody decided goes as well.
    """
    restored, skipped = 0, []
    for change in DreamChange.objects.visible_to(access).filter(run_id=run.id).order_by("-seq"):
        left = 0
        for id in reversed([id for id in change.memory_ids if id in change.after]):
            reason = _restore(access, change, id)
            if reason is None:
                restored += 1
            else:
                skipped.append({"id": id, "reason": reason})
                left += 1
        change.status = DreamChange.Status.SKIPPED if left == len(change.after) else DreamChange.Status.UNDONE
        change.save(update_fields=["status"])
    DreamSuggestion.objects.visible_to(access).filter(run_id=run.id, status=DreamSuggestion.Status.OPEN).delete()
    run_move(access, run, DreamRun.Status.UNDONE, event="dream.undone")
    return {"restored": restored, "skipped": skipped}


def _restore(access: Access, change: DreamChange, id: str) -> str | None:
    """Bring one fact back to what it was before a change; return the reason when it must be left."""
    rows = Memory.objects.any_status(Access.system(access.space_id))
    memory = rows.filter(id=id).select_for_update().first()
    if memory is None:
        return "forgotten"
    if _changed_since(memory, change.after[id]):
        return "changed_since"
    if id not in change.before:
        return _remove(access, memory)
    versions = MemoryVersion.objects.visible_to(Access.system(access.space_id))
    kept = versions.filter(memory_id=id, version=change.before[id]).first()
    if kept is None:
        return "forgotten"
    changes = columns_of(kept.fields) | {"status": kept.fields["status"], "superseded_by": None}
    memory_apply(access=access, memory=memory, changes=changes, type="memory.restored")
    return None


def _changed_since(memory: Memory, version: int) -> bool:
    """Return whether somebody changed a fact after this version; that its evidence was deleted is no change."""
    if memory.version == version:
        return False
    rows = MemoryVersion.objects.visible_to(Access.system(memory.space_id))
    kept = rows.filter(memory_id=memory.id, version=version).first()
    return kept is None or _written(kept.fields) != _written(memory_present(memory, full=True))


def _written(fields: dict[str, Any]) -> dict[str, Any]:
    return columns_of(fields) | {"status": fields["status"]}


def _remove(access: Access, memory: Memory) -> str | None:
    """Remove a fact that the dream added, unless another was merged into it since."""
    rows = Memory.objects.any_status(Access.system(access.space_id))
    if rows.filter(superseded_by=memory.id).exists():
        return "changed_since"
    rows.filter(id=memory.id).delete()
    answers_forget(access, [memory.id])
    event_record(access=access, type="memory.restored", object_kind="memory", object_ids=[memory.id])
    return None
