"""What a client may send about actions that wait for approval."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from api.params import CommaList, Cursor, Limit
from api.schemas import ClosedBody, State, Text, Timestamp

MAX_PAYLOAD_BYTES = 32 * 1024
MAX_RECEIPT_BYTES = 16 * 1024
MAX_META_BYTES = 16 * 1024
MAX_PRECONDITIONS = 20

StatusName = Literal["pending", "approved", "rejected", "cancelled", "executing", "done", "failed", "expired"]
Statuses = Annotated[list[StatusName], CommaList, WithJsonSchema({"type": "string", "description": "Comma-separated."})]
Version = Annotated[int, Field(ge=0, le=2**53)]


class RecordAtVersion(ClosedBody):
    """A record must be at a version."""

    type: Literal["record"]
    collection: Annotated[str, Text(100)]
    id: Annotated[str, Text(20)]
    version: Version


class KvAtVersion(ClosedBody):
    """A key-value pair must be at a version."""

    type: Literal["kv"]
    ns: Annotated[str, Text(100)]
    key: Annotated[str, Text(200)]
    version: Version


class MemoryAtVersion(ClosedBody):
    """A memory must be at a version."""

    type: Literal["memory"]
    id: Annotated[str, Text(20)]
    version: Version


class TimeBound(ClosedBody):
    """The action must be decided and carried out after, or before, a time."""

    type: Literal["not_before", "not_after"]
    at: Timestamp


class Note(ClosedBody):
    """Advice to the owner; nothing checks it."""

    type: Literal["note"]
    text: Annotated[str, Text(1_000)]


Precondition = Annotated[
    RecordAtVersion | KvAtVersion | MemoryAtVersion | TimeBound | Note, Field(discriminator="type")
]


class ActionPropose(ClosedBody):
    """An action to queue for the owner's approval: the tool action_propose and POST /v1/actions."""

    class_: Annotated[
        str, Text(100), Field(alias="class", description="What kind of action it is, such as email.send.")
    ]
    summary: Annotated[str, Text(1_000), Field(description="One sentence by which the owner decides.")]
    payload: Annotated[dict[str, Any], State(MAX_PAYLOAD_BYTES), Field(description="Exactly what will be carried out.")]
    idempotency_key: Annotated[str, Text(255), Field(description="The same key and payload propose one action only.")]
    preconditions: Annotated[
        list[Precondition],
        Field(max_length=MAX_PRECONDITIONS, description="What must hold at approval and at execution."),
    ] = []
    meta: Annotated[dict[str, Any], State(MAX_META_BYTES)] = {}
    expires_at: Annotated[Timestamp, Field(description="7 days by default, 30 at most.")] | None = None


class ActionList(ClosedBody):
    """Which actions to list: the tool action_list."""

    status: Statuses = ["pending", "approved", "executing"]
    limit: Limit = 50


class ActionListParams(ActionList):
    """Query parameters of GET /v1/actions."""

    cursor: Cursor | None = None


class TransitionBody(ClosedBody):
    """The body of POST /v1/actions/{id}/transition."""

    from_: Annotated[StatusName, Field(alias="from", description="The status that the action is in.")]
    to: StatusName
    receipt: (
        Annotated[dict[str, Any], State(MAX_RECEIPT_BYTES), Field(description="What came of it, with done or failed.")]
        | None
    ) = None


class ActionTransition(TransitionBody):
    """A move of one action: the tool action_transition."""

    id: Annotated[str, Text(20), Field(description="The short id, such as A7.")]
