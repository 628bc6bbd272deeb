"""What the service requires beyond the types of its models, and of the parts of addresses.

Only the document says it: the tools of the MCP endpoint show the models as they are, since not every client there reads
such a schema.
"""

from typing import Any, get_args

from accounts.models import LANGUAGES
from actions.models import Status
from actions.rules import MOVES, Who
from actions.schemas import StatusName
from api.openapi.core import ID
from api.openapi.operations import ref
from dreams.schemas import MAX_OPERATIONS
from memories.schemas import MAX_TAGS
from memories.transfer.readers import NAMES

ITEM = r"^[^,]*[^,\s][^,]*$"  # of a list in a query: commas separate its items
HEADER = "^[!-~]{1,255}$"
LIST = {"type": "array", "minItems": 1}
TAGS = {"type": "array", "maxItems": MAX_TAGS, "items": {"type": "string", "maxLength": 50, "pattern": ITEM}}
RESULT = {
    "type": "object",
    "required": ["changes"],
    "properties": {
        "changes": {
            "description": "As the job's output_schema says; each change that does not fit is rejected by itself.",
            "type": "array", "maxItems": MAX_OPERATIONS, "items": {"type": "object"},
        },
        "summary": {"type": "string", "maxLength": 2_000},
    },
    "additionalProperties": False,
}  # fmt: skip
SECRET = {"type": ["string", "null"], "maxLength": 500, "pattern": "^[ -~]*$"}


def _move(status: Status) -> dict[str, Any]:
    """Return the schema of the moves that people and tools make from a status."""
    ends = [str(end) for (start, end), who in MOVES.items() if start == status and who != {Who.SYSTEM}]
    return {"properties": {"from": {"const": status.value}, "to": {"enum": ends}}}


#: By model, what is added to its schema; properties are added to its properties.
NARROWER: dict[str, dict[str, Any]] = {
    "MemoryCreate": {
        "required": ["content", "type", "source"],
        "properties": {
            "source": {
                "description": "`tool` is required, unless the key is bound to one.",
                "allOf": [ref("SourceIn"), {"required": ["tool"], "properties": {"tool": {"type": "string"}}}],
            },
            "tags": TAGS,
        },
    },
    "MemoryUpdate": {"properties": {"tags": TAGS}},
    "MemoryBatch": {"properties": {"memories": {"items": ref("MemoryCreate")}}},
    "Remember": {"properties": {"tags": TAGS}},
    "Forget": {
        "anyOf": [
            {"required": ["ids"], "properties": {"ids": {"minItems": 1}}},
            {"required": ["query"], "properties": {"query": {"type": "string"}}},
        ],
        "properties": {"ids": {"items": ID}},
    },
    "RecordBatch": {"properties": {"records": {"items": ref("RecordFields")}}},
    "RecordFilters": {"properties": {"status": LIST | {"items": {"type": "string", "maxLength": 50}}}},
    "ActionListParams": {"properties": {"status": LIST | {"items": {"enum": list(get_args(StatusName))}}}},
    "DreamSubmitBody": {"properties": {"result": RESULT}},
    "TransitionBody": {"oneOf": [_move(status) for status in (Status.PENDING, Status.APPROVED, Status.EXECUTING)]},
    "ImportParams": {"properties": {"format": {"enum": list(NAMES)}}},
    "SpaceUpdate": {
        "properties": {
            "language": {"enum": [code for code, _ in LANGUAGES]},
            "timezone": {"description": "A name of the IANA time zone database.", "examples": ["Europe/Berlin"]},
        }
    },
    "TranscriptBody": {"properties": {"api_key": SECRET}},
    "ExtractMany": {"properties": {"api_key": SECRET}},
    "Handoff": {
        "anyOf": [
            {"required": ["conversation_id"], "properties": {"conversation_id": {"type": "string"}}},
            {
                "required": ["model", "messages"],
                "properties": {
                    "model": {"type": "string"}, "messages": {"type": "array"}, "conversation_id": {"type": "null"},
                },
            },
        ],
        "properties": {"api_key": SECRET},
    },
}  # fmt: skip
#: The parts of addresses.
PARTS: dict[str, dict[str, Any]] = {
    "memory_id": ID,
    "kind": {"enum": ["day", "week"]},
    "date": {"type": "string", "format": "date"},
    "collection": {"type": "string", "pattern": "^[^/]{1,100}$"},
    "id": {"type": "string", "pattern": "^rec_[a-z0-9]{16}$"},
    "ns": {"type": "string", "pattern": "^[^_/][^/]{0,99}$"},
    "key": {"type": "string", "minLength": 1, "maxLength": 200},
    "action_id": {"type": "string", "pattern": "^A[0-9]{1,15}$"},
    "conversation_id": {"type": "string", "pattern": "^conv_[a-z0-9]{16}$"},
    "job_id": {"type": "string", "pattern": "^job_[a-z0-9]{16}$"},
    "run_id": {"type": "string", "pattern": "^dream_[a-z0-9]{16}$"},
    "suggestion_id": {"type": "string", "pattern": "^sug_[a-z0-9]{16}$"},
}


def narrowed(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a model with what the service requires besides."""
    more = NARROWER.get(name, {})
    properties = dict(schema.get("properties", {}))
    for field, inner in more.get("properties", {}).items():
        whole = "type" in inner or "enum" in inner or "allOf" in inner
        kept = {key: value for key, value in properties[field].items() if key in {"description", "title"} or not whole}
        properties[field] = kept | inner
    return schema | more | {"properties": properties}
