"""The agent state: facts, journal, records, key-value state, actions, dreams and context."""

from typing import Any

from actions.schemas import ActionListParams, ActionPropose, TransitionBody
from api.openapi.core import EXAMPLE_FACT, EXTENSION, MEMORY, ONE
from api.openapi.operations import (
    ANY,
    COUNT,
    FLAG,
    OBJECT,
    OPTIONAL_TEXT,
    OPTIONAL_TIME,
    TEXT,
    TIME,
    Operation,
    listed,
    obj,
)
from memories.schemas import HistoryParams, Recall, Remember, Restore
from notebook.schemas import (
    JournalParams,
    JournalPutParams,
    JournalText,
    KvDeleteParams,
    KvListParams,
    KvPut,
    RecordBatch,
    RecordChanges,
    RecordFields,
    RecordFilters,
)

ACTOR = obj({"kind": TEXT, "id": TEXT, "name": TEXT})
OPTIONAL_ACTOR = {"oneOf": [ACTOR, {"type": "null"}]}
VALUE = {"value": ANY, "version": COUNT, "updated_at": TIME}
NAMED = {"type": "array", "items": obj({"name": TEXT, "count": COUNT})}

WRITTEN = {"version": 1, "created_at": "2026-06-29T12:00:00Z", "updated_at": "2026-06-29T12:00:00Z"}
EXAMPLE_ACTOR = {"kind": "key", "id": "3", "name": "claude"}
EXAMPLE_VERSION = {
    "version": 1, "memory": EXAMPLE_FACT, "replaced_at": "2026-06-30T08:15:00Z", "replaced_by": EXAMPLE_ACTOR,
}  # fmt: skip
EXAMPLE_TEXTS = {
    "summary": "Settled the release plan.", "decisions": ["Ship on Friday"], "open_loops": ["Ask Anna for the logo"],
    "source_refs": ["https://example.com/plan"],
}  # fmt: skip
EXAMPLE_ENTRY = {"kind": "day", "date": "2026-06-29", **EXAMPLE_TEXTS, **WRITTEN}
EXAMPLE_FIELDS = {
    "key": "invoice-42", "status": "open", "due_at": "2026-07-03T09:00:00Z", "data": {"title": "Send the invoice"},
}  # fmt: skip
EXAMPLE_RECORD = {
    "id": "rec_01j9xk2p3q4r5s6t", "collection": "tasks", **EXAMPLE_FIELDS, "origin": "agent", **WRITTEN,
}  # fmt: skip
EXAMPLE_VALUE = {"value": {"mode": "dark"}, "version": 1, "updated_at": "2026-06-29T12:00:00Z"}
EXAMPLE_PROPOSAL = {
    "class": "email.send", "summary": "Send invoice 42 to Anna",
    "payload": {"to": "anna@example.com", "subject": "Invoice 42"}, "idempotency_key": "invoice-42",
    "preconditions": [{"type": "record", "collection": "tasks", "id": "rec_01j9xk2p3q4r5s6t", "version": 1}],
}  # fmt: skip
EXAMPLE_ACTION = {
    "id": "A7", **EXAMPLE_PROPOSAL, "meta": {}, "status": "pending", "proposed_by": EXAMPLE_ACTOR, "decided_by": None,
    "receipt": None, "history": [], "expires_at": "2026-07-06T12:00:00Z", "created_at": "2026-06-29T12:00:00Z",
    "updated_at": "2026-06-29T12:00:00Z",
}  # fmt: skip

