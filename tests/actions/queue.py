"""Actions in any status, and accesses that are anything to them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from accounts.access import Access, space_set
from actions.models import Action, Status
from actions.schemas import ActionPropose, ActionTransition
from actions.services import action_propose, action_transition
from api import clock
from api.schemas import parse
from apikeys.models import ApiKey
from tests.factories import People, access_of, key_create


def proposal(**changes: Any) -> dict[str, Any]:
    """Return the body of a valid proposal, with `changes` over it."""
    return {
        "class": "email.send", "summary": "Write to Anna", "payload": {"to": "anna@example.com"},
        "idempotency_key": "mail-1",
    } | changes  # fmt: skip


def key_with(people: People, *scopes: str, name: str = "key") -> str:
    """Return a new key of the owner's with exactly these scopes."""
    return key_create(people.space, people.owner, name, scopes=set(scopes))


def access_with(people: People, *scopes: str, name: str = "key") -> Access:
    """Return what a new key with exactly these scopes gives."""
    return access_of(key_with(people, *scopes, name=name))


def proposed(access: Access, **changes: Any) -> Action:
    """Return an action that the access has just proposed."""
    space_set(access.space_id)
    return action_propose(access=access, data=parse(ActionPropose, proposal(**changes)))[0]


def put_into(action: Action, status: str, *, taker: Access | None = None) -> None:
    """Put an action into a status, whatever the rules say."""
    live = status in {"pending", "approved", "executing"}
    action.status, action.deadline = status, clock.now() + timedelta(days=1) if live else None
    if taker is not None:
        action.executor_kind, action.executor_id = taker.actor_kind, taker.actor_id
    action.save()


def moved(access: Access, action: Action, from_: str, to: str, receipt: Any = None) -> tuple[Action, bool]:
    """Return what action_transition returns."""
    space_set(access.space_id)
    body = {"id": action.short_id, "from": from_, "to": to, "receipt": receipt}
    return action_transition(access=access, data=parse(ActionTransition, body))


def key_becomes(access: Access, *scopes: str) -> Access:
    """Give a key other scopes; return its access from then on."""
    ApiKey.objects.filter(pk=access.actor_id).update(scopes=list(scopes))
    return Access(**{name: getattr(access, name) for name in Access.__slots__} | {"scopes": frozenset(scopes)})


STATUSES = list(Status.values)
