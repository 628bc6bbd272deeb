"""Zips without their dangers: nothing is unpacked to disk, nothing leads out, nothing unpacks to more than it says."""

import stat
import zipfile
import zlib
from typing import Any, BinaryIO

from django.conf import settings

from api.errors import Invalid, PayloadTooLarge

ZIP = (b"PK\x03\x04", b"PK\x05\x06")
MAX_MEMBERS = 20_000
MAX_DIRECTORY = 4 * 1024 * 1024  # bytes of the list of members, which is read whole
MAX_UNPACKED = 8  # times what an import may have as a file
MAX_RATIO = 200  # of a member's size to its packed size; text packs about ten to one
RATIO_FROM = 10 * 1024 * 1024


class Member:
    """A zip's member, which may not unpack to more than the zip has said and all members together may."""

    def __init__(self, file: Any, size: int) -> None:
        self.file, self.left = file, size

    def __enter__(self) -> "Member":
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.file.close()

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes. Raises Invalid for a damaged member, PayloadTooLarge beyond its size."""
        try:
            piece: bytes = self.file.read(size if size >= 0 else self.left + 1)
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
            raise Invalid.field("body", "The zip is damaged.") from None
        self.left -= len(piece)
        if self.left < 0:
            raise PayloadTooLarge("A file in the zip unpacks to more than the zip says.")
        return piece


def zip_is(file: BinaryIO) -> bool:
    """Return whether a file begins like a zip; it is left at its beginning."""
    file.seek(0)
    start = file.read(4)
    file.seek(0)
    return start in ZIP


def zip_read(file: BinaryIO) -> zipfile.ZipFile:
    """Return a zip whose list of members is of a sane length. Raises Invalid and PayloadTooLarge."""
    try:
        _directory_check(file)
        file.seek(0)
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        raise Invalid.field("body", "The zip is damaged or no zip.") from None
    if len(archive.infolist()) > MAX_MEMBERS:
        raise _crowded()
    limit = MAX_UNPACKED * settings.MAX_IMPORT_BYTES
    if sum(member.file_size for member in archive.infolist()) > limit:
        raise PayloadTooLarge(f"The zip unpacks to more than {limit} bytes.", {"limit": limit})
    return archive


def size_unpacked(file: BinaryIO) -> int:
    """Return how many bytes a file has, of a zip those of all its members; it is left at its beginning.

    Raises Invalid and PayloadTooLarge for a zip that cannot be read.
    """
    if zip_is(file):
        with zip_read(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
    else:
        size = file.seek(0, 2)
    file.seek(0)
    return size


def _directory_check(file: BinaryIO) -> None:
    """Raise PayloadTooLarge for a list of members that would fill the memory, before it is read."""
    end = zipfile._EndRecData(file)  # type: ignore[attr-defined]  # the length that ZipFile itself goes by
    if end and end[zipfile._ECD_SIZE] > MAX_DIRECTORY:  # type: ignore[attr-defined]
        raise _crowded()


def _crowded() -> PayloadTooLarge:
    return PayloadTooLarge(f"The zip holds too many files; at most {MAX_MEMBERS} are allowed.", {"limit": MAX_MEMBERS})


def zip_open(file: BinaryIO) -> zipfile.ZipFile:
    """Return a zip that holds no danger: no member leads out of it, is encrypted or unpacks to too much.

    Raises Invalid and PayloadTooLarge.
    """
    archive = zip_read(file)
    for member in archive.infolist():
        parts = member.filename.replace("\\", "/").split("/")
        if member.filename.startswith(("/", "\\")) or ".." in parts or ":" in parts[0]:
            raise Invalid.field("body", "The zip holds a path that leads out of it, so it is refused.")
        if member.flag_bits & 1:
            raise Invalid.field("body", "The zip is encrypted. Unpack it and send what is in it.")
        if member.file_size > RATIO_FROM and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise PayloadTooLarge("A file in the zip is packed so tightly that it is taken for a zip bomb.")
    return archive


def is_link(member: zipfile.ZipInfo) -> bool:
    """Return whether a member is a symbolic link, which holds a path and no text."""
    return stat.S_ISLNK(member.external_attr >> 16)


def member_open(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Member:
    """Return a member as a file to read from its beginning. Raises Invalid for a damaged one."""
    try:
        return Member(archive.open(member), member.file_size)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError):
        raise Invalid.field("body", "The zip is damaged.") from None
