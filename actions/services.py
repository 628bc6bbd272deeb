"""Proposing, listing and moving actions. No action is ever carried out, or repeated, by the service itself."""

import hashlib
import re
from datetime import timedelta
from typing import Any

from django.db import transaction

from accounts.access import Access
from actions.models import LIVE, Action, ActionCounter, ActionStep, Status
from actions.preconditions import precondition_store, preconditions_check
from actions.rules import MOVES, InvalidTransition, move_allowed, queue_readable
from actions.schemas import ActionList, ActionPropose, ActionTransition
from api import clock
from api.canonical import canonical_json
from api.errors import Conflict, IdempotencyConflict, Invalid, NotFound
from events.services import event_record

MAX_PENDING = 50
LIFETIME = timedelta(days=7)
LIFETIME_MAX = timedelta(days=30)
APPROVAL_LASTS = timedelta(hours=24)
EXECUTION_LASTS = timedelta(hours=24)
TIMED_OUT = {"reason": "timeout", "outcome": "unknown"}
ID = re.compile(r"A([1-9][0-9]{0,17})", re.ASCII)


class TooManyPending(Conflict):
    """409: too many actions of the space wait for a decision."""

    code = "too_many_pending"
    default = f"{MAX_PENDING} actions wait for the owner already. Cancel some, or wait for a decision."


def action_number(id: str) -> int:
    """Return the number in a short id such as A7. Raises NotFound for what is none."""
    match = ID.fullmatch(id)
    if match is None:
        raise NotFound("There is no action with this id; ids look like A7.")
    return int(match[1])


def action_digest(data: ActionPropose, preconditions: list[dict[str, Any]]) -> bytes:
    """Return the digest (32 bytes) by which two proposals are the same: class, payload and preconditions."""
    proposed = {"class": data.class_, "payload": data.payload, "preconditions": preconditions}
    return hashlib.sha256(canonical_json(proposed).encode()).digest()


@transaction.atomic
def action_propose(*, access: Access, data: ActionPropose) -> tuple[Action, bool]:
    """Queue an action for the owner and return it, with True when it is new.

    The same idempotency_key with the same class, payload and preconditions returns the action that is there, whatever
    its status. Raises IdempotencyConflict, TooManyPending, Invalid.
    """
    now = clock.now()
    expires_at = data.expires_at or now + LIFETIME
    if not now < expires_at <= now + LIFETIME_MAX:
        raise Invalid.field("expires_at", "An action expires in the future, and within 30 days.")
    preconditions = [precondition_store(precondition) for precondition in data.preconditions]
    digest = action_digest(data, preconditions)
    ActionCounter.objects.bulk_create([ActionCounter(space_id=access.space_id)], ignore_conflicts=True)
    counter = ActionCounter.objects.visible_to(access).select_for_update().get()
    rows = Action.objects.visible_to(access)
    existing: Action | None = rows.filter(idempotency_key=data.idempotency_key).first()
    if existing is not None:
        if bytes(existing.digest) != digest:
            raise IdempotencyConflict("This idempotency_key was used before for another action. Use a new one.")
        return existing, False
    if rows.filter(status=Status.PENDING, deadline__gt=now).count() >= MAX_PENDING:
        raise TooManyPending(details={"limit": MAX_PENDING})
    counter.last += 1
    counter.save(update_fields=["last"])
    action: Action = Action.objects.create(
        space_id=access.space_id, number=counter.last, action_class=data.class_, summary=data.summary,
        payload=data.payload, preconditions=preconditions, meta=data.meta, idempotency_key=data.idempotency_key,
        digest=digest, proposer_kind=access.actor_kind, proposer_id=access.actor_id,
        proposer_name=access.actor_name[:100], expires_at=expires_at, deadline=expires_at, created_at=now,
        updated_at=now,
    )  # fmt: skip
    event_record(access=access, type="action.proposed", object_kind="action", object_ids=[action.short_id])
    return action, True


def actions_list(*, access: Access, params: ActionList) -> list[Action]:
    """Return the actions in the given statuses, the newest first. Raises Forbidden without an actions scope."""
    return actions_page(access=access, params=params, before=None)[: params.limit]


