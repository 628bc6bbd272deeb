"""A team with every role, an outsider, things with hostile text in their space, and every page of the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from allauth.account.models import EmailAddress
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone
from oauth2_provider.models import Application

from accounts.access import Access, space_transaction
from accounts.models import Invitation, Membership, Role, Space, User
from accounts.services import space_create
from accounts.sessions import SPACE
from actions.schemas import ActionPropose
from actions.services import action_propose
from aiworker.jobs import job_create
from api.schemas import parse
from apikeys.models import ApiKey
from apikeys.services import apikey_create
from conversations.schemas import ConversationCreate
from conversations.services import conversation_save
from dreams.models import DreamChange, DreamRun, DreamSuggestion
from grants.models import Grant
from grants.services import grant_connected, grant_create
from memories.models import Memory
from memories.schemas import MemoryCreate, MemoryUpdate
from memories.services import memory_create, memory_update
from notebook.schemas import JournalWrite, KvSet, RecordPut
from notebook.services import journal_write, kv_set, record_put
from tests.factories import member_create, user_create

ROLES = ["owner", "admin", "member", "viewer"]
#: What no page may let through as markup; the word is looked for in the text of the page.
HOSTILE = "zzhostile <script>alert(1)</script> \"><img src=x onerror=alert(1)> '><svg onload=alert(1)> {{ 7|add:7 }}"
PASSWORD = "a plain long password"
SHORT = '"><script>alert(1)</script>'


@dataclass
class Team:
    """The team's space with people of every role, the outsider with their own space, and ids of what is stored."""

    space: Space
    other: Space
    users: dict[str, User]
    args: dict[str, list[Any]] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)

    def client(self, who: str, **options: Any) -> Client:
        """Return a browser in which that person is signed in, their space opened; `anonymous` is nobody."""
        client = Client(**options)
        if who != "anonymous":
            client.force_login(self.users[who], backend="allauth.account.auth_backends.AuthenticationBackend")
            session = client.session
            session[SPACE] = (self.other if who == "outsider" else self.space).pk
            session.save()
        return client

    def address(self, name: str) -> str:
        """Return the address of a page, filled with ids of the team's space."""
        return reverse(name, args=self.args.get(name, [])) + self.query.get(name, "")


def team_create() -> Team:
    """Return a team whose space holds one of everything, each with hostile text."""
    owner = user_create("owner@example.com", name=f"Olga {SHORT}", password=PASSWORD)
    space = space_create(owner=owner, name=f"Team {SHORT}", kind="team")
    users = {"owner": owner} | {role: member_create(space, f"{role}@example.com", Role(role)) for role in ROLES[1:]}
    EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
    users["outsider"] = user_create("outsider@example.com")
    other = space_create(owner=users["outsider"], name="Elsewhere")
    team = Team(space, other, users)
    access = Access.system(space.pk)
    with space_transaction(access):
        fill(team, access)
    return team


