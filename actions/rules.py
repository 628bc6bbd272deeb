"""Who may move an action from where to where: the one table, and what an access is to an action."""

from enum import Enum, auto

from django.conf import settings

from accounts.access import Access
from actions.models import Action, Status
from api.errors import Conflict, Forbidden

SCOPES = ("actions:propose", "actions:execute", "actions:decide")


class Who(Enum):
    """What somebody is to an action."""

    OWNER = auto()
    PROPOSER = auto()
    EXECUTOR = auto()  # a key with actions:execute
    TAKER = auto()  # the key that took it
    SYSTEM = auto()


MOVES: dict[tuple[str, str], frozenset[Who]] = {
    (Status.PENDING, Status.APPROVED): frozenset({Who.OWNER}),
    (Status.PENDING, Status.REJECTED): frozenset({Who.OWNER}),
    (Status.PENDING, Status.CANCELLED): frozenset({Who.PROPOSER, Who.OWNER}),
    (Status.PENDING, Status.EXPIRED): frozenset({Who.SYSTEM}),
    (Status.APPROVED, Status.EXECUTING): frozenset({Who.EXECUTOR}),
    (Status.APPROVED, Status.REJECTED): frozenset({Who.OWNER}),
    (Status.APPROVED, Status.CANCELLED): frozenset({Who.PROPOSER, Who.OWNER}),
    (Status.APPROVED, Status.EXPIRED): frozenset({Who.SYSTEM}),
    (Status.EXECUTING, Status.DONE): frozenset({Who.TAKER, Who.OWNER}),
    (Status.EXECUTING, Status.FAILED): frozenset({Who.TAKER, Who.OWNER, Who.SYSTEM}),
}
DECISIONS = frozenset({Status.APPROVED, Status.REJECTED})
WORDS = {
    Who.OWNER: "the owner", Who.PROPOSER: "the key that proposed it", Who.EXECUTOR: "a key with actions:execute",
    Who.TAKER: "the key that took it", Who.SYSTEM: "the service itself",
}  # fmt: skip


class InvalidTransition(Conflict):
    """409: no action ever moves from there to there."""

    code = "invalid_transition"
    default = "An action cannot move that way. A retry is a new proposal."


def page_address(action: Action) -> str:
    """Return the address of the page on which the owner decides."""
    return f"{settings.PUBLIC_URL}/a/{action.short_id}"


def queue_readable(access: Access) -> None:
    """Raise Forbidden unless the access holds any of the actions scopes."""
    if not any(access.may(scope) for scope in SCOPES):
        raise Forbidden("This key holds none of the actions scopes.", {"scopes": list(SCOPES)})


def parts_of(access: Access, action: Action) -> frozenset[Who]:
    """Return everything that this access is to the action."""
    if access.actor_kind == "system":
        return frozenset({Who.SYSTEM})
    tool = access.actor_kind in {"key", "grant"}
    parts = {
        Who.OWNER: access.decides,
        Who.PROPOSER: action.proposed_by(access),
        Who.EXECUTOR: tool and access.may("actions:execute"),
        Who.TAKER: action.taken_by(access),
    }
    return frozenset(who for who, holds in parts.items() if holds)


def move_allowed(access: Access, action: Action, to: str, allowed: frozenset[Who]) -> None:
    """Raise Forbidden unless the access is one of those who may make this move."""
    parts = parts_of(access, action)
    if to in DECISIONS and access.actor_kind != "user" and action.proposed_by(access):
        raise Forbidden("Nobody decides what the same key proposed. The owner decides it on its page.", _page(action))
    if not parts & allowed:
        names = " or ".join(WORDS[who] for who in Who if who in allowed)
        raise Forbidden(f"Only {names} may do that.", _page(action) if Who.OWNER in allowed else {})


def _page(action: Action) -> dict[str, str]:
    return {"page": page_address(action)}