SHAPES: dict[str, dict[str, Any]] = {
    "Fact": obj(MEMORY | EXTENSION | {"deduplicated": FLAG}, examples=[EXAMPLE_FACT | {"deduplicated": False}]),
    "Facts": listed("memories", "Memory", EXAMPLE_FACT, cursor=False),
    "MemoryVersion": obj(
        {"version": COUNT, "memory": OBJECT, "replaced_at": OPTIONAL_TIME, "replaced_by": OPTIONAL_ACTOR}
    ),
    "MemoryVersions": listed("versions", "MemoryVersion", EXAMPLE_VERSION),
    "JournalEntry": obj(
        {
            "kind": TEXT, "date": {"type": "string", "format": "date"}, "summary": TEXT, "decisions": ANY,
            "open_loops": ANY, "source_refs": ANY, "version": COUNT, "created_at": TIME, "updated_at": TIME,
        },
        examples=[EXAMPLE_ENTRY],
    ),
    "JournalEntries": listed("entries", "JournalEntry", EXAMPLE_ENTRY),
    "Record": obj(
        {
            "id": TEXT, "collection": TEXT, "key": OPTIONAL_TEXT, "status": TEXT, "due_at": OPTIONAL_TIME,
            "data": OBJECT, "origin": TEXT, "version": COUNT, "created_at": TIME, "updated_at": TIME,
        },
        examples=[EXAMPLE_RECORD],
    ),
    "Records": listed("records", "Record", EXAMPLE_RECORD),
    "Collections": obj({"collections": NAMED}, examples=[{"collections": [{"name": "tasks", "count": 12}]}]),
    "RecordResults": obj(
        {"results": {"type": "array", "items": OBJECT}},
        examples=[{"results": [{"index": 0, "status": 201, "record": EXAMPLE_RECORD}]}],
    ),
    "Namespaces": obj({"namespaces": NAMED}, examples=[{"namespaces": [{"name": "myapp", "count": 3}]}]),
    "Namespace": obj(
        {"ns": TEXT, "values": {"type": "object", "additionalProperties": obj(VALUE)}, "next_cursor": OPTIONAL_TEXT},
        examples=[{"ns": "myapp", "values": {"theme": EXAMPLE_VALUE}, "next_cursor": None}],
    ),
    "KeyValue": obj({"ns": TEXT, "key": TEXT} | VALUE, examples=[{"ns": "myapp", "key": "theme", **EXAMPLE_VALUE}]),
    "Action": obj(
        {
            "id": {"type": "string", "pattern": "^A[0-9]+$"}, "class": TEXT, "summary": TEXT, "payload": ANY,
            "preconditions": {"type": "array", "items": OBJECT}, "meta": ANY, "status": TEXT,
            "idempotency_key": OPTIONAL_TEXT, "proposed_by": ACTOR, "decided_by": OPTIONAL_ACTOR, "receipt": ANY,
            "history": {"type": "array", "items": OBJECT}, "expires_at": TIME, "created_at": TIME, "updated_at": TIME,
        },
        {"unchanged": FLAG},
        examples=[EXAMPLE_ACTION],
    ),
    "Actions": listed("actions", "Action", EXAMPLE_ACTION),
}  # fmt: skip

RECORDS = "/v1/records/{collection}"
ENTRY = "/v1/journal/{kind}/{date}"
KEY = "/v1/kv/{ns}/{key}"
ACTION = "/v1/actions/{action_id}"
OPERATIONS: dict[str, Operation] = {
    "POST /v1/memories/remember": Operation(
        {201: "Fact", 200: "Fact"}, Remember, example={"text": "Prefers window seats", "subject": "user"}
    ),
    "GET /v1/memories/recall": Operation({200: "Facts"}, query=(Recall,)),
    f"GET {ONE}/history": Operation({200: "MemoryVersions"}, query=(HistoryParams,)),
    f"POST {ONE}/restore": Operation({200: "Memory"}, Restore, example={"version": 1}),
    "GET /v1/journal": Operation({200: "JournalEntries"}, query=(JournalParams,)),
    f"GET {ENTRY}": Operation({200: "JournalEntry"}),
    f"PUT {ENTRY}": Operation(
        {200: "JournalEntry", 201: "JournalEntry"}, JournalText, (JournalPutParams,), example=EXAMPLE_TEXTS
    ),
    f"DELETE {ENTRY}": Operation({204: None}),
    "GET /v1/records": Operation({200: "Collections"}),
    f"GET {RECORDS}": Operation({200: "Records"}, query=(RecordFilters,)),
    f"POST {RECORDS}": Operation({200: "Record", 201: "Record"}, RecordFields, example=EXAMPLE_FIELDS),
    f"POST {RECORDS}/batch": Operation({200: "RecordResults"}, RecordBatch, example={"records": [EXAMPLE_FIELDS]}),
    f"GET {RECORDS}/{{id}}": Operation({200: "Record"}),
    f"PATCH {RECORDS}/{{id}}": Operation({200: "Record"}, RecordChanges, example={"status": "done"}),
    f"DELETE {RECORDS}/{{id}}": Operation({204: None}),
    "GET /v1/kv": Operation({200: "Namespaces"}),
    "GET /v1/kv/{ns}": Operation({200: "Namespace"}, query=(KvListParams,)),
    f"GET {KEY}": Operation({200: "KeyValue"}),
    f"PUT {KEY}": Operation({200: "KeyValue", 201: "KeyValue"}, KvPut, example={"value": {"mode": "dark"}}),
    f"DELETE {KEY}": Operation({204: None}, query=(KvDeleteParams,)),
    "GET /v1/actions": Operation({200: "Actions"}, query=(ActionListParams,)),
    "POST /v1/actions": Operation({200: "Action", 201: "Action"}, ActionPropose, example=EXAMPLE_PROPOSAL),
    f"GET {ACTION}": Operation({200: "Action"}),
    f"POST {ACTION}/transition": Operation(
        {200: "Action"}, TransitionBody, example={"from": "pending", "to": "approved"}
    ),
}