def fill(team: Team, access: Access) -> None:
    """Store one of everything in the team's space and note under which page it is shown."""
    key, _ = apikey_create(access=access, space=team.space, user=team.users["owner"], name=f"Key {SHORT}", tool=SHORT)
    body = {
        "content": HOSTILE, "type": "semantic", "source": {"tool": SHORT, "session_id": SHORT}, "tags": [SHORT, "ok"],
        "subject": SHORT, "namespace": SHORT, "metadata": {SHORT: SHORT}, "source_ref": SHORT,
    }  # fmt: skip
    memory = memory_create(access=access, data=MemoryCreate.model_validate(body))
    memory_update(access=access, memory=memory, data=MemoryUpdate(content=HOSTILE + " changed"))
    waiting = memory_create(access=access, data=MemoryCreate.model_validate(body | {"content": HOSTILE + " waits"}))
    Memory.objects.any_status(access).filter(id=waiting.id).update(status="quarantined")
    journal_write(
        access=access,
        data=parse(JournalWrite, {"date": "2026-01-05", "summary": HOSTILE, "decisions": [HOSTILE]}),
    )
    record, _ = record_put(
        access=access,
        data=parse(RecordPut, {"collection": SHORT, "key": SHORT, "status": SHORT, "data": {SHORT: HOSTILE}}),
    )
    kv_set(access=access, data=parse(KvSet, {"ns": SHORT, "key": SHORT, "value": HOSTILE}))
    tool = Access(
        space_id=team.space.pk, user_id=None, actor_kind="key", actor_id=str(key.pk), actor_name=key.name,
        scopes=frozenset({"actions:propose"}), channel="rest",
    )  # fmt: skip
    proposal = {"class": SHORT, "summary": HOSTILE, "payload": {SHORT: HOSTILE}, "idempotency_key": "a"}
    action, _ = action_propose(access=tool, data=parse(ActionPropose, proposal))
    job = job_create(access=access, kind="import", params={"conflict": "skip", "format": "omp"}, inputs=[b"{}"])
    talk = [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": HOSTILE}]
    conversation, _ = conversation_save(
        access=access,
        data=parse(ConversationCreate, {"model": SHORT, "topic": HOSTILE, "messages": talk, "source_url": SHORT}),
    )
    memory_create(
        access=access,
        data=MemoryCreate.model_validate(
            body | {"content": HOSTILE + " taken", "source_ref": f"{conversation.id}#0-9"}
        ),
    )
    grant = grant_make(team)
    now = timezone.now()
    run = DreamRun.objects.create(
        space=team.space, status="applied", applied=1, summary=HOSTILE, created_at=now, applied_at=now,
        rejected=[{"index": 0, "code": "x", "message": HOSTILE}],
    )  # fmt: skip
    DreamChange.objects.create(
        space=team.space, run_id=run.id, seq=1, op="update", memory_ids=[memory.id], before={memory.id: 1},
        after={memory.id: 2}, reason=HOSTILE,
    )  # fmt: skip
    suggestion = DreamSuggestion.objects.create(
        space=team.space, run_id=run.id, kind="contradiction", memory_ids=[memory.id], text=HOSTILE, created_at=now
    )
    _, digest = Invitation.new_token()
    invitation = Invitation.objects.create(space=team.space, email="new@example.com", digest=digest)
    member = Membership.objects.get(space=team.space, user=team.users["viewer"])
    team.args |= {
        "space-open": [team.space.pk], "member-role": [member.pk], "member-remove": [member.pk],
        "invitation-revoke": [invitation.pk], "connection-detail": [key.pk], "connection-check": [key.pk],
        "connection-revoke": [key.pk], "journal-edit": ["day", "2026-01-05"], "journal-delete": ["day", "2026-01-05"],
        "record-page": [record.id], "record-remove": [record.id], "memory-restore-page": [memory.id, 1],
        "grant-end": [grant.pk],
        "action-page": [action.short_id], "action-decide": [action.short_id], "import-detail": [job.id],
        "import-cancel": [job.id], "dream-detail": [run.id], "dream-undo-page": [run.id],
        "suggestion-decide-page": [suggestion.id], "conversation-detail": [conversation.id],
        "conversation-remove": [conversation.id],
    }  # fmt: skip
    for name in ("detail", "entry", "edit", "mark", "similar-page"):
        team.args[f"memory-{name}"] = [memory.id]
    encoded = "%22%3E%3Cscript%3Ealert%281%29%3C%2Fscript%3E"
    team.query |= {"record-list": f"?name={encoded}", "kv": f"?ns={encoded}"}
    assert ApiKey.objects.filter(space=team.space).exists()


def grant_make(team: Team) -> Grant:
    """Return the owner's grant to an assistant that is connected."""
    application = Application.objects.create(
        name=SHORT, client_type="public", authorization_grant_type="authorization-code", redirect_uris="https://a.test"
    )
    grant = grant_create(
        space=team.space, user=team.users["owner"], application=application, tool=SHORT, scopes=["read"], code="c"
    )
    grant_connected(grant=grant)
    return grant


def patterns(resolver: Any = None) -> Iterator[URLPattern]:
    """Yield every address of the URLconf."""
    for entry in (resolver or get_resolver()).url_patterns:
        if isinstance(entry, URLResolver):
            yield from patterns(entry)
        else:
            yield entry


def pages() -> dict[str, Any]:
    """Return every page that people open in a space, by name, with its view."""
    return {p.name: p.callback for p in patterns() if p.name and hasattr(p.callback, "page_action")}
