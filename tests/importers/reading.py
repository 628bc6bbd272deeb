"""Reading a file in a test, as an import reads it."""

from __future__ import annotations

import io
from typing import Any

from memories.importers import Broken, Report, format_of, read_foreign
from memories.transfer.schemas import ImportRecord


def read(content: bytes, format: str | None = None, report: Report | None = None) -> list[Any]:
    """Return the records of a file, each of a memory checked against the import's own schema."""
    found = format or format_of(io.BytesIO(content))
    records = list(read_foreign(io.BytesIO(content), found, report or Report()))
    for record in records:
        if isinstance(record, dict):
            ImportRecord.model_validate(record)
    return records


def texts(records: list[Any]) -> list[str]:
    return [record["content"] for record in records if isinstance(record, dict)]


def faults(records: list[Any]) -> list[Broken]:
    return [record for record in records if isinstance(record, Broken)]
