"""A month with a scripted agent that remembers, recalls, writes, proposes and dreams, against a moved clock."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import transaction

from accounts.access import Access, space_set
from accounts.models import Space
from actions.models import Action, ActionStep
from actions.schemas import ActionPropose, ActionTransition
from actions.services import action_propose, action_transition
from actions.tasks import expire as actions_expire
from api.schemas import parse
from context.services import BUDGET, context_get, size
from dreams.details import keeps_details
from dreams.models import DreamChange, DreamRun
from dreams.services import dream_next_job, dream_submit, dream_undo
from dreams.tasks import purge as dreams_purge
from dreams.tasks import reap as dreams_reap
from events.tasks import purge as events_purge
from memories.facts import fact_remember, facts_recall
from memories.models import Memory
from memories.schemas import Recall, Remember
from memories.tasks import purge as memories_purge
from memories.tiers import CORE_CHARACTERS, CORE_FACTS
from notebook.journal import journal_write
from notebook.kv import kv_set
from notebook.models import JournalEntry, KeyValue, Record
from notebook.records import record_put
from notebook.schemas import JournalWrite, KvSet, RecordPut
from tests.actions.queue import access_with
from tests.clock import MovedClock
from tests.factories import People

DAYS = 30
NAMES = ["Anna", "Bob", "Carla", "Dmitri"]
CITIES = ["Bonn", "Kiel", "Lyon", "Oslo", "Turin"]


class Agent:
    """What a tool does all month, and what the person said to it."""

    def __init__(self, people: People, clock: MovedClock) -> None:
        self.people, self.clock, self.random = people, clock, random.Random(7)
        self.access, self.owner = people.access(), people.access("decide")
        self.proposer = access_with(people, "actions:propose", name="proposer")
        self.executor = access_with(people, "actions:execute", name="executor")
        self.said: dict[str, str] = {}
        self.left_by_dreams: list[tuple[int, int]] = []
        self.outcomes: set[str] = set()

    def call(self, function: Callable[..., Any], access: Access | None = None, **arguments: Any) -> Any:
        """Call a service as a request would: in a transaction of its own, errors undone."""
        access = access or self.access
        with transaction.atomic():
            space_set(access.space_id)
            return function(access=access, **arguments)

    def day(self, number: int) -> None:
        self.remember(number)
        self.call(facts_recall, params=Recall(q=self.random.choice(CITIES), limit=5))
        self.write(number)
        self.propose(number)
        self.dream(number)
        for task in (memories_purge, actions_expire, dreams_reap, dreams_purge, events_purge):
            task()
        space_set(self.access.space_id)
        self.look()

    def remember(self, number: int) -> None:
        who, where = self.random.choice(NAMES), self.random.choice(CITIES)
        fact, there = self.call(
            fact_remember, data=Remember(text=f"{who} said on day {number}: {where}", subject=who, origin="user")
        )
        assert not there
        self.said[fact.id] = fact.content
        texts = [
            f"{who} was in {where} on day {number}",
            f"On day {number} {who} was in {where}",
            f"{who} likes {where}",
        ]
        for text in texts:
            self.call(fact_remember, data=Remember(text=text, subject=who, tags=[where]))
        self.call(fact_remember, data=Remember(text=f"passing thought {number}", tier="scratch"))
        if number % 6 == 0:
            self.call(fact_remember, data=Remember(text=f"Core fact {number}", tier="core"))

    def write(self, number: int) -> None:
        today = self.clock.at.date()
        for _ in range(2):  # a retry
            entry = JournalWrite(date=today, summary=f"Day {number}.", open_loops=[f"loop {number}"], merge=True)
            self.call(journal_write, data=entry)
        self.call(journal_write, data=JournalWrite(date=today, kind="week", decisions=[f"d{number}"], merge=True))
        self.call(record_put, data=RecordPut(collection="tasks", key=f"t{number % 10}", data={"last": number}))
        self.call(kv_set, data=KvSet(ns="state", key="day", value=number))

    def propose(self, number: int) -> None:
        body = {"class": "mail", "summary": f"Mail {number}", "payload": {"n": number}, "idempotency_key": f"k{number}"}
        action, _ = self.call(action_propose, self.proposer, data=parse(ActionPropose, body))
        moves = [("pending", "approved", self.owner), ("approved", "executing", self.executor),
                 ("executing", "done", self.executor)]  # fmt: skip
        # Some are rejected, some are never looked at, some are approved and left, some never report back.
        stop = number % 6
        if stop == 4:
            moves = [("pending", "rejected", self.owner)]
        for from_, to, access in moves[:stop]:
            move = {"id": action.short_id, "from": from_, "to": to}
            self.call(action_transition, access, data=parse(ActionTransition, move))

    def dream(self, number: int) -> None:
        answer = self.call(dream_next_job)
        if answer["job"] is None:
            return
        if number % 9 == 5:
            return  # the model never answers; the lease runs out
        job = answer["job"]
        active = Memory.objects.visible_to(self.access).count()
        before = self.gone()
        outcome = self.call(dream_submit, run_id=job["run_id"], result={"changes": self.changes(job["input"]["facts"])})
        self.outcomes |= {item["code"] for item in outcome["rejected"]} | {outcome["status"]}
        self.left_by_dreams.append((self.gone() - before, active))
        if number % 10 == 7 and outcome["status"] == "applied":
            undone = self.call(dream_undo, self.owner, run_id=job["run_id"])
            assert undone["skipped"] == []
            assert self.gone() == before

    def gone(self) -> int:
        return Memory.objects.filter(space_id=self.access.space_id, status="superseded").count()

    def changes(self, facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return what a careless model would answer: some merges that are right, and much that is not."""
        made: list[dict[str, Any]] = []
        by_subject: dict[str, list[dict[str, Any]]] = {}
        for fact in facts:
            by_subject.setdefault(fact["subject"], []).append(fact)
        for group in by_subject.values():
            for keep in group:
                alike = [f for f in group if f["id"] != keep["id"] and keeps_details(keep["text"], [f["text"]])]
                made += [{"op": "merge", "keep_id": keep["id"], "drop_ids": [alike[0]["id"]]}] if alike else []
        made = self.random.sample(made, min(3, len(made)))
        for fact in self.random.sample(facts, min(4, len(facts))):
            wild = self.random.choice(
                [
                    {"op": "update", "id": fact["id"], "text": "Somebody was somewhere"},
                    {"op": "merge", "keep_id": facts[0]["id"], "drop_ids": [fact["id"]]},
                    {"op": "suggest", "kind": "delete", "ids": [fact["id"]], "text": "Old"},
                    {"op": "add", "text": f"Insight about {fact['id']}", "evidence": [fact["id"]]},
                    {"op": "set_tier", "id": fact["id"], "tier": "scratch"},
                ]
            )
            made.append(wild)
        return made

    def look(self) -> None:
        """Assert what holds at the end of every day."""
        rows = Memory.objects.filter(space_id=self.access.space_id)
        core = rows.filter(tier="core", status="active")
        assert core.count() <= CORE_FACTS
        assert sum(len(memory.content) for memory in core) <= CORE_CHARACTERS
        assert DreamRun.objects.filter(status__in=["pending", "leased"]).count() <= 1
        context = self.call(context_get)
        assert size(context) <= BUDGET
        assert context["today"] == self.clock.at.date().isoformat()


