"""The event log in words that a person reads."""

WORDS = {
    "memory.created": "stored", "memory.updated": "changed", "memory.deleted": "deleted", "memory.read": "read",
    "memory.listed": "listed", "memory.searched": "searched and found", "memory.recalled": "recalled",
    "memory.forgotten": "forgot", "memory.exported": "exported", "memory.imported": "imported",
    "memory.released": "let in", "memory.expired": "let expire", "apikey.created": "made a key",
    "apikey.revoked": "revoked a key", "session.started": "signed in", "space.created": "made the space",
    "space.updated": "changed the settings", "member.invited": "invited somebody", "member.joined": "joined",
    "member.role_changed": "changed a role", "member.removed": "removed a member", "member.left": "left the space",
    "invitation.revoked": "withdrew an invitation", "space.transferred": "handed the space over",
    "action.proposed": "proposed an action", "action.approved": "approved an action",
    "action.rejected": "rejected an action", "action.executing": "began an action", "action.done": "finished an action",
    "action.failed": "failed at an action", "action.cancelled": "cancelled an action",
    "action.expired": "let an action lapse",
    "journal.written": "wrote in the journal", "journal.read": "read the journal",
    "record.created": "stored a record", "record.updated": "changed a record", "record.deleted": "deleted a record",
    "record.read": "read records", "kv.set": "set a value", "kv.read": "read a value", "kv.deleted": "deleted a value",
    "dream.started": "began a dream", "dream.applied": "applied a dream", "dream.undone": "undid a dream",
    "context.read": "asked for the context", "support.allowed": "let support look in",
    "support.ended": "ended the support visit", "support.entered": "looked in as support",
}  # fmt: skip
GROUPS = {
    "memory.": "Memories", "journal.": "Journal", "record.": "Records", "kv.": "Key-value", "action.": "Actions",
    "dream.": "Dreams", "apikey.": "Keys", "member.": "People", "session.": "Sign-ins", "space.": "Space",
}  # fmt: skip


def event_words(type: str) -> str:
    """Return what an event of this type says its actor did; an unknown type in its own letters."""
    return WORDS.get(type, type.replace(".", " ").replace("_", " "))
