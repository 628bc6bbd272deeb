"""What a credential may be allowed and what each role may do: the one table of each."""

from collections.abc import Iterable

from accounts.models import Role

READ_SCOPES = frozenset(
    {
        "memories:read", "export", "journal:read", "records:read", "kv:read", "events:read", "space:read",
        "conversations:read",
    }
)  # fmt: skip
SCOPES: dict[str, str] = {
    "memories:read": "Find and read memories",
    "memories:write": "Store and change memories",
    "memories:delete": "Delete memories",
    "export": "Download all memories",
    "import": "Upload memories",
    "ai": "Have transcripts turned into memories",
    "journal:read": "Read the journal",
    "journal:write": "Write the journal",
    "records:read": "Read records",
    "records:write": "Write records",
    "kv:read": "Read key-value state",
    "kv:write": "Write key-value state",
    "actions:propose": "Propose actions for approval",
    "actions:execute": "Carry out approved actions",
    "actions:decide": "Approve and reject actions",
    "dreams": "Tidy the memory up (dreams)",
    "events:read": "Read the event log",
    "space:read": "Read the space's settings",
    "space:write": "Change the space's settings",
    "conversations:read": "Read conversations",
    "conversations:write": "Store conversations",
}
FULL_SCOPES = frozenset(SCOPES) - {"actions:decide"}
SCOPE_SETS = {"full": FULL_SCOPES, "read": READ_SCOPES}

# A key never may more than its person: the scopes that each role leaves to a key or a session.
ROLE_SCOPES: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(SCOPES),
    Role.ADMIN: frozenset(SCOPES),
    Role.MEMBER: frozenset(SCOPES) - {"space:write", "actions:decide"},
    Role.VIEWER: READ_SCOPES,
}

# What cannot wait for the owner: a quarantine key may not do it at all.
IMMEDIATE_SCOPES = frozenset(
    {
        "memories:delete", "journal:write", "records:write", "kv:write", "dreams", "space:write", "conversations:write",
    }
)  # fmt: skip


def key_scopes(scopes: Iterable[str], role: str, *, quarantine: bool) -> frozenset[str]:
    """Return the scopes that a key has at this moment: never more than its person's role leaves."""
    return frozenset(scopes) & ROLE_SCOPES[role] - (IMMEDIATE_SCOPES if quarantine else frozenset())


# What a signed-in person may do on the pages.
ROLE_ACTIONS: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(
        {"read", "write", "decide", "keys", "team", "settings", "transfer", "delete_space", "export", "import"}
    ),
    Role.ADMIN: frozenset({"read", "write", "decide", "keys", "team", "settings", "export", "import"}),
    Role.MEMBER: frozenset({"read", "write", "keys", "export", "import"}),
    Role.VIEWER: frozenset({"read", "export"}),
}


def scopes_parse(text: str) -> frozenset[str]:
    """Return the scopes that a comma-separated list names; `full` and `read` stand for their sets.

    Raises ValueError with a sentence that names the unknown scope.
    """
    scopes: set[str] = set()
    for name in filter(None, (part.strip() for part in text.split(","))):
        if name in SCOPE_SETS:
            scopes |= SCOPE_SETS[name]
        elif name in SCOPES:
            scopes.add(name)
        else:
            raise ValueError(f"Unknown scope {name!r}. Use full, read, or any of: {', '.join(SCOPES)}.")
    if {"actions:propose", "actions:decide"} <= scopes:
        raise ValueError("One key cannot hold both actions:propose and actions:decide: nobody approves their own.")
    return frozenset(scopes)
