"""What a client may send to export and import (OMP 0.1, section 3.3)."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from api.schemas import ClosedBody, Timestamp
from memories.schemas import MemoryImport

Conflict = Literal["skip", "overwrite", "duplicate"]
MAX_VERSION = 1_000_000_000
# Media types of import files: the protocol's own, and those of other products' files.
IMPORT_TYPES = frozenset(
    {
        "application/json", "application/x-ndjson", "application/jsonl", "application/zip", "application/octet-stream",
        "application/x-zip-compressed", "text/plain", "text/markdown", "text/csv", "text/tab-separated-values",
    }
)  # fmt: skip


class ImportParams(ClosedBody):
    """Query parameters of POST /v1/import; a `conflict` here beats one in the body."""

    conflict: Conflict | None = None
    format: str | None = None


class ConflictInBody(ClosedBody):
    """The strategy as existing clients send it: beside the memories, in the body."""

    conflict: Conflict


class ImportRecord(MemoryImport):
    """One memory of an import: a create with the id, times and extension fields that it had."""

    version: Annotated[int, Field(ge=1, le=MAX_VERSION)] = 1
    recall_count: Annotated[int, Field(ge=0, le=MAX_VERSION)] = 0
    last_recalled_at: Timestamp | None = None

    def times(self, now: datetime) -> tuple[datetime, datetime]:
        """Return when it was created and when updated; one stands in for the other, `now` for both."""
        created = self.created_at or self.updated_at or now
        return created, self.updated_at or created
