"""OMP-Core: memories, transfer, jobs, events, the space (OMP 0.1, section 3.3)."""

from typing import Any

from accounts.schemas import SpaceUpdate
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
    ref,
)
from events.schemas import EventParams
from memories.schemas import (
    DeleteParams,
    ExportParams,
    GetParams,
    ListParams,
    MemoryBatch,
    MemoryCreate,
    MemoryUpdate,
    SearchBody,
    SimilarParams,
    ViewParams,
    WriteParams,
)
from memories.transfer.schemas import ImportParams

ID = {"type": "string", "pattern": "^mem_[a-z0-9]{16}$"}
TYPE = {"enum": ["episodic", "semantic", "procedural"]}
STATUS = {"enum": ["active", "superseded", "quarantined"]}
CHANNEL = {"type": "string", "maxLength": 10}
SOURCE = obj({"tool": TEXT, "timestamp": TIME}, {"session_id": TEXT, "user_id": TEXT})
MEMORIES = {"type": "array", "items": ref("Memory")}
STRINGS = {"type": "array", "items": TEXT}
LIMIT = {"oneOf": [STRINGS, {"type": "null"}]}
EXTENSION: dict[str, Any] = {
    "tier": {"enum": ["core", "long", "scratch"]},
    "subject": TEXT,
    "origin": {"enum": ["user", "agent"]},
    "pinned": FLAG,
    "source_ref": TEXT,
    "status": STATUS,
    "channel": CHANNEL,
    "version": {"type": "integer", "minimum": 1},
    "recall_count": COUNT,
    "last_recalled_at": OPTIONAL_TIME,
    "evidence_deleted": FLAG,
}
MEMORY: dict[str, Any] = {
    "id": ID,
    "content": {"type": "string", "minLength": 1, "maxLength": 10_000},
    "type": TYPE,
    "source": SOURCE,
    "tags": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 50}},
    "namespace": {"type": ["string", "null"], "minLength": 1, "maxLength": 100},
    "created_at": TIME,
    "updated_at": TIME,
    "expires_at": OPTIONAL_TIME,
    "metadata": {"type": "object", "maxProperties": 10},
}
EMBEDDING = {"oneOf": [{"type": "array", "items": {"type": "number"}}, {"type": "null"}]}

EXAMPLE_BODY = {
    "content": "User prefers dark mode and minimal UI",
    "type": "semantic",
    "source": {"tool": "claude", "timestamp": "2026-06-29T12:00:00Z"},
    "tags": ["ui", "preferences"],
    "namespace": "project:myapp",
    "expires_at": None,
    "metadata": {},
}
EXAMPLE_MEMORY = {
    "id": "mem_01j9xk2p3q4r5s6t",
    **EXAMPLE_BODY,
    "created_at": "2026-06-29T12:00:00Z",
    "updated_at": "2026-06-29T12:00:00Z",
}
EXAMPLE_FACT: dict[str, Any] = {
    "id": "mem_8f3k2m9q1w5z7x4c", "content": "Prefers window seats", "type": "semantic",
    "source": {"tool": "claude", "timestamp": "2026-06-29T12:00:00Z"}, "tags": [], "namespace": None,
    "created_at": "2026-06-29T12:00:00Z", "updated_at": "2026-06-29T12:00:00Z", "expires_at": None, "metadata": {},
    "tier": "long", "subject": "user", "origin": "agent", "pinned": False, "source_ref": "", "status": "active",
    "channel": "rest", "version": 1, "recall_count": 0, "last_recalled_at": None, "evidence_deleted": False,
}  # fmt: skip
EXAMPLE_EVENT = {
    "id": "17", "type": "memory.read", "actor": {"kind": "key", "id": "3", "name": "claude"},
    "object": {"kind": "memory", "id": "mem_01j9xk2p3q4r5s6t"}, "at": "2026-06-29T12:00:00Z", "channel": "rest",
    "ip": "192.0.2.7", "request_id": "0b5c8a1e", "details": {},
}  # fmt: skip
EXAMPLE_SPACE = {
    "id": "1", "name": "Personal", "kind": "personal", "timezone": "Europe/Berlin", "language": "en",
    "agent_core_writes": "allow", "context_namespaces": [], "dreams_enabled": True, "events_kept_days": 365,
    "created_at": "2026-06-01T09:30:00Z",
}  # fmt: skip
EXAMPLE_ERROR = {
    "error": "validation_error",
    "message": "The request does not fit. The fields that are wrong are in details.fields.",
    "details": {"fields": {"type": ["It must be one of: 'episodic', 'semantic' or 'procedural'."]}},
}
EXPORT = {"omp_version": "0.1", "exported_at": "2026-06-29T12:00:00Z", "server": "commonplace/0.1.0"}

