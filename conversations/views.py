"""/v1/conversations and /v1/handoff, in the shapes that the reference's command line and browser extension use."""

from datetime import datetime
from typing import Any, ClassVar

from django.db.models import Q
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.access import space_transaction
from aiworker.bulk import estimate_of, extract_many_create
from aiworker.views import accepted
from api.errors import Invalid
from api.idempotency import idempotent
from api.pagination import cursor_decode, cursor_encode, next_link
from api.views import ApiView
from conversations.handoff import Talk, brief_write
from conversations.models import Conversation
from conversations.schemas import (
    MAX_CONVERSATION_BYTES,
    ConversationCreate,
    ConversationDeleteParams,
    ConversationParams,
    ExtractMany,
    Handoff,
)
from conversations.services import (
    conversation_delete,
    conversation_get,
    conversation_present,
    conversation_save,
    messages_pack,
    topic_of,
)
from events.services import event_record


class ConversationsView(ApiView):
    """/v1/conversations."""

    scopes: ClassVar = {"GET": "conversations:read", "POST": "conversations:write"}
    query_params = frozenset(ConversationParams.model_fields)
    max_body_bytes = MAX_CONVERSATION_BYTES

    def get(self, request: Request) -> Response:
        """List conversations without their messages, newest first."""
        params = self.query(ConversationParams)
        filters = params.model_dump(include={"model", "exclude_model", "since"}, exclude_none=True)
        rows = Conversation.objects.visible_to(self.access).defer("messages")
        if params.model:
            rows = rows.filter(model=params.model)
        if params.exclude_model:
            rows = rows.exclude(model=params.exclude_model)
        if params.since:
            rows = rows.filter(created_at__gte=params.since)
        total = rows.count()
        if params.cursor:
            at, last = cursor_decode(params.cursor, filters, (datetime, str))
            rows = rows.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=last))
        page = list(rows.order_by("-created_at", "-id")[: params.limit + 1])
        more, page = len(page) > params.limit, page[: params.limit]
        cursor = cursor_encode([page[-1].created_at.isoformat(), page[-1].id], filters) if more else None
        event_record(
            access=self.access, type="conversation.listed", object_kind="conversation",
            object_ids=[conversation.id for conversation in page],
        )  # fmt: skip
        body = {
            "conversations": [conversation_present(conversation, messages=False) for conversation in page],
            "total": total,
            "next_cursor": cursor,
        }
        return Response(body, headers={"Link": next_link(request._request, cursor)} if cursor else {})

    @idempotent
    def post(self, request: Request) -> Response:
        """Store a conversation; one that continues a stored one from the same address makes that grow."""
        conversation, created = conversation_save(access=self.access, data=self.body(ConversationCreate))
        return Response(conversation_present(conversation), status=201 if created else 200)


class ConversationView(ApiView):
    """/v1/conversations/{id}."""

    scopes: ClassVar = {"GET": "conversations:read", "DELETE": "conversations:write"}
    query_params = frozenset(ConversationDeleteParams.model_fields)

    def get(self, request: Request, conversation_id: str) -> Response:
        """Return one conversation with its messages."""
        if request._request.GET:
            raise Invalid.field("memories", "There is no such parameter here.")
        conversation = conversation_get(self.access, conversation_id)
        event_record(
            access=self.access, type="conversation.read", object_kind="conversation", object_ids=[conversation.id]
        )
        return Response(conversation_present(conversation))

    def delete(self, request: Request, conversation_id: str) -> Response:
        """Delete one conversation for good; `memories=true` also deletes what was extracted from it."""
        params = self.query(ConversationDeleteParams)
        conversation_delete(access=self.access, conversation_id=conversation_id, memories=params.memories)
        return Response(status=204)


class ConversationsExtractView(ApiView):
    """/v1/conversations/extract."""

    scopes: ClassVar = {"POST": "ai"}

    @idempotent
    def post(self, request: Request) -> Response:
        """Tell what extracting conversations would cost; with `dry_run: false`, start it as a job."""
        self.access.require("conversations:read")
        body = self.body(ExtractMany)
        if body.dry_run:
            return Response({"estimate": estimate_of(self.access, body.conversation_ids, body.provider)})
        return accepted(extract_many_create(access=self.access, data=body))


class HandoffView(ApiView):
    """/v1/handoff."""

    scopes: ClassVar = {"POST": "conversations:read"}
    max_body_bytes = MAX_CONVERSATION_BYTES
    atomic = False  # a provider may be asked

    @idempotent
    def post(self, request: Request) -> Response:
        """Return {"brief", "topic", "source_model", "target_model", "message_count"} and who wrote the brief."""
        body = self.body(Handoff)
        talk = self._talk(body)
        brief, writer = brief_write(access=self.access, talk=talk, provider=body.provider, api_key=body.api_key)
        answer: dict[str, Any] = {
            "brief": brief, "topic": talk.topic, "source_model": talk.source, "target_model": talk.target,
            "message_count": len(talk.messages), "written_by": writer,
        }  # fmt: skip
        response = Response(answer)
        if body.conversation_id is not None:
            response.shows = [body.conversation_id]  # type: ignore[attr-defined]  # the brief quotes it
        return response

    def _talk(self, body: Handoff) -> Talk:
        if body.conversation_id is not None:
            with space_transaction(self.access):
                conversation = conversation_get(self.access, body.conversation_id)
                event_record(
                    access=self.access, type="conversation.handed_off", object_kind="conversation",
                    object_ids=[conversation.id],
                )  # fmt: skip
            return Talk(
                source=conversation.model, target=body.target_model, topic=conversation.topic,
                messages=conversation.messages,
            )  # fmt: skip
        if body.model is None or body.messages is None:
            raise Invalid.field("conversation_id", "Give conversation_id, or model and messages.")
        messages = messages_pack(body.messages)
        return Talk(
            source=body.model, target=body.target_model, topic=topic_of(body.topic, messages), messages=messages
        )
