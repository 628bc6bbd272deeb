"""A space with facts a day old, and a model that answers what the test says."""

from __future__ import annotations

from typing import Any

from accounts.access import Access, space_set
from dreams.services import dream_next_job, dream_submit
from memories.facts import fact_build, fact_remember
from memories.models import Memory
from memories.schemas import Remember
from memories.services import memories_create
from tests.clock import MovedClock
from tests.factories import People

FACTS = 30


class Night:
    """The owner's space with thirty plain facts that are 25 hours old, and what one dream does with them."""

    def __init__(self, people: People, clock: MovedClock, facts: int = FACTS) -> None:
        self.people, self.clock, self.access = people, clock, people.access()
        space_set(self.access.space_id)
        data = [Remember(text=f"plain fact number {number}") for number in range(facts)]
        made = [fact_build(access=self.access, data=fact) for fact in data]
        self.ids = [memory.id for memory in memories_create(access=self.access, memories=made)]
        clock.forward(hours=25)

    def remember(self, text: str, **changes: Any) -> str:
        """Store a fact, a second later; return its id."""
        self.clock.forward(seconds=1)
        space_set(self.access.space_id)
        return fact_remember(access=self.access, data=Remember(text=text, **changes))[0].id

    def job(self, access: Access | None = None) -> dict[str, Any]:
        """Return the job that waits."""
        space_set(self.access.space_id)
        answer = dream_next_job(access=access or self.access)
        assert answer["job"] is not None, answer
        job: dict[str, Any] = answer["job"]
        return job

    def dream(self, *changes: dict[str, Any], **result: Any) -> dict[str, Any]:
        """Have a dream that ends with these changes; return the outcome, with codes alone in `rejected`."""
        run_id = self.job()["run_id"]
        outcome = dream_submit(access=self.access, run_id=run_id, result={"changes": list(changes), **result})
        return outcome | {"rejected": [(item["index"], item["code"]) for item in outcome["rejected"]]}

    def rejected(self, *changes: dict[str, Any]) -> list[str]:
        """Return the codes with which a dream's changes are rejected; none of them may be applied."""
        before = self.state()
        outcome = self.dream(*changes)
        assert outcome["applied"] == 0
        assert (outcome["status"], self.state()) == ("no_changes", before)
        return [code for _, code in outcome["rejected"]]

    def fact(self, id: str) -> Memory:
        """Return a fact as it is stored."""
        space_set(self.access.space_id)
        return Memory.objects.get(space_id=self.access.space_id, id=id)

    def state(self) -> dict[str, dict[str, Any]]:
        """Return what every row of the space says, whatever its status."""
        space_set(self.access.space_id)
        return {memory.id: facet(memory) for memory in Memory.objects.filter(space_id=self.access.space_id)}


def facet(memory: Memory) -> dict[str, Any]:
    """Return what a fact says and how it stands, without the numbers that only count changes."""
    return memory.snapshot() | {"status": memory.status, "superseded_by": memory.superseded_by}
