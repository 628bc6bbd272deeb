"""Dreams, context, and forgetting: what goes across the whole agent state."""

from typing import Any

from accounts.schemas import SpaceDeleteParams
from api.openapi.agentstate import OPTIONAL_ACTOR
from api.openapi.operations import COUNT, FLAG, OBJECT, OPTIONAL_TIME, TEXT, TIME, Operation, listed, obj
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

SHAPES: dict[str, dict[str, Any]] = {
    "Context": obj(
        {
            "notice": TEXT, "today": {"type": "string", "format": "date"}, "generated_at": TIME, "space": OBJECT,
            "core": OBJECTS, "records": obj({"due": OBJECTS, "open": OBJECTS}), "actions": OBJECTS,
            "journal": OBJECTS, "kv": OBJECT, "dream": obj({"due": FLAG}), "truncated": OBJECT,
        }
    ),
    "Forgotten": obj(
        {"dry_run": FLAG, **SCOPED_COUNT, "previews": PREVIEWS}
    ),
    "DreamRun": obj(RUN),
    "Dream": obj({**RUN, "changes": {"type": "array", "items": CHANGE}, "rejected": REJECTED}),
    "Dreams": listed("dreams", "DreamRun"),
    "DreamJob": obj(
        {"job": {"oneOf": [JOB, {"type": "null"}]}, "due": FLAG}, {"notice": TEXT, "reason": TEXT}
    ),
    "DreamOutcome": obj({"run_id": TEXT, "status": STATUS, "applied": COUNT, "rejected": REJECTED}),
    "DreamUndone": obj(
        {"restored": COUNT, "skipped": {"type": "array", "items": obj({"id": TEXT, "reason": TEXT})}}
    ),
    "Suggestion": obj(
        {
            "id": TEXT, "dream_id": TEXT, "kind": TEXT, "memory_ids": TEXTS, "text": TEXT, "status": TEXT,
            "created_at": TIME, "decided_at": OPTIONAL_TIME, "decided_by": OPTIONAL_ACTOR,
        }
    ),
    "Suggestions": listed("suggestions", "Suggestion"),
    "SpaceDeleted": obj({"id": TEXT, "space": TEXT, "deleted_at": TIME, "deleted": OBJECT}),
    "SpaceImported": obj({"imported": OBJECT, "skipped": OBJECT, "errors": OBJECTS, "left_out": TEXTS}),
}  # fmt: skip

DREAM = "/v1/dreams/{run_id}"
OPERATIONS: dict[str, Operation] = {
    "DELETE /v1/space": Operation({200: "SpaceDeleted"}, query=(SpaceDeleteParams,)),
    "GET /v1/space/export": Operation({200: None}),
    "POST /v1/space/import": Operation({200: "SpaceImported"}, query=(SpaceImportParams,)),
    "GET /v1/context": Operation({200: "Context"}),
    "POST /v1/memories/forget": Operation(
        {200: "Forgotten"}, Forget, example={"query": "old address", "dry_run": True}
    ),
    "GET /v1/dreams": Operation({200: "Dreams"}, query=(DreamListParams,)),
    "POST /v1/dreams": Operation({201: "Dream"}),
    f"GET {DREAM}": Operation({200: "Dream"}),
    "POST /v1/dreams/next-job": Operation({200: "DreamJob"}, DreamNextJob),
    f"POST {DREAM}/submit": Operation({200: "DreamOutcome"}, DreamSubmitBody, example={"result": {"changes": []}}),
    f"POST {DREAM}/undo": Operation({200: "DreamUndone"}),
    f"POST {DREAM}/cancel": Operation({200: "Dream"}),
    "GET /v1/dreams/suggestions": Operation({200: "Suggestions"}, query=(SuggestionListParams,)),
    "POST /v1/dreams/suggestions/{suggestion_id}": Operation(
        {200: "Suggestion"}, SuggestionDecision, example={"decision": "dismiss"}
    ),
}
