"""What a fact's tier demands: the limits of core, who may write it, and when scratch expires."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Sum
from django.db.models.functions import Length

from accounts.access import Access
from accounts.models import Space
from api import clock
from api.errors import Conflict, Forbidden, Invalid
from memories.models import Memory

CORE_FACTS = 50
CORE_CHARACTERS = 8_000
SCRATCH = timedelta(days=7)
SCRATCH_MAX = timedelta(days=30)
RANK = {Memory.Tier.SCRATCH: 0, Memory.Tier.LONG: 1, Memory.Tier.CORE: 2}


class CoreFull(Conflict):
    """409: core would hold too much; details {used, limit}, each of {facts, characters}."""

    code = "core_full"
    default = "Core is full. Move a fact from core to long, or shorten one, and try again."


def scratch_expiry(given: datetime | None) -> datetime:
    """Return when a scratch fact expires: as given, else in 7 days. Raises Invalid beyond 30 days."""
    if given is None:
        return clock.now() + SCRATCH
    if given > clock.now() + SCRATCH_MAX:
        raise Invalid.field("expires_at", "A scratch fact expires within 30 days. Use the tier long to keep it.")
    return given


def core_used(access: Access, *, without: Collection[str] = ()) -> tuple[int, int]:
    """Return how many facts the core of the space holds, and how many characters; `without` leaves ids out."""
    rows = Memory.objects.filter(space_id=access.space_id, status=Memory.Status.ACTIVE, tier=Memory.Tier.CORE)
    used = rows.unexpired().exclude(id__in=without).aggregate(facts=Count("id"), characters=Sum(Length("content")))
    return used["facts"], used["characters"] or 0


class CoreRoom:
    """The room left in the core of a space. Holding one keeps other writers of core waiting until the commit.

    Raises Forbidden when agents may not write core here and the access is no owner's.
    """

    def __init__(self, access: Access, *, without: Collection[str] = ()) -> None:
        space = Space.objects.select_for_update(no_key=True).get(pk=access.space_id)
        core_allowed(access, space)
        self.facts, self.characters = core_used(access, without=without)

    def take(self, content: str) -> None:
        """Take the room that a fact needs. Raises CoreFull, and takes nothing, when it is not there."""
        facts, characters = self.facts + 1, self.characters + len(content)
        if facts > CORE_FACTS or characters > CORE_CHARACTERS:
            raise CoreFull(
                details={
                    "used": {"facts": self.facts, "characters": self.characters},
                    "limit": {"facts": CORE_FACTS, "characters": CORE_CHARACTERS},
                }
            )
        self.facts, self.characters = facts, characters

    def admit(self, memory: Memory) -> None:
        """Take the room of a new core fact: none yet for one that waits for the owner. Raises CoreFull."""
        if memory.status == Memory.Status.ACTIVE:
            self.take(memory.content)

    def replace(self, old: Memory, new: Memory) -> None:
        """Take the room that a fact needs in another one's place. Raises CoreFull when it is not there."""
        before = (self.facts, self.characters)
        if old.tier == Memory.Tier.CORE:
            self.facts, self.characters = self.facts - 1, self.characters - len(old.content)
        try:
            if new.tier == Memory.Tier.CORE:
                self.take(new.content)
        except CoreFull:
            self.facts, self.characters = before
            raise


def core_allowed(access: Access, space: Space) -> None:
    """Raise Forbidden when the space lets no agent write core and the access is an agent's."""
    if space.agent_core_writes == Space.CoreWrites.DENY and access.is_agent:
        raise Forbidden("In this space only the owner writes core facts. Use the tier long.", {"tier": "core"})


def core_admit(access: Access, memories: Collection[Memory]) -> None:
    """Raise CoreFull or Forbidden unless the new memories that are core facts have their place there."""
    core = [memory for memory in memories if memory.tier == Memory.Tier.CORE]
    if core:
        room = CoreRoom(access)
        for memory in core:
            room.admit(memory)


def tier_changes(access: Access, memory: Memory, changes: dict[str, Any]) -> dict[str, Any]:
    """Return what the tier adds to the changes of a memory. Raises CoreFull, Forbidden, Invalid."""
    tier = changes.get("tier", memory.tier)
    if Memory.Tier.CORE in {tier, memory.tier}:
        room = CoreRoom(access, without=[memory.id])
        if tier == Memory.Tier.CORE and {"tier", "content"} & changes.keys():
            room.take(changes.get("content", memory.content))
    if tier == Memory.Tier.SCRATCH and {"tier", "expires_at"} & changes.keys():
        if "expires_at" in changes or memory.expires_at is None:
            return {"expires_at": scratch_expiry(changes.get("expires_at"))}
        return {"expires_at": min(memory.expires_at, clock.now() + SCRATCH_MAX)}
    return {}
