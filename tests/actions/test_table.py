"""The whole table of agent-state.md, "Actions": every (from, to, who) is tried."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from accounts.access import Access
from accounts.models import Role
from accounts.permissions import ROLE_SCOPES
from actions.models import Action, ActionStep
from actions.rules import InvalidTransition
from api.errors import Conflict, Forbidden
from tests.actions.queue import STATUSES, access_with, moved, proposed, put_into
from tests.factories import People

# Written out once more, apart from the code: from -> to -> who may.
TABLE = {
    ("pending", "approved"): {"person", "decider"},
    ("pending", "rejected"): {"person", "decider"},
    ("pending", "cancelled"): {"person", "decider", "proposer"},
    ("pending", "expired"): {"system"},
    ("approved", "executing"): {"executor", "taker"},
    ("approved", "rejected"): {"person", "decider"},
    ("approved", "cancelled"): {"person", "decider", "proposer"},
    ("approved", "expired"): {"system"},
    ("executing", "done"): {"person", "decider", "taker"},
    ("executing", "failed"): {"person", "decider", "taker", "system"},
}
WHO = ["person", "member", "decider", "decider_mcp", "proposer", "proposer_mcp", "executor", "taker", "other", "system"]


def somebody(people: People, who: str, proposer: Access, taker: Access) -> Access:
    match who:
        case "person" | "member":
            role = Role.OWNER if who == "person" else Role.MEMBER
            user = people.owner if who == "person" else people.member
            return replace(
                proposer, actor_kind="user", actor_id=str(user.pk), user_id=user.pk, channel="dashboard", role=role,
                scopes=ROLE_SCOPES[role],
            )  # fmt: skip
        case "decider":
            return access_with(people, "actions:decide")
        case "decider_mcp":
            return replace(access_with(people, "actions:decide"), channel="mcp")
        case "proposer":
            return proposer
        case "proposer_mcp":
            return replace(proposer, channel="mcp")
        case "executor":
            return access_with(people, "actions:execute")
        case "taker":
            return taker
        case "system":
            return Access.system(people.space.pk)
    return access_with(people, "actions:propose")


def expected(who: str, from_: str, to: str) -> tuple[str, Any]:
    if (from_, to) not in TABLE:
        return "409 invalid_transition", {"current_status": from_}
    name = "proposer" if who == "proposer_mcp" else who
    return (to if name in TABLE[from_, to] else "403 forbidden"), None


def outcome(access: Access, action: Action, from_: str, to: str) -> tuple[str, Any]:
    """Return the status after the move, or the code of its error, with the error's details; undo everything."""
    with transaction.atomic():
        try:
            after: tuple[str, Any] = (moved(access, action, from_, to)[0].status, None)
        except Forbidden as error:
            after = (f"{error.status} {error.code}", None)
        except Conflict as error:
            after = (f"{error.status} {error.code}", error.details)
        transaction.set_rollback(True)
    return after


@pytest.mark.parametrize("who", WHO)
def test_every_move_by_everybody(people: People, who: str) -> None:
    proposer = access_with(people, "actions:propose")
    taker = access_with(people, "actions:execute")
    access = somebody(people, who, proposer, taker)
    action = proposed(proposer)

    outcomes = {}
    for from_ in STATUSES:
        put_into(action, from_, taker=taker)
        outcomes |= {(from_, to): outcome(access, action, from_, to) for to in STATUSES}

    assert outcomes == {(from_, to): expected(who, from_, to) for from_ in STATUSES for to in STATUSES}


def test_an_invalid_move_names_the_status_and_leaves_no_step(people: People) -> None:
    access = access_with(people, "actions:propose")
    action = proposed(access)
    with pytest.raises(InvalidTransition) as error:
        moved(access, action, "done", "pending")
    assert error.value.details == {"current_status": "pending"}
    assert ActionStep.objects.count() == 0
