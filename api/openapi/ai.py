"""The AI side: extraction, compression, conversations and handoff."""

from typing import Any

from aiworker.schemas import TranscriptBody
from api.openapi.core import EXAMPLE_MEMORY, MEMORIES
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
EXAMPLE_MESSAGES = [
    {"role": "user", "content": "When do we ship?", "at": "2026-06-29T12:00:00Z"},
    {"role": "assistant", "content": "On Friday."},
]
EXAMPLE_TALK = {"model": "claude-sonnet-4", "topic": "Release plan", "source_url": "https://claude.ai/chat/5d1f"}
EXAMPLE_CONVERSATION = EXAMPLE_TALK | {
    "id": "conv_01j9xk2p3q4r5s6t", "message_count": 2, "created_at": "2026-06-29T12:00:00Z",
    "updated_at": "2026-06-29T12:00:00Z",
}  # fmt: skip
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
    "Usage": obj(
        {"usage": {"type": "array", "items": OBJECT}},
        examples=[
            {
                "usage": [
                    {
                        "day": "2026-06-29", "provider": "anthropic", "model": "claude-haiku-4-5",
                        "purpose": "extract", "calls": 3, "input_tokens": 2210, "output_tokens": 640,
                        "cost_usd": 0.00541,
                    }
                ]
            }
        ],
    ),
    "Conversation": obj(
        CONVERSATION, {"messages": {"type": "array", "items": OBJECT}},
        examples=[EXAMPLE_CONVERSATION | {"messages": EXAMPLE_MESSAGES}],
    ),
    "Conversations": listed("conversations", "Conversation", EXAMPLE_CONVERSATION, total=True),
    "Estimate": obj(
        {"estimate": OBJECT},
        examples=[
            {
                "estimate": {
                    "conversations": 1, "provider": "anthropic", "model": "claude-haiku-4-5", "input_tokens": 742,
                    "output_tokens": 400, "cost_usd": 0.002742,
                }
            }
        ],
    ),
    "Brief": obj(
        {
            "brief": TEXT, "topic": TEXT, "source_model": TEXT, "target_model": OPTIONAL_TEXT, "message_count": COUNT,
            "written_by": TEXT,
        },
        examples=[
            {
                "brief": "I have been working with claude-sonnet-4 on this topic: “Release plan”. My last message "
                "there was: “When do we ship?”. Please go on from there.",
                "topic": "Release plan", "source_model": "claude-sonnet-4", "target_model": "gpt-5",
                "message_count": 2, "written_by": "template",
            }
        ],
    ),
}  # fmt: skip
CONVERSATION_PATH = "/v1/conversations/{conversation_id}"
OPERATIONS: dict[str, Operation] = {
    "POST /v1/extract": Operation(
        {201: "Extracted", 202: "Job"}, TranscriptBody, (WriteParams,), example=TRANSCRIPT
    ),
    "POST /v1/compress": Operation(
        {201: "Compressed", 202: "Job"}, TranscriptBody, (WriteParams,), example=TRANSCRIPT
    ),
    "GET /v1/usage": Operation({200: "Usage"}),
    "GET /v1/conversations": Operation({200: "Conversations"}, query=(ConversationParams,)),
    "POST /v1/conversations": Operation(
        {200: "Conversation", 201: "Conversation"}, ConversationCreate,
        example=EXAMPLE_TALK | {"messages": EXAMPLE_MESSAGES},
    ),
    f"GET {CONVERSATION_PATH}": Operation({200: "Conversation"}),
    f"DELETE {CONVERSATION_PATH}": Operation({204: None}, query=(ConversationDeleteParams,)),
    "POST /v1/conversations/extract": Operation(
        {200: "Estimate", 202: "Job"}, ExtractMany, example={"dry_run": True}
    ),
    "POST /v1/handoff": Operation(
        {200: "Brief"}, Handoff, example={"conversation_id": EXAMPLE_CONVERSATION["id"], "target_model": "gpt-5"}
    ),
}  # fmt: skip