SHAPES: dict[str, dict[str, Any]] = {
    "Error": obj({"error": TEXT, "message": TEXT, "details": OBJECT}, examples=[EXAMPLE_ERROR]),
    "Memory": obj(MEMORY, EXTENSION | {"embedding": EMBEDDING}, examples=[EXAMPLE_MEMORY]),
    "MemoryList": obj(
        {"memories": MEMORIES, "total": COUNT, "limit": COUNT, "offset": COUNT},
        examples=[{"memories": [EXAMPLE_MEMORY], "total": 142, "limit": 20, "offset": 0}],
    ),
    "Deleted": obj({"deleted": ref("Memory")}, examples=[{"deleted": EXAMPLE_MEMORY}]),
    "BatchResults": obj(
        {
            "results": {
                "type": "array",
                "items": {
                    "oneOf": [
                        obj({"index": COUNT, "status": {"const": 201}, "memory": ref("Memory")}),
                        obj({"index": COUNT, "status": COUNT, "error": TEXT, "message": TEXT, "details": OBJECT}),
                    ]
                },
            }
        },
        examples=[{"results": [{"index": 0, "status": 201, "memory": EXAMPLE_MEMORY}]}],
    ),
    "SearchResults": obj(
        {
            "memories": MEMORIES,
            "total": COUNT
            | {
                "description": "By keyword: all that match. Of a text of more than about thirty words the most telling "
                "ones match, in a large space. In the other modes: what is returned."
            },
            "mode_used": {"enum": ["keyword", "semantic", "hybrid"]},
            "filters_applied": OBJECT,
        },
        {"scores": {"type": "array", "items": {"type": "object", "required": ["id", "score"]}}},
        examples=[{"memories": [EXAMPLE_MEMORY], "total": 3, "mode_used": "keyword", "filters_applied": {}}],
    ),
    "SimilarResults": obj(
        {"memories": MEMORIES, "total": COUNT, "mode_used": TEXT},
        {"scores": {"type": "array", "items": OBJECT}},
        examples=[{"memories": [EXAMPLE_MEMORY], "total": 1, "mode_used": "semantic"}],
    ),
    "Export": obj(
        {"omp_version": {"const": "0.1"}, "exported_at": TIME, "server": TEXT, "memories": MEMORIES,
         "extension": {"type": "object", "additionalProperties": OBJECT}},
        examples=[EXPORT | {"memories": [EXAMPLE_MEMORY], "extension": {"mem_01j9xk2p3q4r5s6t": {"tier": "core"}}}],
    ),
    "ImportResult": obj(
        {
            "imported": COUNT,
            "skipped": COUNT,
            "errors": {
                "type": "array",
                "items": obj({"index": COUNT, "id": OPTIONAL_TEXT, "error": TEXT, "message": TEXT}),
            },
        },
        {
            "format": TEXT,
            "conversations": COUNT,
            "ignored": {"type": "array", "items": TEXT},
            "repaired": COUNT,
            "extraction": OBJECT,
        },
        examples=[{"imported": 142, "skipped": 3, "errors": []}],
    ),
    "Job": obj(
        {
            "id": {"type": "string", "pattern": "^job_[a-z0-9]{16}$"},
            "kind": TEXT,
            "status": {"enum": ["queued", "running", "succeeded", "failed", "cancelled"]},
            "progress": obj({"done": COUNT, "total": {"type": ["integer", "null"]}}),
            "result": {"type": ["object", "null"]},
            "error": {"oneOf": [ref("Error"), {"type": "null"}]},
            "created_at": TIME,
            "finished_at": OPTIONAL_TIME,
        },
        examples=[
            {
                "id": "job_01j9xk2p3q4r5s6t", "kind": "import", "status": "running",
                "progress": {"done": 5000, "total": 100000}, "result": None, "error": None,
                "created_at": "2026-06-29T12:00:00Z", "finished_at": None,
            }
        ],
    ),
    "Event": obj(
        {
            "id": TEXT, "type": TEXT, "actor": obj({"kind": TEXT, "id": TEXT, "name": TEXT}),
            "object": obj({"kind": TEXT, "id": OPTIONAL_TEXT}), "at": TIME, "channel": TEXT, "ip": OPTIONAL_TEXT,
            "request_id": TEXT, "details": OBJECT,
        }
    ),
    "EventList": listed("events", "Event", EXAMPLE_EVENT),
    "Me": obj(
        {
            "space": obj({"id": TEXT, "name": TEXT, "kind": TEXT}),
            "user": {"oneOf": [obj({"id": TEXT, "email": TEXT, "name": TEXT}), {"type": "null"}]},
            "key": obj({"name": TEXT, "prefix": TEXT, "tool": OPTIONAL_TEXT}),
            "role": TEXT,
            "scopes": STRINGS,
            "limits": obj(
                {
                    "read_tools": LIMIT, "namespaces": LIMIT, "types": LIMIT, "quarantine": FLAG,
                    "requests_per_minute": {"type": ["integer", "null"]},
                }
            ),
        },
        examples=[
            {
                "space": {"id": "1", "name": "Personal", "kind": "personal"},
                "user": {"id": "1", "email": "anna@example.com", "name": "Anna"},
                "key": {"name": "claude", "prefix": "om_Gzn8UPc", "tool": "claude"},
                "role": "owner",
                "scopes": ["memories:read", "memories:write"],
                "limits": {
                    "read_tools": ["claude", "cursor"], "namespaces": None, "types": None, "quarantine": False,
                    "requests_per_minute": 1200,
                },
            }
        ],
    ),
    "Space": {
        "type": "object", "required": ["id", "name", "timezone", "language"], "examples": [EXAMPLE_SPACE],
    },
    "Health": obj(
        {
            "status": {"enum": ["ok", "degraded"]}, "version": {"const": "0.1"}, "memories_count": COUNT,
            "compliance": {"enum": ["OMP-Core", "OMP-Search", "OMP-Full"]}, "server": TEXT, "checks": OBJECT,
        },
        {"switched_off": STRINGS},
        examples=[
            {
                "status": "ok", "version": "0.1", "memories_count": 142, "compliance": "OMP-Full",
                "server": "commonplace/0.1.0", "checks": {"database": "ok", "redis": "ok"},
            }
        ],
    ),
    "OpenApi": {
        "type": "object",
        "required": ["openapi", "info", "paths"],
        "examples": [{"openapi": "3.1.0", "info": {"title": "Commonplace", "version": "0.1.0"}, "paths": {}}],
    },
    "ImportFile": {
        "type": "object",
        "required": ["memories"],
        "properties": {
            "memories": {"type": "array", "items": ANY},
            "extension": {"type": "object", "additionalProperties": OBJECT},
            "conflict": {"enum": ["skip", "overwrite", "duplicate"]},
        },
        "examples": [EXPORT | {"memories": [EXAMPLE_MEMORY]}],
    },
}  # fmt: skip

