"""What a dream suggests and only the owner decides."""

from django.db import transaction

from accounts.access import Access
from api import clock
from api.errors import Conflict, Forbidden, Invalid, NotFound
from dreams.models import DreamSuggestion
from dreams.schemas import SuggestionDecision
from events.services import event_record
from memories.models import Memory
from memories.services import memories_delete, memory_apply
from memories.tiers import tier_changes


@transaction.atomic
def suggestion_decide(*, access: Access, suggestion_id: str, data: SuggestionDecision) -> DreamSuggestion:
    """Accept or dismiss a suggestion and return it.

    Accepting moves the facts to core, or deletes them for good, or, of a contradiction, lets `keep_id` stand and
    supersedes the others. The same decision again changes nothing. Raises Forbidden for anybody but the owner,
    NotFound, Conflict {current_status}, CoreFull, Invalid.
    """
    if not access.decides:
        raise Forbidden("Only the owner decides suggestions: signed in, or with a key that holds actions:decide.")
    rows = DreamSuggestion.objects.visible_to(access).filter(id=suggestion_id)
    suggestion: DreamSuggestion | None = rows.select_for_update().first()
    if suggestion is None:
        raise NotFound("There is no suggestion with this id.")
    accepts = data.decision == "accept"
    decided = DreamSuggestion.Status.ACCEPTED if accepts else DreamSuggestion.Status.DISMISSED
    if suggestion.status == decided:
        return suggestion
    if suggestion.status != DreamSuggestion.Status.OPEN:
        raise Conflict(f"It is {suggestion.status} already.", {"current_status": suggestion.status})
    suggestion.status, suggestion.decided_at = decided, clock.now()
    suggestion.decided_kind, suggestion.decided_id = access.actor_kind, access.actor_id
    suggestion.decided_name = access.actor_name[:100]
    suggestion.save()
    event_record(
        access=access, type=f"suggestion.{decided}", object_kind="suggestion", object_ids=[suggestion.id],
        details={"kind": suggestion.kind},
    )  # fmt: skip
    if accepts:
        _accept(access, suggestion, data.keep_id)
    return suggestion


def _accept(access: Access, suggestion: DreamSuggestion, keep_id: str | None) -> None:
    whole = Access.system(access.space_id)
    rows = Memory.objects.visible_to(whole).filter(id__in=suggestion.memory_ids).order_by("id")
    memories = list(rows.select_for_update())
    if suggestion.kind == DreamSuggestion.Kind.DELETE:
        # The text of the suggestion goes with the facts that it is about.
        memories_delete(access=access, memories=memories)
    elif suggestion.kind == DreamSuggestion.Kind.CORE:
        for memory in memories:
            changes = {"tier": Memory.Tier.CORE, "expires_at": None}
            if memory.tier != Memory.Tier.CORE:
                tier_changes(access, memory, changes)
            memory_apply(access=access, memory=memory, changes=changes)
    elif keep_id is not None:
        if keep_id not in {memory.id for memory in memories}:
            raise Invalid.field("keep_id", "Name one of the facts of this suggestion.")
        for memory in memories:
            if memory.id != keep_id:
                superseded = {"status": Memory.Status.SUPERSEDED, "superseded_by": keep_id}
                memory_apply(access=access, memory=memory, changes=superseded)
