"""Dreams, context, and forgetting: what goes across the whole agent state."""

from typing import Any

from accounts.schemas import SpaceDeleteParams
from api.openapi.agentstate import EXAMPLE_ACTION, EXAMPLE_RECORD, OPTIONAL_ACTOR
from api.openapi.core import EXAMPLE_FACT
from api.openapi.operations import COUNT, FLAG, OBJECT, OPTIONAL_TIME, TEXT, TIME, Operation, listed, obj
from api.text import NOTICE
from context.schemas import SpaceImportParams
from dreams.schemas import (
    DreamListParams,
    DreamNextJob,
    DreamSubmitBody,
    SuggestionDecision,
    SuggestionListParams,
)
from memories.schemas import Forget

TEXTS = {"type": "array", "items": TEXT}
OBJECTS = {"type": "array", "items": OBJECT}
REJECTED = {"type": "array", "items": obj({"index": COUNT, "code": TEXT, "message": TEXT})}
STATUS = {"enum": ["pending", "leased", "applied", "no_changes", "failed", "cancelled", "undone"]}
RUN: dict[str, Any] = {
    "id": TEXT, "status": STATUS, "attempts": COUNT, "applied": COUNT, "summary": TEXT, "created_at": TIME,
    "started_at": OPTIONAL_TIME, "applied_at": OPTIONAL_TIME, "undo_until": OPTIONAL_TIME,
}  # fmt: skip
CHANGE = obj(
    {
        "seq": COUNT, "op": TEXT, "memory_ids": TEXTS, "before": OBJECT, "after": OBJECT, "evidence": TEXTS,
        "reason": TEXT, "status": TEXT,
    }
)  # fmt: skip
JOB = obj({"run_id": TEXT, "instructions": TEXT, "input": OBJECT, "output_schema": OBJECT, "max_changes": COUNT})
PREVIEWS = {"type": "array", "items": obj({"scope": TEXT, "id": TEXT, "text": TEXT})}
SCOPED_COUNT = {"memories": COUNT, "records": COUNT, "journal": COUNT}

EXAMPLE_RUN: dict[str, Any] = {
    "id": "dream_01j9xk2p3q4r5s6t", "status": "applied", "attempts": 1, "applied": 1,
    "summary": "One fact could be said more plainly.", "created_at": "2026-06-30T03:00:00Z",
    "started_at": "2026-06-30T03:00:10Z", "applied_at": "2026-06-30T03:01:00Z", "undo_until": "2026-07-07T03:01:00Z",
}  # fmt: skip
EXAMPLE_CHANGES = [
    {
        "op": "update", "id": EXAMPLE_FACT["id"], "text": "Prefers window seats, on long flights too",
        "reason": "Both were said.",
    }
]  # fmt: skip
EXAMPLE_DREAM = EXAMPLE_RUN | {
    "changes": [
        {
            "seq": 1, "op": "update", "memory_ids": [EXAMPLE_FACT["id"]], "before": {EXAMPLE_FACT["id"]: EXAMPLE_FACT},
            "after": {EXAMPLE_FACT["id"]: EXAMPLE_FACT | {"content": EXAMPLE_CHANGES[0]["text"], "version": 2}},
            "evidence": [], "reason": "Both were said.", "status": "applied",
        }
    ],
    "rejected": [],
}  # fmt: skip
EXAMPLE_SUGGESTION = {
    "id": "sug_01j9xk2p3q4r5s6t", "dream_id": EXAMPLE_RUN["id"], "kind": "core", "memory_ids": [EXAMPLE_FACT["id"]],
    "text": "It matters in every conversation about travel.", "status": "open", "created_at": "2026-06-30T03:01:00Z",
    "decided_at": None, "decided_by": None,
}  # fmt: skip
EXAMPLE_JOB = {
    "run_id": EXAMPLE_RUN["id"],
    "instructions": "You tidy up a memory: a list of facts about a person and their work. …",
    "input": {
        "today": "2026-06-30", "language": "en",
        "facts": [
            {
                "id": EXAMPLE_FACT["id"], "version": 1, "text": "Prefers window seats", "subject": "user",
                "tier": "long", "tags": [], "origin": "agent", "pinned": False, "age_days": 1, "recall_count": 0,
                "protected": False,
            }
        ],
    },
    "output_schema": {"type": "object", "required": ["changes"]},
    "max_changes": 1,
}  # fmt: skip


def _without(example: dict[str, Any], *names: str) -> dict[str, Any]:
    """Return an example as the context shows it, without the fields that only the whole answer has."""
    return {name: value for name, value in example.items() if name not in names}