ONE = "/v1/memories/{memory_id}"
OPERATIONS: dict[str, Operation] = {
    "GET /v1/me": Operation({200: "Me"}),
    "GET /v1/space": Operation({200: "Space"}),
    "PATCH /v1/space": Operation({200: "Space"}, SpaceUpdate, example={"timezone": "Europe/Berlin"}),
    "GET /v1/events": Operation({200: "EventList"}, query=(EventParams,)),
    "GET /v1/jobs/{job_id}": Operation({200: "Job"}),
    "POST /v1/jobs/{job_id}/cancel": Operation({200: "Job"}),
    "GET /v1/memories": Operation({200: "MemoryList"}, query=(ListParams,)),
    "POST /v1/memories": Operation({201: "Memory"}, MemoryCreate, (WriteParams,), example=EXAMPLE_BODY),
    f"GET {ONE}": Operation({200: "Memory", 304: None}, query=(GetParams,)),
    f"PUT {ONE}": Operation({200: "Memory"}, MemoryUpdate, (WriteParams,), example={"tags": ["ui"]}),
    f"PATCH {ONE}": Operation({200: "Memory"}, MemoryUpdate, (WriteParams,), example={"namespace": None}),
    f"DELETE {ONE}": Operation({204: None, 200: "Deleted"}, query=(DeleteParams,)),
    f"GET {ONE}/similar": Operation({200: "SimilarResults"}, query=(SimilarParams,)),
    "POST /v1/memories/batch": Operation(
        {200: "BatchResults"}, MemoryBatch, (WriteParams,), example={"memories": [EXAMPLE_BODY]}
    ),
    "POST /v1/memories/search": Operation(
        {200: "SearchResults"}, SearchBody, (ViewParams,),
        example={"q": "coding preferences", "type": "semantic", "tags": ["preferences"], "mode": "keyword"},
    ),
    "GET /v1/export": Operation({200: "Export"}, query=(ExportParams,)),
    "POST /v1/import": Operation({200: "ImportResult", 202: "Job"}, query=(ImportParams,)),
}  # fmt: skip
