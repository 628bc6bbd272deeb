"""An archive of a whole space among the files that an import takes."""

import zipfile
import zlib
from typing import Any, BinaryIO

from accounts.access import Access, space_transaction
from api.body import json_decode
from api.errors import ApiError
from context.archive import FORMAT
from context.restoring import archive_import
from memories.importers.zips import zip_is, zip_read

MANIFEST = "manifest.json"
MAX_MANIFEST = 1024 * 1024
# What reading a member raises that is not there, damaged, encrypted or packed in an unknown way.
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, KeyError, OSError, ValueError, RuntimeError, NotImplementedError, EOFError, ApiError
)  # fmt: skip


def archive_is(file: BinaryIO) -> bool:
    """Return whether a file is an archive of a space; it is left at its beginning."""
    try:
        if not zip_is(file):
            return False
        with zip_read(file) as archive, archive.open(MANIFEST) as manifest:
            value = json_decode(manifest.read(MAX_MANIFEST))
    except UNREADABLE:
        return False
    finally:
        file.seek(0)
    return isinstance(value, dict) and value.get("format") == FORMAT


def archive_take(access: Access, file: BinaryIO) -> dict[str, Any]:
    """Add an archive to the space; return the answer of an import: sums, and one error a row that failed.

    Settings stay as they are; POST /v1/space/import takes those, too. Raises Forbidden and Invalid.
    """
    with space_transaction(access):
        restored = archive_import(access=access, file=file)
    errors = [
        {
            "index": error["index"], "id": None, "error": "validation_error",
            "message": f"{error['file']}: {error['problems']}".removeprefix(": ")[:1000],
        }
        for error in restored.errors
    ]  # fmt: skip
    return {
        "imported": sum(restored.imported.values()), "skipped": sum(restored.skipped.values()), "errors": errors,
        "format": "archive", "conversations": restored.imported.get("conversations", 0), "ignored": restored.left_out,
        "repaired": 0,
    }  # fmt: skip
