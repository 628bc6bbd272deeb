"""What a person can let an assistant do, in three steps, and what each step stands for."""

from collections.abc import Iterable

GRANT_SCOPES: dict[str, str] = {
    "read": "Read what is remembered: facts, journal, records, key-value state and the context",
    "write": "Store, change and forget facts, journal, records and key-value state, and tidy them up",
    "propose": "Propose actions for your approval, and carry out those that you have approved",
}
# Deciding is the owner's alone: no step holds actions:decide.
STEPS: dict[str, frozenset[str]] = {
    "read": frozenset({"memories:read", "journal:read", "records:read", "kv:read", "space:read", "conversations:read"}),
    "write": frozenset(
        {"memories:write", "memories:delete", "journal:write", "records:write", "kv:write", "dreams", "ai"}
    ),
    "propose": frozenset({"actions:propose", "actions:execute"}),
}


def scopes_of(steps: Iterable[str]) -> frozenset[str]:
    """Return the scopes that some steps stand for; an unknown step stands for nothing."""
    return frozenset().union(*(STEPS.get(step, frozenset()) for step in steps))