SHAPES: dict[str, dict[str, Any]] = {
    "Context": obj(
        {
            "notice": TEXT, "today": {"type": "string", "format": "date"}, "generated_at": TIME, "space": OBJECT,
            "core": OBJECTS, "records": obj({"due": OBJECTS, "open": OBJECTS}), "actions": OBJECTS,
            "journal": OBJECTS, "kv": OBJECT, "dream": obj({"due": FLAG}), "truncated": OBJECT,
        },
        examples=[
            {
                "notice": NOTICE, "today": "2026-06-29", "generated_at": "2026-06-29T12:00:00Z",
                "space": {"id": "1", "name": "Personal", "timezone": "Europe/Berlin", "language": "en"},
                "core": [],
                "records": {"due": [], "open": [_without(EXAMPLE_RECORD, "created_at", "updated_at")]},
                "actions": [
                    _without(
                        EXAMPLE_ACTION, "payload", "preconditions", "meta", "idempotency_key", "decided_by", "receipt",
                        "history", "created_at", "updated_at",
                    )
                ],
                "journal": [], "kv": {"myapp": {"theme": {"mode": "dark"}}}, "dream": {"due": True}, "truncated": {},
            }
        ],
    ),
    "Forgotten": obj(
        {"dry_run": FLAG, **SCOPED_COUNT, "previews": PREVIEWS},
        examples=[
            {
                "dry_run": True, "memories": 1, "records": 0, "journal": 0,
                "previews": [{"scope": "memories", "id": EXAMPLE_FACT["id"], "text": "Old address: 5 Mill Lane"}],
            }
        ],
    ),
    "DreamRun": obj(RUN),
    "Dream": obj(
        {**RUN, "changes": {"type": "array", "items": CHANGE}, "rejected": REJECTED}, examples=[EXAMPLE_DREAM]
    ),
    "Dreams": listed("dreams", "DreamRun", EXAMPLE_RUN),
    "DreamJob": obj(
        {"job": {"oneOf": [JOB, {"type": "null"}]}, "due": FLAG}, {"notice": TEXT, "reason": TEXT},
        examples=[{"notice": NOTICE, "job": EXAMPLE_JOB, "due": True}],
    ),
    "DreamOutcome": obj(
        {"run_id": TEXT, "status": STATUS, "applied": COUNT, "rejected": REJECTED},
        examples=[
            {
                "run_id": EXAMPLE_RUN["id"], "status": "applied", "applied": 1,
                "rejected": [
                    {
                        "index": 1, "code": "loses_detail",
                        "message": "The new text loses a number, a date, an address or a name.",
                    }
                ],
            }
        ],
    ),
    "DreamUndone": obj(
        {"restored": COUNT, "skipped": {"type": "array", "items": obj({"id": TEXT, "reason": TEXT})}},
        examples=[{"restored": 1, "skipped": []}],
    ),
    "Suggestion": obj(
        {
            "id": TEXT, "dream_id": TEXT, "kind": TEXT, "memory_ids": TEXTS, "text": TEXT, "status": TEXT,
            "created_at": TIME, "decided_at": OPTIONAL_TIME, "decided_by": OPTIONAL_ACTOR,
        },
        examples=[EXAMPLE_SUGGESTION],
    ),
    "Suggestions": listed("suggestions", "Suggestion", EXAMPLE_SUGGESTION),
    "SpaceDeleted": obj(
        {"id": TEXT, "space": TEXT, "deleted_at": TIME, "deleted": OBJECT},
        examples=[
            {
                "id": "9a968255-9499-4dde-833a-6c51b7c42ae5", "space": "1", "deleted_at": "2026-06-29T12:00:00Z",
                "deleted": {"memories.memory": 142, "notebook.record": 12, "apikeys.apikey": 2},
            }
        ],
    ),
    "Archive": {"type": "string", "contentMediaType": "application/zip"},
    "SpaceImported": obj(
        {"imported": OBJECT, "skipped": OBJECT, "errors": OBJECTS, "left_out": TEXTS},
        examples=[
            {
                "imported": {"memories": 142, "records": 12}, "skipped": {"memories": 3, "records": 0}, "errors": [],
                "left_out": [],
            }
        ],
    ),
}  # fmt: skip

DREAM = "/v1/dreams/{run_id}"
OPERATIONS: dict[str, Operation] = {
    "DELETE /v1/space": Operation({200: "SpaceDeleted"}, query=(SpaceDeleteParams,)),
    "GET /v1/space/export": Operation({200: "Archive"}),
    "POST /v1/space/import": Operation({200: "SpaceImported"}, query=(SpaceImportParams,)),
    "GET /v1/context": Operation({200: "Context"}),
    "POST /v1/memories/forget": Operation(
        {200: "Forgotten"}, Forget, example={"query": "old address", "dry_run": True}
    ),
    "GET /v1/dreams": Operation({200: "Dreams"}, query=(DreamListParams,)),
    "POST /v1/dreams": Operation({201: "Dream"}),
    f"GET {DREAM}": Operation({200: "Dream"}),
    "POST /v1/dreams/next-job": Operation({200: "DreamJob"}, DreamNextJob, example={"start_if_due": True}),
    f"POST {DREAM}/submit": Operation(
        {200: "DreamOutcome"}, DreamSubmitBody, example={"result": {"changes": EXAMPLE_CHANGES}}
    ),
    f"POST {DREAM}/undo": Operation({200: "DreamUndone"}),
    f"POST {DREAM}/cancel": Operation({200: "Dream"}),
    "GET /v1/dreams/suggestions": Operation({200: "Suggestions"}, query=(SuggestionListParams,)),
    "POST /v1/dreams/suggestions/{suggestion_id}": Operation(
        {200: "Suggestion"}, SuggestionDecision, example={"decision": "dismiss"}
    ),
}
