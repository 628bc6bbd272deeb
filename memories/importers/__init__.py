"""Reading the files of other products: one reader a format, found by name or by looking at the file."""

from collections.abc import Callable, Iterator
from io import BytesIO
from itertools import chain
from typing import BinaryIO
from zipfile import ZipFile, ZipInfo

from api.errors import ApiError, Invalid
from memories.importers import chatgpt, claude, markdown, products, tables
from memories.importers.detect import format_of, one_object, text_check
from memories.importers.records import MAX_IGNORED, Broken, Record, Report
from memories.importers.streams import Readable
from memories.importers.zips import is_link, member_open, zip_is, zip_open

__all__ = ["FORMATS", "TEXTS", "Broken", "Record", "Report", "format_of", "one_object", "read_foreign", "text_check"]

Reader = Callable[[Readable, Report], Iterator[Record]]
FORMATS: dict[str, Reader] = {
    "chatgpt": chatgpt.read_conversations,
    "chatgpt-memory": chatgpt.read_saved,
    "claude": claude.read_conversations,
    "claude-memories": claude.read_memories,
    "claude-memory": claude.read_text,
    "mem0": products.read_mem0,
    "letta": products.read_letta,
    "zep": products.read_zep,
    "supermemory": products.read_supermemory,
    "basic-memory": markdown.read_basic,
    "markdown": markdown.read_plain,
    "csv": tables.read_csv,
    "jsonl": tables.read_jsonl,
    "json": tables.read_json,
}
TEXTS = frozenset({"chatgpt-memory", "claude-memory", "basic-memory", "markdown"})
NOTES = {"basic-memory": markdown.read_basic, "markdown": markdown.read_plain}
READ = (".json", ".md", ".markdown", ".txt", ".csv", ".tsv", ".jsonl", ".ndjson", ".af")
# Files of the products' exports that hold settings and accounts, no conversation and no memory.
BESIDE = frozenset(
    {
        "user.json", "users.json", "user_settings.json", "message_feedback.json", "model_comparisons.json",
        "shared_conversations.json", "export_manifest.json", "manifest.json", "projects.json", "group_chats.json",
        "shopping.json", "sora.json",
    }
)  # fmt: skip
HEAD = 256 * 1024


def read_foreign(file: BinaryIO, format: str, report: Report) -> Iterator[Record]:
    """Yield a file's records in the order of the file, the same each time it is read.

    What cannot be read is a Broken in its place; files of a zip that hold nothing for us are named in the report.
    Raises Invalid and PayloadTooLarge for a file that cannot be read at all.
    """
    if zip_is(file):
        return _zip(zip_open(file), format, report)
    return FORMATS[format](file, report)


def _zip(archive: ZipFile, format: str, report: Report) -> Iterator[Record]:
    """Yield the records of every member that can be read, in the order of their names."""
    wanted: list[ZipInfo] = []
    ignored = 0
    for member in sorted(archive.infolist(), key=lambda member: member.filename):
        name = member.filename.rpartition("/")[2].lower()
        hidden = any(part.startswith((".", "__MACOSX")) for part in member.filename.split("/"))
        if member.filename.endswith("/"):
            continue
        if hidden or is_link(member) or name in BESIDE or not name.endswith(READ):
            report.leave(member.filename)
            ignored += 1
        else:
            wanted.append(member)
    if ignored > MAX_IGNORED:
        report.ignored.append(f"and {ignored - MAX_IGNORED} more")
    if not wanted:
        raise Invalid.field("body", "The zip holds no file that can be imported.")
    return chain.from_iterable(_member(archive, member, format, report) for member in wanted)


def _member(archive: ZipFile, member: ZipInfo, format: str, report: Report) -> Iterator[Record]:
    try:
        own = format if format in FORMATS else _member_format(archive, member)
        with member_open(archive, member) as file:
            if own in NOTES:
                yield from NOTES[own](file, report, member.filename)
            else:
                yield from FORMATS[own](file, report)
    except ApiError as error:
        # One damaged file stops none of the others.
        yield Broken(error, member.filename[:100])


def _member_format(archive: ZipFile, member: ZipInfo) -> str:
    with member_open(archive, member) as file:
        head = file.read(HEAD)
    # A first conversation may be longer than what is looked at here.
    for mark, found in ((b'"mapping"', "chatgpt"), (b'"chat_messages"', "claude")):
        if mark in head:
            return found
    found = format_of(BytesIO(head), member.filename)
    if found in TEXTS:
        text_check(BytesIO(head))
    return found if found in FORMATS else "jsonl" if found == "ndjson" else "json"
