"""Storing and deleting conversations."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.access import Access
from api.errors import Forbidden, NotFound
from api.idempotency import answers_forget
from api.timestamps import timestamp_format
from conversations.models import Conversation, actor_of
from conversations.schemas import ConversationCreate, Message
from events.services import event_record
from memories.models import FROM_CONVERSATION, Memory
from memories.services import memories_delete

GAP = "\n\n"  # between the paragraphs of a transcript
NOT_VISIBLE = "No conversation with this id is visible to this key."


def conversation_get(access: Access, conversation_id: str) -> Conversation:
    """Return a conversation that the access may see. Raises NotFound."""
    conversation: Conversation | None = Conversation.objects.visible_to(access).filter(id=conversation_id).first()
    if conversation is None:
        raise NotFound(NOT_VISIBLE)
    return conversation


def conversation_present(conversation: Conversation, *, messages: bool = True) -> dict[str, Any]:
    """Return {id, model, topic, messages, message_count, source_url, created_at, updated_at}."""
    shown: dict[str, Any] = {"id": conversation.id, "model": conversation.model, "topic": conversation.topic}
    if messages:
        shown["messages"] = conversation.messages
    return shown | {
        "message_count": conversation.message_count,
        "source_url": conversation.source_url,
        "created_at": timestamp_format(conversation.created_at),
        "updated_at": timestamp_format(conversation.updated_at),
    }


def messages_pack(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return messages as they are stored."""
    return [
        {"role": message.role, "content": message.content}
        | ({"at": timestamp_format(message.at)} if message.at else {})
        for message in messages
    ]


def topic_of(topic: str | None, messages: Sequence[dict[str, str]]) -> str:
    """Return the given topic, else the beginning of the first message that says something."""
    first = next((text for message in messages if (text := message["content"].strip())), "Conversation")
    return ((topic or "").strip() or " ".join(first.split()))[:200]


def _continues(old: Sequence[dict[str, str]], new: Sequence[dict[str, str]]) -> bool:
    """Return whether `new` is `old` with more at its end; the last message may have been caught half written."""
    if not old or len(new) < len(old) or list(old[:-1]) != list(new[: len(old) - 1]):
        return False
    last, now = old[-1], new[len(old) - 1]
    return last["role"] == now["role"] and now["content"].startswith(last["content"])


@transaction.atomic
def conversation_save(*, access: Access, data: ConversationCreate) -> tuple[Conversation, bool]:
    """Store a conversation; return it and whether it is new.

    A browser extension saves a page's conversation again as it grows: from the same address and with the same
    beginning, the stored one grows. Raises Forbidden for a key whose writes wait for the owner.
    """
    if access.quarantine:
        raise Forbidden("What this key writes waits for the owner, and a conversation cannot wait.")
    messages = messages_pack(data.messages)
    url = data.source_url or None
    grown = _grown(access, data.model, url, messages)
    if grown is not None:
        if grown.messages != messages:
            grown.messages, grown.message_count, grown.updated_at = messages, len(messages), timezone.now()
            grown.extracted_at = None
            grown.save(update_fields=["messages", "message_count", "updated_at", "extracted_at"])
            _note(access, "conversation.updated", [grown.id])
        return grown, False
    now = timezone.now()
    conversation = Conversation.objects.create(
        space_id=access.space_id, model=data.model, topic=topic_of(data.topic, messages), messages=messages,
        message_count=len(messages), source_url=url, actor=actor_of(access), created_at=now, updated_at=now,
    )  # fmt: skip
    _note(access, "conversation.created", [conversation.id])
    return conversation, True


def _grown(access: Access, model: str, url: str | None, messages: list[dict[str, str]]) -> Conversation | None:
    """Return the stored conversation that these messages continue, locked."""
    if url is None:
        return None
    rows = Conversation.objects.visible_to(access).filter(source_url=url, model=model, actor=actor_of(access))
    latest: Conversation | None = rows.order_by("-updated_at").select_for_update().first()
    return latest if latest is not None and _continues(latest.messages, messages) else None


@transaction.atomic
def conversation_delete(*, access: Access, conversation_id: str, memories: bool) -> None:
    """Delete a conversation for good, and with `memories` what was extracted from it. Raises NotFound, Forbidden."""
    conversation = conversation_get(access, conversation_id)
    if memories:
        access.require("memories:delete")
        memories_delete(access=access, memories=list(extracted_from(access, conversation.id)))
    Conversation.objects.visible_to(access).filter(id=conversation.id).delete()
    answers_forget(access, [conversation.id])
    _note(access, "conversation.deleted", [conversation.id])


def extracted_from(access: Access, conversation_id: str) -> Any:
    """Return the visible memories, of every status, that were extracted from a conversation."""
    # The second condition is that of the index.
    rows = Memory.objects.any_status(access).filter(source_ref__startswith=f"{conversation_id}#")
    return rows.filter(source_ref__startswith=FROM_CONVERSATION)


def _note(access: Access, type: str, ids: Sequence[str]) -> None:
    event_record(access=access, type=type, object_kind="conversation", object_ids=ids)


def _spoken(messages: Sequence[dict[str, str]]) -> Iterator[tuple[int, str]]:
    """Yield the paragraphs of a transcript, each with the index of its message."""
    names = {"user": "User", "assistant": "Assistant"}
    for index, message in enumerate(messages):
        if message["role"] in names and (text := message["content"].strip()):
            yield index, f"{names[message['role']]}: {text}"


def transcript_of(messages: Sequence[dict[str, str]]) -> str:
    """Return messages as a transcript: one paragraph each, led by who speaks, without system and tool output."""
    return GAP.join(paragraph for _, paragraph in _spoken(messages))


def turns(messages: Sequence[dict[str, str]]) -> list[tuple[int, int, int]]:
    """Return where each message stands in the transcript: its index, and its first and last character and the gap."""
    places, begin = [], 0
    for index, paragraph in _spoken(messages):
        end = begin + len(paragraph) + len(GAP)
        places.append((index, begin, end))
        begin = end
    return places
