"""API key strings: `om_`, 43 URL-safe characters of 256 random bits, 6 characters of checksum."""

import hashlib
import secrets
import zlib

PREFIX = "om_"
SHOWN = 10  # characters of a key that lists and logs may show: far too few to guess the rest


def checksum(secret: str) -> str:
    """Return six hexadecimal-like characters over the secret, by which scanners tell a key from noise."""
    return f"{zlib.crc32(secret.encode()) & 0xFFFFFF:06x}"


def key_generate() -> str:
    """Return a new key."""
    secret = secrets.token_urlsafe(32)
    return f"{PREFIX}{secret}{checksum(secret)}"


def key_digest(key: str) -> bytes:
    """Return the SHA-256 digest (32 bytes) under which a key is stored and found."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def key_prefix(key: str) -> str:
    """Return the characters that name a key to people."""
    return key[:SHOWN]
