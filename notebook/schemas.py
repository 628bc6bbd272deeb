"""What a client may send about journal, records and key-value state."""

from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from api.params import CommaList, Cursor, Limit, Whole
from api.schemas import Body, ClosedBody, Date, State, Text, Timestamp

MAX_SUMMARY = 10_000
MAX_ITEMS = 50
MAX_ITEM = 500
MAX_VALUE_BYTES = 64 * 1024
MAX_BATCH = 500
MAX_KEYS = 200

Kind = Literal["day", "week"]
Items = Annotated[list[Annotated[str, Text(MAX_ITEM)]], Field(max_length=MAX_ITEMS)]
Name = Annotated[str, Text(100)]
Key = Annotated[str, Text(200)]
Status = Annotated[str, Text(50)]
Statuses = Annotated[list[Status], CommaList, WithJsonSchema({"type": "string", "description": "Comma-separated."})]
Origin = Literal["user", "agent"]
Data = Annotated[dict[str, Any], State(MAX_VALUE_BYTES)]
Version = Annotated[int, Field(ge=0, le=2**53)]


class JournalText(ClosedBody):
    """The body of PUT /v1/journal/{kind}/{date}: only what is given changes."""

    summary: Annotated[str, Text(MAX_SUMMARY, minimum=0)] | None = None
    decisions: Items | None = None
    open_loops: Items | None = None
    source_refs: Items | None = None


class JournalWrite(JournalText):
    """An entry to write: the tool journal_write."""

    date: Annotated[Date, Field(description="YYYY-MM-DD; for a week any of its days.")]
    kind: Kind = "day"
    merge: Annotated[bool, Field(description="Append to what is there instead of replacing it.")] = False


class JournalAddress(ClosedBody):
    """The part of an address that names an entry."""

    kind: Kind
    date: Date


class JournalParams(ClosedBody):
    """Query parameters of GET /v1/journal."""

    from_: Annotated[Date | None, Field(alias="from")] = None
    to: Date | None = None
    kind: Kind | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class RecordFields(ClosedBody):
    """The body of POST /v1/records/{collection}."""

    key: Annotated[Key, Field(description="With a key, the record that has it is updated.")] | None = None
    status: Status | None = None
    due_at: Timestamp | None = None
    data: Annotated[Data, Field(description="Merged at its top level; null removes a field.")] = {}
    origin: Origin | None = None


class RecordPut(RecordFields):
    """A record to create, or by its key to update: the tool record_put."""

    collection: Name


class RecordBatch(Body):
    """The body of POST /v1/records/{collection}/batch; its items are validated one by one."""

    records: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


class RecordFilters(ClosedBody):
    """Query parameters of GET /v1/records/{collection}."""

    status: Statuses | None = None
    key: Key | None = None
    due_before: Timestamp | None = None
    limit: Limit = 50
    cursor: Cursor | None = None


class RecordQuery(RecordFilters):
    """Which records to list: the tool record_query."""

    collection: Name


class RecordChanges(ClosedBody):
    """The body of PATCH /v1/records/{collection}/{id}: only what is given changes."""

    status: Status | None = None
    due_at: Timestamp | None = None
    data: Annotated[Data, Field(description="Merged at its top level; null removes a field.")] | None = None
    expected_version: Annotated[Version, Field(description="Fail when the record has moved on.")] | None = None


class RecordUpdate(RecordChanges):
    """A change of one record: the tool record_update."""

    collection: Name
    id: Annotated[str, Text(20)]


class RecordAddress(ClosedBody):
    """The part of an address that names a collection, or a record in it."""

    collection: Name
    id: Annotated[str, Text(20)] = ""


class KvGet(ClosedBody):
    """Which values to read: the tool kv_get."""

    ns: Name
    key: Key | None = None


class KvPut(ClosedBody):
    """The body of PUT /v1/kv/{ns}/{key}."""

    value: Annotated[Any, State(MAX_VALUE_BYTES)]
    expected_version: (
        Annotated[Version, Field(description="0: only create; n: only when the value is at version n.")] | None
    ) = None


class KvSet(KvPut):
    """A value to set: the tool kv_set."""

    ns: Annotated[Name, Field(description="Namespaces that begin with _ are reserved.")]
    key: Key


class KvAddress(ClosedBody):
    """The part of an address that names a value."""

    ns: Name
    key: Key


class KvDeleteParams(ClosedBody):
    """Query parameters of DELETE /v1/kv/{ns}/{key}."""

    expected_version: Whole | None = None


class KvListParams(ClosedBody):
    """Query parameters of GET /v1/kv/{ns}."""

    cursor: Cursor | None = None


class JournalPutParams(ClosedBody):
    """Query parameters of PUT /v1/journal/{kind}/{date}."""

    merge: Annotated[Literal["true", "false"], Field(description="true appends.")] = "false"
