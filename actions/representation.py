"""Actions as clients see them."""

from collections.abc import Iterable
from typing import Any

from actions.models import Action, ActionStep, Status
from api.timestamps import timestamp_format


def _actor(kind: str, id: str, name: str) -> dict[str, str]:
    return {"kind": kind, "id": id, "name": name}


def step_present(step: ActionStep) -> dict[str, Any]:
    """Return {from, to, by, at, receipt} of one move."""
    return {
        "from": step.from_status,
        "to": step.to_status,
        "by": _actor(step.actor_kind, step.actor_id, step.actor_name),
        "at": timestamp_format(step.at),
        "receipt": step.receipt,
    }


def action_summary(action: Action) -> dict[str, Any]:
    """Return an action without its payload, as get_context shows it."""
    return {
        "id": action.short_id,
        "class": action.action_class,
        "summary": action.summary,
        "status": action.status,
        "proposed_by": _actor(action.proposer_kind, action.proposer_id, action.proposer_name),
        "expires_at": timestamp_format(action.expires_at),
    }


def action_present(action: Action, steps: Iterable[ActionStep] | None = None) -> dict[str, Any]:
    """Return an action with its payload and history; without `steps`, they are read."""
    if steps is None:
        rows = ActionStep.objects.filter(space_id=action.space_id, number=action.number)
        steps = rows.order_by("seq")
    history = list(steps)
    decided = next((step for step in reversed(history) if step.to_status in {Status.APPROVED, Status.REJECTED}), None)
    return action_summary(action) | {
        "payload": action.payload,
        "preconditions": action.preconditions,
        "meta": action.meta,
        "idempotency_key": action.idempotency_key,
        "decided_by": _actor(decided.actor_kind, decided.actor_id, decided.actor_name) if decided else None,
        "receipt": action.receipt,
        "history": [step_present(step) for step in history],
        "created_at": timestamp_format(action.created_at),
        "updated_at": timestamp_format(action.updated_at),
    }


def actions_present(actions: list[Action]) -> list[dict[str, Any]]:
    """Return several actions of one space, their histories read by one query."""
    if not actions:
        return []
    numbers = [action.number for action in actions]
    steps: dict[int, list[ActionStep]] = {number: [] for number in numbers}
    rows = ActionStep.objects.filter(space_id=actions[0].space_id, number__in=numbers)
    for step in rows.order_by("number", "seq"):
        steps[step.number].append(step)
    return [action_present(action, steps[action.number]) for action in actions]
