"""Conversations of other products become ours; the same file imported again adds nothing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from accounts.access import Access
from api.errors import ApiError, Conflict, Forbidden
from api.timestamps import timestamp_format, timestamp_parse
from conversations.models import Conversation, actor_of, conversation_id_generate
from conversations.services import topic_of
from events.services import event_record
from memories.importers.records import Talk, id_letters

WRITTEN = ["model", "topic", "messages", "message_count", "source_url", "created_at", "updated_at", "extracted_at"]


@dataclass(slots=True)
class Taken:
    """What became of conversations: how many are new or changed, how many were there, and those that failed."""

    imported: int = 0
    skipped: int = 0
    failed: list[tuple[int, Talk, ApiError]] = field(default_factory=list)


def conversation_of(access: Access, talk: Talk) -> Conversation:
    """Return the conversation, not yet stored, that another product's becomes; its id is derived from the source's."""
    now = timezone.now()
    created = talk.created_at or talk.updated_at or now
    messages = [_message(message) for message in talk.messages]
    return Conversation(
        space_id=access.space_id, id=f"conv_{id_letters(talk.id)}", model=talk.model[:100],
        topic=topic_of(talk.topic, messages), messages=messages, message_count=len(messages),
        source_url=talk.url[:500] if talk.url else None, actor=actor_of(access), created_at=created,
        updated_at=talk.updated_at or created,
    )  # fmt: skip


def _message(message: dict[str, str]) -> dict[str, str]:
    if "at" not in message:
        return message
    return message | {"at": timestamp_format(timestamp_parse(message["at"]))}


def conversations_import(*, access: Access, conflict: str, talks: Sequence[tuple[int, Talk]]) -> Taken:
    """Store conversations by a strategy (skip, overwrite, duplicate), in the caller's transaction."""
    if access.quarantine:
        error = Forbidden("What this key writes waits for the owner, and a conversation cannot wait.")
        return Taken(failed=[(index, talk, error) for index, talk in talks])
    built = [(index, talk, conversation_of(access, talk)) for index, talk in talks]
    everything = Conversation.objects.visible_to(Access.system(access.space_id))
    ids = [conversation.id for _, _, conversation in built]
    there: dict[str, Any] = {row.id: row for row in everything.filter(id__in=ids).defer("messages")}
    seen = set(Conversation.objects.visible_to(access).filter(id__in=ids).values_list("id", flat=True))
    taken = Taken()
    new: dict[str, Conversation] = {}
    changed: dict[str, Conversation] = {}
    for index, talk, conversation in built:
        if conflict == "duplicate":
            conversation.id = conversation_id_generate()
        known = conversation.id in there
        if not known and conversation.id not in new:
            new[conversation.id] = conversation
        elif conflict == "skip":
            taken.skipped += 1
            continue
        elif known and conversation.id not in seen:
            taken.failed.append((index, talk, Conflict("This id is taken by a conversation that is not visible.")))
            continue
        elif known:
            changed[conversation.id] = conversation
        else:
            new[conversation.id] = conversation
        taken.imported += 1
    Conversation.objects.bulk_create(new.values(), batch_size=50)
    Conversation.objects.bulk_create(
        changed.values(), batch_size=50, update_conflicts=True, unique_fields=["space", "id"], update_fields=WRITTEN
    )
    if new or changed:
        event_record(
            access=access, type="conversation.imported", object_kind="conversation", object_ids=[*new, *changed]
        )
    return taken
