"""What a client sends to have a transcript worked on (OMP 0.1, section 3.3)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from api.schemas import Body, Text, Timestamp
from memories.schemas import Namespace, Tool

MAX_TRANSCRIPT = 1_000_000
MAX_TRANSCRIPT_BYTES = 8 * 1024 * 1024


def _key(value: str) -> str:
    """Refuse what no HTTP header can carry, without repeating it."""
    if len(value) > 500 or not value.isascii() or not value.isprintable():
        raise ValueError("It must be up to 500 printable ASCII characters.")
    return value


def _empty_is_none(value: Any) -> Any:
    return None if value == "" else value


ProviderName = Annotated[Literal["anthropic", "openai"] | None, BeforeValidator(_empty_is_none)]
ProviderKey = Annotated[Annotated[str, AfterValidator(_key)] | None, BeforeValidator(_empty_is_none)]


class TranscriptBody(Body):
    """The body of POST /v1/extract and POST /v1/compress.

    `timestamp` is when the conversation took place: relative dates in it count from there.
    """

    transcript: Annotated[str, Text(MAX_TRANSCRIPT)] = Field(repr=False)
    provider: ProviderName = None
    api_key: ProviderKey = Field(default=None, repr=False)
    source_tool: Tool | None = None
    timestamp: Timestamp | None = None
    namespace: Namespace | None = None
    session_id: Annotated[str, Text(255, minimum=0)] | None = None
