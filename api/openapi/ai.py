"""The AI side: extraction, compression, conversations and handoff."""

from typing import Any

from aiworker.schemas import TranscriptBody
from api.openapi.core import EXAMPLE_MEMORY, JOB_LINKS, MEMORIES
from api.openapi.operations import COUNT, OBJECT, OPTIONAL_TEXT, TEXT, TIME, Operation, listed, obj, ref
from conversations.schemas import (
    ConversationCreate,
    ConversationDeleteParams,
    ConversationParams,
    ExtractMany,
    Handoff,
)
from memories.schemas import WriteParams

CONVERSATION = {
    "id": TEXT, "model": TEXT, "topic": TEXT, "message_count": COUNT, "source_url": OPTIONAL_TEXT, "created_at": TIME,
    "updated_at": TIME,
}  # fmt: skip
TRANSCRIPT = {
    "transcript": "Alice: I always use TypeScript. Bob: What about Python? Alice: Only for scripts.",
    "source_tool": "claude",
}
SHAPES: dict[str, dict[str, Any]] = {
    "Extracted": obj(
        {"extracted": COUNT, "memories": MEMORIES},
        {"skipped": OBJECT, "secrets_masked": COUNT},
        examples=[{"extracted": 1, "memories": [EXAMPLE_MEMORY]}],
    ),
    "Compressed": obj(
        {"memory": ref("Memory")},
        {"secrets_masked": COUNT},
        examples=[{"memory": EXAMPLE_MEMORY | {"type": "episodic"}}],
    ),
    "Usage": obj({"usage": {"type": "array", "items": OBJECT}}),
    "Conversation": obj(CONVERSATION, {"messages": {"type": "array", "items": OBJECT}}),
    "Conversations": listed("conversations", "Conversation", total=COUNT),
    "Estimate": obj({"estimate": OBJECT}),
    "Brief": obj(
        {
            "brief": TEXT, "topic": TEXT, "source_model": TEXT, "target_model": OPTIONAL_TEXT, "message_count": COUNT,
            "written_by": TEXT,
        }
    ),
}  # fmt: skip
CONVERSATION_PATH = "/v1/conversations/{conversation_id}"
OPERATIONS: dict[str, Operation] = {
    "POST /v1/extract": Operation(
        {201: "Extracted", 202: "Job"}, TranscriptBody, (WriteParams,), example=TRANSCRIPT, links=JOB_LINKS
    ),
    "POST /v1/compress": Operation(
        {201: "Compressed", 202: "Job"}, TranscriptBody, (WriteParams,), example=TRANSCRIPT, links=JOB_LINKS
    ),
    "GET /v1/usage": Operation({200: "Usage"}),
    "GET /v1/conversations": Operation({200: "Conversations"}, query=(ConversationParams,)),
    "POST /v1/conversations": Operation(
        {200: "Conversation", 201: "Conversation"}, ConversationCreate,
        links={"read": f"GET {CONVERSATION_PATH}", "remove": f"DELETE {CONVERSATION_PATH}"},
    ),
    f"GET {CONVERSATION_PATH}": Operation({200: "Conversation"}),
    f"DELETE {CONVERSATION_PATH}": Operation({204: None}, query=(ConversationDeleteParams,)),
    "POST /v1/conversations/extract": Operation({200: "Estimate", 202: "Job"}, ExtractMany, links=JOB_LINKS),
    "POST /v1/handoff": Operation({200: "Brief"}, Handoff),
}  # fmt: skip