@pytest.fixture
def agent(people: People, clock: MovedClock) -> Agent:
    clock.at = datetime(2026, 3, 1, 20, tzinfo=UTC)
    Space.objects.filter(pk=people.space.pk).update(context_namespaces=["state"])
    return Agent(people, clock)


def test_after_a_month_nothing_that_was_said_is_lost(agent: Agent, clock: MovedClock) -> None:
    for number in range(DAYS):
        agent.day(number)
        clock.forward(days=1)
    for _ in range(8):  # a quiet week, in which everything that waits comes to its end
        actions_expire()
        memories_purge()
        clock.forward(days=1)
    space_set(agent.access.space_id)

    facts = {memory.id: memory for memory in Memory.objects.filter(space_id=agent.access.space_id)}
    for id, text in agent.said.items():
        said = facts[id]
        assert (said.content, said.status, said.version, said.expires_at) == (text, "active", 1, None)
    assert {f.content for f in facts.values() if f.tier == "core"} == {f"Core fact {n}" for n in range(0, DAYS, 6)}
    for fact in facts.values():
        if fact.status == "superseded":
            survivor = fact
            while survivor.superseded_by is not None:
                survivor = facts[survivor.superseded_by]
            assert survivor.status == "active"
            assert keeps_details(survivor.content, [fact.content])
    active = [(fact.subject, fact.content) for fact in facts.values() if fact.status == "active"]
    assert len(active) == len(set(active)), "each fact is there once"
    assert all(left <= active_then // 10 for left, active_then in agent.left_by_dreams)
    assert sum(left for left, _ in agent.left_by_dreams) > 0, "dreams did tidy up"
    assert {"applied", "loses_detail", "protected"} <= agent.outcomes
    assert sum(fact.recall_count for fact in facts.values()) > 0

    days = JournalEntry.objects.filter(space_id=agent.access.space_id, kind="day").order_by("date")
    assert [entry.summary for entry in days] == [f"Day {number}." for number in range(DAYS)]
    weeks = JournalEntry.objects.filter(space_id=agent.access.space_id, kind="week").order_by("date")
    assert [item for week in weeks for item in week.decisions] == [f"d{number}" for number in range(DAYS)]
    records = Record.objects.filter(space_id=agent.access.space_id)
    assert {record.key: record.data["last"] for record in records} == {f"t{n % 10}": n for n in range(DAYS)}
    assert KeyValue.objects.get(ns="state").version == DAYS

    statuses = {action.number: action.status for action in Action.objects.filter(space_id=agent.access.space_id)}
    ends = {0: "expired", 1: "expired", 2: "failed", 3: "done", 4: "rejected", 5: "done"}
    assert statuses == {number + 1: ends[number % 6] for number in range(DAYS)}
    assert ActionStep.objects.filter(actor_kind="system").count() == DAYS // 2
    undone = DreamRun.objects.filter(status="undone").values_list("id", flat=True)
    assert set(DreamChange.objects.filter(run_id__in=undone).values_list("status", flat=True)) <= {"undone"}
