"""The safety rules of a dream: what of a submission may be applied, and applying it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from accounts.access import Access
from api import clock
from api.errors import ApiError
from api.text import text_normal
from dreams.details import keeps_details
from dreams.job import fact_protected
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from dreams.runs import run_move
from dreams.schemas import Add, Change, DreamResult, Expire, Merge, SetTier, Suggest, Update
from events.services import event_record
from memories.models import Memory
from memories.schemas import MAX_TAGS, MemoryCreate, SourceIn
from memories.services import is_forgotten, memories_create, memory_apply, memory_build
from memories.tiers import SCRATCH, SCRATCH_MAX

MAX_SUGGESTIONS = 20


class Rejected(Exception):
    """A change breaks a rule: its code and a sentence without any text of the change."""

    def __init__(self, code: str, message: str) -> None:
        self.code, self.message = code, message
        super().__init__(message)


def result_apply(access: Access, run: DreamRun, result: DreamResult) -> None:
    """Apply the changes of a result that keep the rules, note why the others do not, and end the run."""
    applier = Applier(replace(access, channel="dream"), run)
    rejected: list[dict[str, Any]] = []
    for index, change in enumerate(result.changes):
        try:
            applier.apply(change)
        except Rejected as error:
            rejected.append({"index": index, "code": error.code, "message": error.message})
    run.rejected, run.applied = rejected, applier.seq + applier.suggestions
    run.summary = result.summary if run.applied else ""
    status = DreamRun.Status.APPLIED if run.applied else DreamRun.Status.NO_CHANGES
    run_move(access, run, status, event="dream.applied" if run.applied else "dream.ended")


@dataclass
class Applier:
    """Applies the changes of one run, one after the other; knows what the run has done so far."""

    access: Access
    run: DreamRun
    seq: int = 0
    suggestions: int = 0
    leaving: int = 0
    touched: set[str] = field(default_factory=set)
    now: datetime = field(default_factory=lambda: clock.now())

    def __post_init__(self) -> None:
        self.versions = self.run.versions
        # Locked in one order, so that two writers never wait for each other.
        rows = Memory.objects.visible_to(self.access).filter(id__in=list(self.versions)).order_by("id")
        self.facts = {memory.id: memory for memory in rows.select_for_update()}

    def apply(self, change: Change) -> None:
        """Apply one change. Raises Rejected, and then has done nothing."""
        if isinstance(change, Suggest):
            self._suggest(change)
            return
        if self.seq >= self.run.max_changes:
            raise Rejected("too_many_changes", f"At most {self.run.max_changes} changes are applied.")
        match change:
            case Add():
                self._add(change)
            case Update():
                self._update(change)
            case Merge():
                self._merge(change)
            case SetTier():
                self._set_tier(change)
            case Expire():
                self._expire(change)

    # What every change is asked

    def _fact(self, id: str) -> Memory:
        """Return a fact of the snapshot, unmoved since. Raises Rejected."""
        memory = self.facts.get(id)
        if id not in self.versions or memory is None:
            raise Rejected("unknown_id", "No fact of this dream's input has this id.")
        if memory.version != self.versions[id] and id not in self.touched:
            raise Rejected("version_moved", "The fact was changed since the job was given out.")
        return memory

    def _changeable(self, id: str) -> Memory:
        """Return a fact that this dream may change and has not changed yet. Raises Rejected."""
        memory = self._fact(id)
        if fact_protected(memory):
            raise Rejected("protected", "Pinned, core and user-stated facts are the owner's to change.")
        self._untouched(id)
        return memory

    def _untouched(self, id: str) -> None:
        if id in self.touched:
            raise Rejected("already_changed", "A dream changes each fact once.")

    def _leave(self, count: int) -> None:
        """Raise Rejected when so many more facts would be too many to leave."""
        if self.leaving + count > self.run.max_leaving:
            raise Rejected("too_many_leave", f"At most {self.run.max_leaving} facts may leave in one dream.")

    def _new_text(self, text: str, subject: str, old: list[Memory]) -> None:
        """Raise Rejected for a text that loses something, was forgotten, or is that of another fact."""
        if not keeps_details(text, [memory.content for memory in old]):
            raise Rejected("loses_detail", "The new text loses a number, a date, an address or a name.")
        if is_forgotten(self.access, text):
            raise Rejected("forgotten", "This text was deleted before; a dream does not bring it back.")
        others = Memory.objects.visible_to(self.access)
        if others.identical(subject, text).exclude(id__in=[memory.id for memory in old]).exists():
            raise Rejected("duplicate", "Another fact says exactly this.")

    def _note(self, change: Any, before: dict[str, int], memories: list[Memory], **more: Any) -> None:
        self.seq += 1
        after = {memory.id: memory.version for memory in memories}
        DreamChange.objects.create(
            space_id=self.access.space_id, run_id=self.run.id, seq=self.seq, op=change.op,
            memory_ids=list(dict.fromkeys([*before, *after, *more.pop("besides", [])])), before=before, after=after,
            reason=change.reason, **more,
        )  # fmt: skip
        self.touched |= before.keys() | after.keys()

    def _change(self, memory: Memory, **changes: Any) -> Memory:
        return memory_apply(
            access=self.access, memory=memory, changes=changes | {"dreamed_at": self.now}, type="memory.dreamed"
        )

    # The operations

    def _add(self, change: Add) -> None:
        known = self.versions.keys() | set(self.run.journal)
        if not set(change.evidence) <= known:
            raise Rejected("unknown_evidence", "Name facts and journal entries of this dream's input as evidence.")
        self._new_text(change.text, change.subject, [])
        tool = self.access.write_tool or self.access.actor_name[:100].strip() or "commonplace"
        try:
            data = MemoryCreate(
                content=change.text, type="semantic", source=SourceIn(tool=tool), tags=change.tags, tier=change.tier,
                subject=change.subject, source_ref=self.run.id, metadata={"evidence": change.evidence},
            )  # fmt: skip
            memory = memory_build(access=self.access, data=data)
            memory.dreamed_at = self.now
            memories_create(access=self.access, memories=[memory])
        except ApiError as error:
            raise Rejected(error.code, error.message) from None
        self._note(change, {}, [memory], evidence=change.evidence)

    def _update(self, change: Update) -> None:
        memory = self._changeable(change.id)
        if text_normal(change.text) == text_normal(memory.content):
            raise Rejected("no_change", "The fact says this already.")
        self._new_text(change.text, memory.subject, [memory])
        before = {memory.id: memory.version}
        self._note(change, before, [self._change(memory, content=change.text)])

    def _merge(self, change: Merge) -> None:
        keep = self._fact(change.keep_id)
        self._untouched(keep.id)
        if len({keep.id, *change.drop_ids}) <= len(change.drop_ids):
            raise Rejected("already_changed", "A merge names each fact once.")
        drops = [self._changeable(id) for id in change.drop_ids]
        if len({text_normal(memory.subject) for memory in [keep, *drops]}) > 1:
            raise Rejected("other_subject", "Only facts with the same subject are merged.")
        if keep.expires_at and any(
            memory.expires_at is None or memory.expires_at > keep.expires_at for memory in drops
        ):
            # What is merged into a fact would be gone with it.
            raise Rejected("expiry_too_soon", "The fact that stays expires before one that would go.")
        text = change.text if change.text is not None else keep.content
        rewritten = text != keep.content
        if rewritten and fact_protected(keep):
            raise Rejected("protected", "The text of a protected fact stays as it is.")
        if rewritten:
            self._new_text(text, keep.subject, [keep, *drops])
        elif not keeps_details(text, [memory.content for memory in drops]):
            raise Rejected("loses_detail", "The fact that stays lacks a number, a date, an address or a name.")
        self._leave(len(drops))
        before = {memory.id: memory.version for memory in drops}
        changed = [self._change(memory, status=Memory.Status.SUPERSEDED, superseded_by=keep.id) for memory in drops]
        tags = list(dict.fromkeys([*keep.tags, *(tag for memory in drops for tag in memory.tags)]))[:MAX_TAGS]
        if not fact_protected(keep) and (rewritten or tags != keep.tags):
            before[keep.id] = keep.version
            changed.append(self._change(keep, content=text, tags=tags))
        self.leaving += len(drops)
        self._note(change, before, changed, besides=[keep.id])
        self.touched.add(keep.id)

    def _set_tier(self, change: SetTier) -> None:
        memory = self._changeable(change.id)
        if change.tier == memory.tier:
            raise Rejected("no_change", "The fact is in this tier already.")
        before = {memory.id: memory.version}
        if change.tier == "long":
            self._note(change, before, [self._change(memory, tier="long", expires_at=None)])
            return
        self._leave(1)
        limit = self.now + SCRATCH_MAX
        expires_at = min(memory.expires_at, limit) if memory.expires_at else self.now + SCRATCH
        self.leaving += 1
        self._note(change, before, [self._change(memory, tier="scratch", expires_at=expires_at)])

    def _expire(self, change: Expire) -> None:
        memory = self._changeable(change.id)
        expires_at = change.expires_at or self.now + SCRATCH
        if expires_at < self.now + SCRATCH:
            raise Rejected("expiry_too_soon", "A dream lets a fact expire in 7 days at the earliest.")
        if memory.expires_at is not None and memory.expires_at <= expires_at:
            raise Rejected("no_change", "The fact expires by then already.")
        self._leave(1)
        self.leaving += 1
        self._note(change, {memory.id: memory.version}, [self._change(memory, expires_at=expires_at)])

    def _suggest(self, change: Suggest) -> None:
        if self.suggestions >= MAX_SUGGESTIONS:
            raise Rejected("too_many_changes", f"At most {MAX_SUGGESTIONS} suggestions are kept.")
        for id in change.ids:
            self._fact(id)
        ids = list(dict.fromkeys(change.ids))
        if change.kind == "contradiction" and len(ids) < 2:
            raise Rejected("unknown_id", "A contradiction is between two facts or more.")
        suggestion = DreamSuggestion.objects.create(
            space_id=self.access.space_id,
            run_id=self.run.id,
            kind=change.kind,
            memory_ids=ids,
            text=change.text,
            created_at=self.now,
        )
        event_record(
            access=self.access, type="suggestion.created", object_kind="suggestion", object_ids=[suggestion.id]
        )
        self.suggestions += 1