def actions_page(*, access: Access, params: ActionList, before: int | None) -> list[Action]:
    """Return up to one more than `limit` actions below the number `before`, the newest first."""
    queue_readable(access)
    actions_expire(access)
    rows = Action.objects.visible_to(access).filter(status__in=params.status)
    if before is not None:
        rows = rows.filter(number__lt=before)
    page = list(rows.order_by("-number")[: params.limit + 1])
    ids = [action.short_id for action in page[: params.limit]]
    event_record(access=access, type="action.read", object_kind="action", object_ids=ids)
    return page


def action_get(*, access: Access, id: str) -> Action:
    """Return one action. Raises NotFound, Forbidden without an actions scope."""
    queue_readable(access)
    actions_expire(access)
    action: Action | None = Action.objects.visible_to(access).filter(number=action_number(id)).first()
    if action is None:
        raise NotFound("There is no action with this id.")
    event_record(access=access, type="action.read", object_kind="action", object_ids=[action.short_id])
    return action


@transaction.atomic
def action_transition(*, access: Access, data: ActionTransition) -> tuple[Action, bool]:
    """Move an action and return it, with True when the same actor has made this very move before.

    The executor carries out the payload of the action that the move to executing returns. Raises NotFound,
    InvalidTransition, Forbidden, Conflict {current_status}, ActionPreconditionFailed {index}.
    """
    queue_readable(access)
    actions_expire(access)
    rows = Action.objects.visible_to(access).filter(number=action_number(data.id))
    action: Action | None = rows.select_for_update().first()
    if action is None:
        raise NotFound("There is no action with this id.")
    move = (data.from_, data.to)
    allowed = MOVES.get(move)
    if allowed is None:
        raise InvalidTransition(details={"current_status": action.status})
    if action.status == data.to and _made_by(access, action, move):
        return action, True
    move_allowed(access, action, data.to, allowed)
    if action.status != data.from_:
        raise Conflict(f"The action is {action.status} by now.", {"current_status": action.status})
    if data.to in {Status.APPROVED, Status.EXECUTING}:
        preconditions_check(space_id=access.space_id, preconditions=action.preconditions)
    _move(access, action, data.to, data.receipt)
    return action, False


def _made_by(access: Access, action: Action, move: tuple[str, str]) -> bool:
    last = ActionStep.objects.visible_to(access).filter(number=action.number).order_by("-seq").first()
    return last is not None and (last.from_status, last.to_status, last.actor_kind, last.actor_id) == (
        *move, access.actor_kind, access.actor_id,
    )  # fmt: skip


def _move(access: Access, action: Action, to: str, receipt: dict[str, Any] | None) -> None:
    now, came_from = clock.now(), action.status
    if to == Status.EXECUTING:
        action.executor_kind, action.executor_id = access.actor_kind, access.actor_id
    deadlines = {
        Status.APPROVED: min(action.expires_at, now + APPROVAL_LASTS),
        Status.EXECUTING: now + EXECUTION_LASTS,
    }
    action.status, action.updated_at, action.deadline = to, now, deadlines.get(Status(to))
    action.receipt = action.receipt if receipt is None else receipt
    action.save(
        update_fields=["status", "updated_at", "deadline", "receipt", "executor_kind", "executor_id"],
    )
    steps = ActionStep.objects.visible_to(access).filter(number=action.number)
    ActionStep.objects.create(
        space_id=action.space_id, number=action.number, seq=steps.count() + 1, from_status=came_from, to_status=to,
        actor_kind=access.actor_kind, actor_id=access.actor_id, actor_name=access.actor_name[:100], receipt=receipt,
        at=now,
    )  # fmt: skip
    event_record(
        access=access, type=f"action.{to}", object_kind="action", object_ids=[action.short_id],
        details={"from": came_from, "to": to},
    )  # fmt: skip


def actions_expire(access: Access) -> int:
    """Move on, as the service itself, the actions of a space whose time is over; return how many.

    What waits or is approved expires; of what was being executed for a day nobody knows how it ended.
    """
    rows = Action.objects.visible_to(access).filter(status__in=LIVE, deadline__lte=clock.now())
    overdue = list(rows.select_for_update(skip_locked=True).order_by("number"))
    for action in overdue:
        executing = action.status == Status.EXECUTING
        system = Access.system(access.space_id)
        _move(system, action, Status.FAILED if executing else Status.EXPIRED, TIMED_OUT if executing else None)
    return len(overdue)
