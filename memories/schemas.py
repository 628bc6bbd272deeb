"""What a client may send about memories (OMP 0.1, sections 2 and 3.3, and the agent state's extension fields)."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from api.params import CommaList, Cursor, Limit, Offset, Switch
from api.schemas import Body, ClosedBody, Json, Text, Timestamp

MAX_CONTENT = 10_000
MAX_TAGS = 20
MAX_METADATA_KEYS = 10
MAX_METADATA_BYTES = 16 * 1024
MAX_QUERY = 2_000
MAX_BATCH = 500

Type = Literal["episodic", "semantic", "procedural"]
Tier = Literal["core", "long", "scratch"]
Origin = Literal["user", "agent"]
Sort = Literal["created_at_desc", "created_at_asc", "updated_at_desc"]
Mode = Literal["keyword", "semantic", "hybrid"]


def _tags(value: list[str]) -> list[str]:
    tags = list(dict.fromkeys(tag.strip() for tag in value))
    if any("," in tag for tag in tags):
        raise ValueError("A tag cannot contain a comma: the list filter separates tags by it.")
    if len(tags) > MAX_TAGS:
        raise ValueError(f"There are {len(tags)} tags; at most {MAX_TAGS} are allowed.")
    return tags


def _or(default: Any) -> BeforeValidator:
    """Return a validator that reads null as the default."""
    return BeforeValidator(lambda value: default() if value is None else value)


def _strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


Tag = Annotated[str, Text(50), BeforeValidator(_strip)]
Tags = Annotated[list[Tag], AfterValidator(_tags), _or(list)]
Metadata = Annotated[dict[str, Any], Json(MAX_METADATA_BYTES, MAX_METADATA_KEYS), _or(dict)]
Namespace = Annotated[str, Text(100)]
Tool = Annotated[str, Text(100)]
Content = Annotated[str, Text(MAX_CONTENT)]
Subject = Annotated[str, Text(200, minimum=0), _or(str)]
SourceRef = Annotated[str, Text(500, minimum=0), _or(str)]


class SourceIn(Body):
    """Where a memory came from (OMP 0.1, section 2.3); a key bound to a tool fills `tool` in."""

    tool: Tool | None = None
    session_id: Annotated[str, Text(255, minimum=0)] | None = None
    user_id: Annotated[str, Text(255, minimum=0)] | None = None
    timestamp: Timestamp | None = None


class MemoryUpdate(Body):
    """The body of PUT and PATCH /v1/memories/{id}: only what is given changes."""

    content: Content = ""
    type: Type = "semantic"
    source: SourceIn = SourceIn()
    tags: Tags = []
    namespace: Namespace | None = None
    expires_at: Timestamp | None = None
    metadata: Metadata = {}
    subject: Subject = ""
    tier: Tier = "long"
    origin: Origin = "agent"
    pinned: bool = False
    source_ref: SourceRef = ""


class MemoryCreate(MemoryUpdate):
    """The body of POST /v1/memories."""

    content: Content
    type: Type


class MemoryImport(MemoryCreate):
    """One record of an export file: a create with the id, times and state that it had."""

    id: Any = None
    evidence_deleted: bool = False
    created_at: Timestamp | None = None
    updated_at: Timestamp | None = None


class MemoryBatch(Body):
    """The body of POST /v1/memories/batch; its items are validated one by one."""

    memories: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


class Filters(ClosedBody):
    """Filters that list, export and search share; all that are given must hold."""

    type: Type | None = None
    tool: Tool | None = None
    tags: Annotated[list[Tag] | None, CommaList] = None
    namespace: Namespace | None = None
    created_after: Timestamp | None = None
    created_before: Timestamp | None = None
    updated_after: Timestamp | None = None
    updated_before: Timestamp | None = None

    def applied(self) -> dict[str, Any]:
        """Return the filters that are set, by name."""
        return {name: value for name in Filters.model_fields if (value := getattr(self, name)) not in (None, [])}


class ViewParams(ClosedBody):
    """Query parameters that choose the shape of a memory in an answer."""

    view: Literal["omp", "full"] = "omp"
    include: Literal["embedding"] | None = None


class WriteParams(ClosedBody):
    """Query parameters of the writes that answer with a memory."""

    view: Literal["omp", "full"] = "omp"


class ListParams(Filters, ViewParams):
    """Query parameters of GET /v1/memories."""

    limit: Limit = 20
    offset: Offset = 0
    sort: Sort = "created_at_desc"
    cursor: Cursor | None = None
    include_expired: Switch = False


class GetParams(ViewParams):
    """Query parameters of GET /v1/memories/{id}."""

    include_expired: Switch = False


class DeleteParams(ClosedBody):
    """Query parameters of DELETE /v1/memories/{id}.

    `derived` tells what becomes of facts that dreams derived from it: they are flagged, or deleted as well.
    """

    receipt: Switch = False
    derived: Literal["flag", "delete"] = "flag"


class HistoryParams(ClosedBody):
    """Query parameters of GET /v1/memories/{id}/history."""

    limit: Limit = 20
    cursor: Cursor | None = None


class Restore(ClosedBody):
    """The body of POST /v1/memories/{id}/restore."""

    version: Annotated[int, Field(ge=1, le=2**31 - 1)]


class SimilarParams(ViewParams):
    """Query parameters of GET /v1/memories/{id}/similar."""

    limit: Limit = 10


class ExportParams(Filters):
    """Query parameters of GET /v1/export."""

    format: Literal["json", "ndjson"] = "json"
    include_expired: Switch = False


class SearchBody(Filters):
    """The body of POST /v1/memories/search."""

    q: Annotated[str, Text(MAX_QUERY)]
    tags: list[Tag] | None = None
    mode: Mode = "hybrid"
    limit: Annotated[int, Field(ge=1, le=100)] = 10
    metadata: Annotated[dict[str, Any], Json(MAX_METADATA_BYTES, MAX_METADATA_KEYS)] | None = None
    explain: bool = False
    rerank: bool | None = None

    def applied(self) -> dict[str, Any]:
        """Return the filters that are set, by name."""
        return super().applied() | ({"metadata": self.metadata} if self.metadata else {})


class Remember(ClosedBody):
    """A fact to keep: the tool remember and POST /v1/memories/remember."""

    text: Content
    subject: Annotated[Subject, Field(description="What or whom the fact is about.")] = ""
    tier: Annotated[
        Tier,
        Field(
            description="core: always shown; long: kept; scratch: expires in 7 days unless expires_at says otherwise."
        ),
    ] = "long"
    tags: Tags = []
    source_ref: Annotated[SourceRef, Field(description="Where the fact comes from, such as an address or a file.")] = ""
    pinned: bool = False
    origin: Annotated[Origin, Field(description="user when the person said it directly, else agent.")] = "agent"
    expires_at: Timestamp | None = None


class Recall(ClosedBody):
    """What to recall: the tool recall and the query of GET /v1/memories/recall."""

    q: Annotated[str, Text(MAX_QUERY), Field(description="Words, any of which may match.")] | None = None
    subject: Annotated[str, Text(200)] | None = None
    tier: Tier | None = None
    tag: Tag | None = None
    limit: Limit = 20


ForgetScope = Literal["memories", "records", "journal"]


class Forget(ClosedBody):
    """What to forget: the tool forget and POST /v1/memories/forget."""

    ids: Annotated[list[Annotated[str, Text(20)]], Field(max_length=MAX_BATCH)] = []
    query: Annotated[str, Text(MAX_QUERY), Field(description="Facts that contain all of these words.")] | None = None
    scopes: Annotated[
        list[ForgetScope],
        Field(min_length=1, max_length=3, description="records and journal are searched for query as an exact phrase."),
    ] = ["memories"]
    journal_mode: Annotated[
        Literal["redact", "delete"], Field(description="redact replaces the phrase, delete removes the entry.")
    ] = "redact"
    dry_run: Annotated[bool, Field(description="Only count and preview what would be forgotten.")] = False


def query_params(*models: type[ClosedBody]) -> frozenset[str]:
    """Return the names of the query parameters that these models take."""
    return frozenset(name for model in models for name in model.model_fields)
