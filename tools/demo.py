"""A space with a life in it: what the screenshots show, and a person who tries the service may want to see."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.access import Access, space_transaction
from accounts.models import Membership, Role, User
from actions.schemas import ActionPropose, ActionTransition
from actions.services import action_propose, action_transition
from api.schemas import parse
from apikeys.services import apikey_create
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from events.models import Event
from memories.models import Memory
from memories.schemas import MemoryCreate, MemoryUpdate
from memories.services import memory_create, memory_update
from notebook.schemas import JournalWrite, KvSet, RecordPut
from notebook.services import journal_write, kv_set, record_put

# tool, text, tags, subject, kind
MEMORIES = [
    ("claude", "Prefers answers that begin with the conclusion and keep the reasoning short.",
     ["style"], "Ada", "semantic"),
    ("cursor", "The billing service uses PostgreSQL 18; migrations run with the owner's role, never with the "
     "application's.", ["postgres", "billing"], "", "semantic"),
    ("claude", "Decided on 12 November to keep the old export format until every partner has moved.",
     ["export", "decisions"], "", "episodic"),
    ("chatgpt", "Ada is allergic to hazelnuts and avoids restaurants that cannot say what is in the dessert.",
     ["food", "health"], "Ada", "semantic"),
    ("cursor", "To release: tag on main, wait for the pipeline, then announce it in #releases with the changelog.",
     ["release", "how-to"], "", "procedural"),
    ("claude", "The quarterly report is due on the first Friday of the quarter; Grace reviews it the day before.",
     ["report"], "Grace", "semantic"),
    ("gemini", "Grace leads the compiler team and likes to be asked before, not after.", ["team"], "Grace", "semantic"),
    ("claude", "The house in Brittany is booked from 3 to 17 August; the keys are with Madame Le Goff.",
     ["travel", "family"], "", "episodic"),
    ("cursor", "Use uv for virtual environments in this repository; pip is kept for the image only.",
     ["python", "how-to"], "", "procedural"),
    ("chatgpt", "Learns Breton: has finished chapter 6, mixes up the mutations after possessives.",
     ["learning"], "Ada", "semantic"),
    ("claude", "The API answers 409 when the version has moved on; clients read again and repeat.",
     ["api", "postgres"], "", "semantic"),
    ("cursor", "The staging database is rebuilt every Monday at 04:00, so nothing there survives the week.",
     ["postgres", "staging"], "", "semantic"),
    ("claude", "The team meets on Wednesdays at ten; decisions go into the journal the same day.",
     ["team", "decisions"], "", "procedural"),
    ("gemini", "Prefers trains to planes for anything under eight hours.", ["travel"], "Ada", "semantic"),
    ("chatgpt", "Reading list: The Analytical Engine, second edition; notes go into the wiki.",
     ["learning", "reading"], "", "semantic"),
]  # fmt: skip


def demo_fill(user: User) -> None:
    """Fill the person's first space with memories, pages of a journal, records, values, actions and a dream."""
    place = Membership.objects.filter(user=user, role=Role.OWNER).order_by("pk").select_related("space")[0]
    access = Access.system(place.space_id)
    with space_transaction(access):
        if Memory.objects.visible_to(access).exists():
            return
        keys = [
            apikey_create(access=access, space=place.space, user=user, name=name, tool=tool)[0]
            for name, tool in (("Claude on my laptop", "claude"), ("Cursor", "cursor"))
        ]
        memories = memories_write(access)
        notebook_write(access)
        agent = Access(
            space_id=place.space_id, user_id=user.pk, actor_kind="key", actor_id=str(keys[0].pk),
            actor_name=keys[0].name, scopes=frozenset({"actions:propose", "actions:execute"}), channel="rest",
        )  # fmt: skip
        actions_propose(agent, user)
        dream_write(access, memories)
        Event.objects.visible_to(access).filter(type="memory.created").update(actor_name=keys[0].name, actor_kind="key")


def memories_write(access: Access) -> list[Memory]:
    """Store the memories over the last weeks, some of them changed since; return the first of each text."""
    chance, now, made = random.Random(4), timezone.now(), []  # noqa: S311  # the same demo every time
    for number in range(75):
        tool, text, tags, subject, kind = MEMORIES[number] if number < 15 else chance.choice(MEMORIES)
        body = {
            "content": text if number < 15 else f"{text[:-1]} (note {number - 14}).", "type": kind,
            "source": {"tool": tool}, "tags": list({*tags, *(chance.choice(MEMORIES)[2] if number >= 15 else [])}),
            "subject": subject, "pinned": number == 3, "tier": "core" if number in {0, 3} else "long",
        }  # fmt: skip
        memory = memory_create(access=access, data=MemoryCreate.model_validate(body))
        hours = 0.2 + 0.7 * number**2 if number < 15 else 160 + (number - 15) * 9
        Memory.objects.visible_to(access).filter(id=memory.id).update(created_at=now - timedelta(hours=hours))
        made.append(memory)
    changed = MemoryUpdate(content=made[5].content.replace("first Friday", "second Friday"))
    memory_update(access=access, memory=made[5], data=changed)
    waiting = memory_create(
        access=access,
        data=MemoryCreate.model_validate(
            {"content": "Ada's passport is in the top drawer.", "type": "semantic", "source": {"tool": "new-plugin"}}
        ),
    )
    Memory.objects.any_status(access).filter(id=waiting.id).update(status=Memory.Status.QUARANTINED)
    return made[:15]


