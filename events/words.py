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
    "action.read": "looked at an action", "memory.purged": "cleared away what had expired",
    "memory.restored": "restored an earlier version of", "memory.dreamed": "changed in a dream",
    "conversation.imported": "stored a conversation", "conversation.read": "read a conversation",
    "conversation.listed": "listed conversations", "conversation.handed_off": "handed a conversation over",
    "journal.deleted": "deleted a page of the journal", "journal.redacted": "redacted the journal",
    "dream.read": "looked at a dream", "dream.leased": "took a dream", "dream.lapsed": "let a dream lapse",
    "dream.failed": "failed at a dream", "dream.ended": "ended a dream without changes",
    "dream.cancelled": "cancelled a dream", "suggestion.created": "suggested something",
    "suggestion.accepted": "accepted a suggestion", "suggestion.dismissed": "dismissed a suggestion",
    "job.created": "began a long job", "job.succeeded": "finished a long job", "job.failed": "failed at a long job",
    "job.cancelled": "stopped a long job", "job.retried": "tried a job again", "job.discarded": "gave a job up",
    "grant.created": "let an assistant in", "grant.revoked": "disconnected an assistant",
    "space.exported": "exported the space", "space.imported": "imported a space",
    "context.read": "asked for the context", "support.allowed": "let support look in",
    "support.ended": "ended the support visit", "support.entered": "looked in as support",
}  # fmt: skip
GROUPS = {
    "memory.": "Memories", "journal.": "Journal", "record.": "Records", "kv.": "Key-value", "action.": "Actions",
    "dream.": "Dreams", "apikey.": "Keys", "member.": "People", "session.": "Sign-ins", "space.": "Space",
}  # fmt: skip

NOUNS = {
    "memory": "memories", "journal": "journal pages", "kv": "values", "conversation": "conversations",
    "apikey": "keys", "user": "people",
}  # fmt: skip


def event_nouns(kind: str) -> str:
    """Return what several objects of a kind are called."""
    return NOUNS.get(kind, f"{kind}s")


def event_words(type: str) -> str:
    """Return what an event of this type says its actor did; an unknown type in its own letters."""
    return WORDS.get(type, type.replace(".", " ").replace("_", " "))
