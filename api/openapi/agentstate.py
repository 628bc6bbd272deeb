"""The agent state: facts, journal, records, key-value state, actions, dreams and context."""

from typing import Any

from actions.schemas import ActionListParams, ActionPropose, TransitionBody
from api.openapi.core import EXTENSION, MEMORY, ONE
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

SHAPES: dict[str, dict[str, Any]] = {
    "Fact": obj(MEMORY | EXTENSION | {"deduplicated": FLAG}),
    "Facts": listed("memories", "Memory", cursor=False),
    "MemoryVersion": obj(
        {"version": COUNT, "memory": OBJECT, "replaced_at": OPTIONAL_TIME, "replaced_by": OPTIONAL_ACTOR}
    ),
    "MemoryVersions": listed("versions", "MemoryVersion"),
    "JournalEntry": obj(
        {
            "kind": TEXT, "date": {"type": "string", "format": "date"}, "summary": TEXT, "decisions": ANY,
            "open_loops": ANY, "source_refs": ANY, "version": COUNT, "created_at": TIME, "updated_at": TIME,
        }
    ),
    "JournalEntries": listed("entries", "JournalEntry"),
    "Record": obj(
        {
            "id": TEXT, "collection": TEXT, "key": OPTIONAL_TEXT, "status": TEXT, "due_at": OPTIONAL_TIME,
            "data": OBJECT, "origin": TEXT, "version": COUNT, "created_at": TIME, "updated_at": TIME,
        }
    ),
    "Records": listed("records", "Record"),
    "Collections": obj({"collections": NAMED}),
    "RecordResults": obj({"results": {"type": "array", "items": OBJECT}}),
    "Namespaces": obj({"namespaces": NAMED}),
    "Namespace": obj(
        {"ns": TEXT, "values": {"type": "object", "additionalProperties": obj(VALUE)}, "next_cursor": OPTIONAL_TEXT}
    ),
    "KeyValue": obj({"ns": TEXT, "key": TEXT} | VALUE),
    "Action": obj(
        {
            "id": {"type": "string", "pattern": "^A[0-9]+$"}, "class": TEXT, "summary": TEXT, "payload": ANY,
            "preconditions": {"type": "array", "items": OBJECT}, "meta": ANY, "status": TEXT,
            "idempotency_key": OPTIONAL_TEXT, "proposed_by": ACTOR, "decided_by": OPTIONAL_ACTOR, "receipt": ANY,
            "history": {"type": "array", "items": OBJECT}, "expires_at": TIME, "created_at": TIME, "updated_at": TIME,
        },
        {"unchanged": FLAG},
    ),
    "Actions": listed("actions", "Action"),
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
    f"PUT {ENTRY}": Operation({200: "JournalEntry", 201: "JournalEntry"}, JournalText, (JournalPutParams,)),
    f"DELETE {ENTRY}": Operation({204: None}),
    "GET /v1/records": Operation({200: "Collections"}),
    f"GET {RECORDS}": Operation({200: "Records"}, query=(RecordFilters,)),
    f"POST {RECORDS}": Operation({200: "Record", 201: "Record"}, RecordFields),
    f"POST {RECORDS}/batch": Operation({200: "RecordResults"}, RecordBatch),
    f"GET {RECORDS}/{{id}}": Operation({200: "Record"}),
    f"PATCH {RECORDS}/{{id}}": Operation({200: "Record"}, RecordChanges),
    f"DELETE {RECORDS}/{{id}}": Operation({204: None}),
    "GET /v1/kv": Operation({200: "Namespaces"}),
    "GET /v1/kv/{ns}": Operation({200: "Namespace"}, query=(KvListParams,)),
    f"GET {KEY}": Operation({200: "KeyValue"}),
    f"PUT {KEY}": Operation({200: "KeyValue", 201: "KeyValue"}, KvPut),
    f"DELETE {KEY}": Operation({204: None}, query=(KvDeleteParams,)),
    "GET /v1/actions": Operation({200: "Actions"}, query=(ActionListParams,)),
    "POST /v1/actions": Operation({200: "Action", 201: "Action"}, ActionPropose),
    f"GET {ACTION}": Operation({200: "Action"}),
    f"POST {ACTION}/transition": Operation({200: "Action"}, TransitionBody),
}