def notebook_write(access: Access) -> None:
    """Write a week of the journal, a table of tasks and a few values."""
    today = timezone.localdate()
    days = [
        ("Moved the billing service to the new database. The migration took eleven minutes, less than the rehearsal.",
         ["Keep the old export format until every partner has moved."], ["Ask Madame Le Goff about the keys."]),
        ("Grace looked at the report and found two figures to check; both were wrong in the way she said.", [], []),
        ("A quiet day: chapter seven, second reading.", ["Breton before breakfast."], []),
    ]  # fmt: skip
    for back, (summary, decisions, loops) in enumerate(days):
        day = (today - timedelta(days=back)).isoformat()
        body = {"date": day, "summary": summary, "decisions": decisions, "open_loops": loops}
        journal_write(access=access, data=parse(JournalWrite, body))
    week = {"date": today.isoformat(), "kind": "week", "summary": "A week of moving house, for the data."}
    journal_write(access=access, data=parse(JournalWrite, week))
    tasks = [("report", "open", "Grace"), ("ladder", "lent", "Neighbour"), ("visa", "waiting", "Consulate")]
    for number, (key, status, whom) in enumerate(tasks):
        due = (timezone.now() + timedelta(days=3 * number - 1)).isoformat()
        record = {
            "collection": "tasks",
            "key": key,
            "status": status,
            "due_at": due,
            "data": {"with": whom, "effort": 2},
        }
        record_put(access=access, data=parse(RecordPut, record))
    for key, value in (("inbox_cursor", 1042), ("last_run", "2026-11-30T04:00:00Z"), ("limits", {"daily": 20})):
        kv_set(access=access, data=parse(KvSet, {"ns": "mail", "key": key, "value": value}))


def actions_propose(agent: Access, user: User) -> None:
    """Propose three actions, one of which the person has rejected."""
    letter = {
        "to": ["grace@example.com"],
        "subject": "The report, corrected",
        "body": "Dear Grace,\n\nBoth were wrong.\n",
    }
    proposals: list[dict[str, Any]] = [
        {"class": "shop.order", "summary": "Order two reams of laid paper", "payload": {"quantity": 2, "price": 38.5}},
        {"class": "calendar.create", "summary": "Put the piano tuner into the calendar for Thursday at four",
         "payload": {"title": "Piano tuner", "start": "2026-12-03T16:00:00+01:00", "minutes": 90}},
        {"class": "email.send", "summary": "Send Grace the corrected report", "payload": letter,
         "preconditions": [{"type": "note", "text": "She reads her mail before ten."}],
         "meta": {"why": "She asked for it by Friday."}},
    ]  # fmt: skip
    for number, body in enumerate(proposals):
        action, _ = action_propose(access=agent, data=parse(ActionPropose, body | {"idempotency_key": str(number)}))
        if number == 0:
            owner = Access(
                space_id=agent.space_id, user_id=user.pk, actor_kind="user", actor_id=str(user.pk),
                actor_name=user.name or user.email, scopes=frozenset({"actions:decide"}), channel="dashboard",
            )  # fmt: skip
            move = {"id": action.short_id, "from": "pending", "to": "rejected", "receipt": {"reason": "Enough paper."}}
            action_transition(access=owner, data=parse(ActionTransition, move))


def dream_write(access: Access, memories: list[Memory]) -> None:
    """Write down a dream that reworded one memory, and what it suggested."""
    now, report = timezone.now(), memories[5]
    run = DreamRun.objects.create(
        space_id=access.space_id, status=DreamRun.Status.APPLIED, applied=1, created_at=now, applied_at=now,
        summary="The report's date was said twice, differently; the later one stands.",
    )  # fmt: skip
    DreamChange.objects.create(
        space_id=access.space_id, run_id=run.id, seq=1, op="update", memory_ids=[report.id], before={report.id: 1},
        after={report.id: 2}, reason="The journal of Tuesday says so.",
    )  # fmt: skip
    DreamSuggestion.objects.create(
        space_id=access.space_id, run_id=run.id, kind="contradiction", memory_ids=[memories[13].id, memories[7].id],
        text="Is the journey to Brittany by train?", created_at=now,
    )  # fmt: skip
