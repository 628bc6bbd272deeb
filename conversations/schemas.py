"""What a client may send about conversations, and what the reference's clients do send."""

from typing import Annotated, Literal

from pydantic import Field

from aiworker.schemas import ProviderKey, ProviderName
from api.params import Cursor, Limit, Switch
from api.schemas import Body, ClosedBody, Text, Timestamp

MAX_MESSAGE = 200_000
MAX_MESSAGES = 5_000
MAX_CONVERSATION_BYTES = 16 * 1024 * 1024

ModelName = Annotated[str, Text(100)]
Topic = Annotated[str, Text(200, minimum=0)]


class Message(Body):
    """One message; `at` is when it was written."""

    role: Literal["user", "assistant", "system", "tool"]
    content: Annotated[str, Text(MAX_MESSAGE, minimum=0)]
    at: Timestamp | None = None


class ConversationCreate(Body):
    """The body of POST /v1/conversations."""

    model: ModelName
    topic: Topic | None = None
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)]
    source_url: Annotated[str, Text(500, minimum=0)] | None = None


class ConversationParams(ClosedBody):
    """Query parameters of GET /v1/conversations."""

    model: ModelName | None = None
    exclude_model: ModelName | None = None
    since: Timestamp | None = None
    limit: Limit = 10
    cursor: Cursor | None = None


class ConversationDeleteParams(ClosedBody):
    """Query parameters of DELETE /v1/conversations/{id}; `memories` also deletes what was extracted from it."""

    memories: Switch = False


class ExtractMany(ClosedBody):
    """The body of POST /v1/conversations/extract; without ids, every conversation not yet extracted."""

    conversation_ids: Annotated[list[Annotated[str, Text(21)]], Field(min_length=1, max_length=10_000)] | None = None
    dry_run: bool = True
    provider: ProviderName = None
    api_key: ProviderKey = Field(default=None, repr=False)


class Handoff(Body):
    """The body of POST /v1/handoff: a stored conversation's id, or `model` and `messages` of one."""

    conversation_id: Annotated[str, Text(100)] | None = None
    model: ModelName | None = None
    topic: Topic | None = None
    messages: Annotated[list[Message], Field(min_length=1, max_length=MAX_MESSAGES)] | None = None
    target_model: ModelName
    provider: ProviderName = None
    api_key: ProviderKey = Field(default=None, repr=False)
