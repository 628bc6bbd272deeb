"""A space with a life in it: what the screenshots show, and a person who tries the service may want to see."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.access import Access, space_transaction
from accounts.models import Membership, Role, User
from accounts.permissions import FULL_SCOPES
from actions.schemas import ActionPropose, ActionTransition
from actions.services import action_propose, action_transition
from api.schemas import parse
from apikeys.services import apikey_create
from conversations.models import Conversation
from conversations.schemas import ConversationCreate
from conversations.services import conversation_save, transcript_of
from dreams.services import dream_next_job, dream_submit
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
    ("chatgpt", "Ada takes the train rather than the plane when a journey is under eight hours.", ["travel"], "Ada",
     "semantic"),
    ("claude", "Staging keeps its data since October: it is no longer rebuilt on Mondays.", ["staging"], "",
     "semantic"),
]  # fmt: skip
WRITTEN = len(MEMORIES)
TALKS = [
    ("claude", "Why the migration took eleven minutes",
     [("user", "The rehearsal took nineteen minutes and the migration eleven. Why?"),
      ("assistant", "The rehearsal ran on a cold cache; the second time most pages were in memory already.")], []),
    ("chatgpt", "Where the keys of the house are",
     [("user", "We have the house in Brittany from 3 to 17 August. Whom do I ask for the keys?"),
      ("assistant", "That depends on how you booked it. Does the confirmation name somebody?"),
      ("user", "Yes, Madame Le Goff, two doors down. She goes to market on Saturdays until noon."),
      ("assistant", "Then arrive on a Saturday after noon, or write to her before. Shall I draft a note in French?"),
      ("user", "Please, a short one.")],
     [("3 to 17 August", "The house in Brittany is hers from 3 to 17 August."),
      ("until noon", "Madame Le Goff, who has the keys, is at the market on Saturdays until noon.")]),
]  # fmt: skip


def demo_fill(user: User) -> None:
    """Fill the person's first space with memories, pages of a journal, records, values, actions, talks and a dream."""
    place = Membership.objects.filter(user=user, role=Role.OWNER).order_by("pk").select_related("space")[0]
    access = Access.system(place.space_id)
    with space_transaction(access):
        if Memory.objects.visible_to(access).exists():
            return
        keys = [
            apikey_create(access=access, space=place.space, user=user, name=name, tool=tool)[0]
            for name, tool in (("Claude on my laptop", "claude"), ("Cursor", "cursor"))
        ]
        memories = memories_write(replace(access, actor_kind="key", actor_id=str(keys[0].pk), actor_name=keys[0].name))
        notebook_write(access)
        agent = Access(
            space_id=place.space_id, user_id=user.pk, actor_kind="key", actor_id=str(keys[0].pk),
            actor_name=keys[0].name, scopes=frozenset({"actions:propose", "actions:execute"}), channel="rest",
        )  # fmt: skip
        actions_propose(agent, user)
        talks_write(access)
        dreamer = Access(
            space_id=place.space_id, user_id=user.pk, actor_kind="key", actor_id=str(keys[0].pk),
            actor_name=keys[0].name, scopes=FULL_SCOPES, channel="mcp", write_tool="claude",
        )  # fmt: skip
        dream_dream(dreamer, memories)


def memories_write(access: Access) -> list[Memory]:
    """Store the memories over the last weeks, some of them changed since; return the first of each text."""
    chance, now, made = random.Random(4), timezone.now(), []  # noqa: S311  # the same demo every time
    for number in range(75):
        tool, text, tags, subject, kind = MEMORIES[number] if number < WRITTEN else chance.choice(MEMORIES)
        body = {
            "content": text if number < WRITTEN else f"{text[:-1]} (note {number - WRITTEN + 1}).", "type": kind,
            "source": {"tool": tool}, "tags": list({*tags, *(chance.choice(MEMORIES)[2] if number >= WRITTEN else [])}),
            "subject": subject, "pinned": number == 3, "tier": "core" if number in {0, 3} else "long",
        }  # fmt: skip
        memory = memory_create(access=access, data=MemoryCreate.model_validate(body))
        hours = 0.2 + 0.7 * number**2 if number < WRITTEN else 200 + (number - WRITTEN) * 9
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
    return made[:WRITTEN]


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


def talks_write(access: Access) -> None:
    """Store two conversations, and what was remembered from one."""
    for model, topic, said, remembered in TALKS:
        body = {"model": model, "topic": topic, "messages": [{"role": role, "content": text} for role, text in said]}
        conversation, _ = conversation_save(access=access, data=parse(ConversationCreate, body))
        transcript = transcript_of(conversation.messages)
        for words, text in remembered:
            start = transcript.index(words)
            memory = {"content": text, "type": "semantic", "source": {"tool": model}, "tags": ["travel"],
                      "source_ref": f"{conversation.id}#{start}-{start + len(words)}"}  # fmt: skip
            memory_create(access=access, data=MemoryCreate.model_validate(memory))
        rows = Conversation.objects.visible_to(access).filter(id=conversation.id)
        rows.update(extracted_at=timezone.now() if remembered else None)


def dream_dream(access: Access, memories: list[Memory]) -> None:
    """Have an assistant dream: merge, reword, put aside, and suggest what only the owner decides."""
    job = dream_next_job(access=access)["job"]
    ids = [memory.id for memory in memories]
    changes: list[dict[str, Any]] = [
        {"op": "merge", "keep_id": ids[13], "drop_ids": [ids[15]], "reason": "Both say the same.",
         "text": "Ada prefers trains to planes for any journey under eight hours."},
        {"op": "update", "id": ids[10], "reason": "It said what happens, not what to do.",
         "text": "When the version has moved on, the API answers 409: read again, then repeat."},
        {"op": "set_tier", "id": ids[9], "tier": "scratch", "reason": "The chapter changes every week."},
        {"op": "suggest", "kind": "contradiction", "ids": [ids[11], ids[16]],
         "text": "Is the staging database still rebuilt on Mondays?"},
        {"op": "suggest", "kind": "core", "ids": [ids[12]], "text": "Every tool that makes plans needs this."},
    ]  # fmt: skip
    summary = "Two notes on trains became one, a rule about the API reads more clearly, and a chapter is put aside."
    outcome = dream_submit(access=access, run_id=job["run_id"], result={"changes": changes, "summary": summary})
    if outcome["rejected"]:
        raise ValueError(f"The demo's dream breaks a rule: {outcome['rejected']}")
