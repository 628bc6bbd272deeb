"""What a client may send about dreams, and the shape that its model's answer must have."""

from typing import Annotated, Any, Literal

from pydantic import Field

from api.params import Cursor, Limit
from api.schemas import ClosedBody, State, Text, Timestamp
from memories.schemas import Content, Subject, Tags

MAX_OPERATIONS = 200
MAX_REASON = 500
MAX_RESULT_BYTES = 256 * 1024

MemoryId = Annotated[str, Text(20)]
Reason = Annotated[str, Text(MAX_REASON, minimum=0)]


class DreamNextJob(ClosedBody):
    """The arguments of the tool dream_next_job and of POST /v1/dreams/next-job."""

    start_if_due: Annotated[bool, Field(description="Start a dream first when the last one is old enough.")] = True


class DreamSubmitBody(ClosedBody):
    """The body of POST /v1/dreams/{id}/submit."""

    result: Annotated[Any, State(MAX_RESULT_BYTES), Field(description="The JSON object that your model produced.")]


class DreamSubmit(DreamSubmitBody):
    """The arguments of the tool dream_submit."""

    run_id: Annotated[str, Text(32)]


class Add(ClosedBody):
    """A new fact that follows from facts or journal entries of the input."""

    op: Literal["add"]
    text: Content
    subject: Subject = ""
    tags: Tags = []
    tier: Literal["long", "scratch"] = "long"
    evidence: Annotated[
        list[Annotated[str, Text(40)]],
        Field(min_length=1, max_length=20, description="Ids of facts, or journal entries as day:YYYY-MM-DD."),
    ]
    reason: Reason = ""


class Update(ClosedBody):
    """A clearer text of one fact, which keeps every number, date, address and name."""

    op: Literal["update"]
    id: MemoryId
    text: Content
    reason: Reason = ""


class Merge(ClosedBody):
    """Facts that say the same: keep_id stays, drop_ids go."""

    op: Literal["merge"]
    keep_id: MemoryId
    drop_ids: Annotated[list[MemoryId], Field(min_length=1, max_length=20)]
    text: Annotated[Content, Field(description="A new text of the fact that stays; absent, its text stays.")] | None = (
        None
    )
    reason: Reason = ""


class SetTier(ClosedBody):
    """Keep a fact for long, or let it expire as scratch."""

    op: Literal["set_tier"]
    id: MemoryId
    tier: Literal["long", "scratch"]
    reason: Reason = ""


class Expire(ClosedBody):
    """Let a fact expire, at least 7 days from now (7 days when no time is given)."""

    op: Literal["expire"]
    id: MemoryId
    expires_at: Timestamp | None = None
    reason: Reason = ""


class Suggest(ClosedBody):
    """Something that only the owner decides: promotion to core, a contradiction, a deletion."""

    op: Literal["suggest"]
    kind: Literal["core", "contradiction", "delete"]
    ids: Annotated[list[MemoryId], Field(min_length=1, max_length=20)]
    text: Annotated[str, Text(MAX_REASON)]


Change = Annotated[Add | Update | Merge | SetTier | Expire | Suggest, Field(discriminator="op")]


class DreamResult(ClosedBody):
    """The answer of the client's model."""

    changes: Annotated[list[Change], Field(max_length=MAX_OPERATIONS)]
    summary: Annotated[str, Text(2_000, minimum=0)] = ""


class DreamListParams(ClosedBody):
    """Query parameters of GET /v1/dreams."""

    limit: Limit = 20
    cursor: Cursor | None = None


class SuggestionListParams(ClosedBody):
    """Query parameters of GET /v1/dreams/suggestions."""

    status: Literal["open", "accepted", "dismissed"] = "open"
    limit: Limit = 50
    cursor: Cursor | None = None


class SuggestionDecision(ClosedBody):
    """The body of POST /v1/dreams/suggestions/{id}."""

    decision: Literal["accept", "dismiss"]
    keep_id: Annotated[MemoryId, Field(description="Of a contradiction: the fact that holds.")] | None = None
