"""What stands in the search index for a memory, and how queries name it: words and filters, both as lexemes.

Every lexeme carries its space in front ("42:paint"), so that one GIN index serves all spaces and a search reads only
the postings of its own. Words begin with a letter, a digit or a symbol. Three kinds more share the index and cannot be
taken for words: "^" begins a triple of characters, "=" a filter ("=type:semantic") and "=sample" the marks of the
sample from which a large space's statistics are read.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable
from typing import Any

from memories.analysis import tokens, word_share

MAX_POSITION = 16_383  # of a tsvector
MAX_POSITIONS = 255
SAMPLE_BITS = (3, 6, 9, 12)
"""An entry is in the sample of n bits when the last n bits of its id's checksum are zero: one in 2^n are."""

Positions = dict[str, list[int]]


def text_lexemes(content: str, named: Iterable[str], language: str) -> tuple[Positions, int]:
    """Give the lexemes of a memory's text with their positions, and its length in words.

    ``named`` are its tags and its subject: their words count like two occurrences in the text.
    """
    positions: Positions = {}
    length = 0.0
    start = 1
    for part, text in enumerate([content, *(name for name in named for _ in range(2))]):
        found = tokens(text, language)
        for token in found:
            at = min(start + token.position, MAX_POSITION)
            for lexeme in {token.word, token.stem}:
                positions.setdefault(lexeme, []).append(at)
            for offset, gram in enumerate(token.grams):
                positions.setdefault("^" + gram, []).append(min(start + token.position + offset, MAX_POSITION))
            if part == 0 and not token.single and not token.part:
                length += word_share(token.word)
        start += (found[-1].position if found else 0) + 10
    return positions, round(length)


def metadata_lexeme(key: str, value: Any) -> str:
    """Name an equality of metadata; values that JSON holds equal (1 and 1.0) are."""
    canonical = json.dumps([key, _plain_number(value)], sort_keys=True, ensure_ascii=True)
    return "=meta:" + hashlib.blake2b(canonical.encode(), digest_size=12).hexdigest()


def _plain_number(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _plain_number(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain_number(inner) for inner in value]
    return value


def sample_lexemes(memory_id: str) -> list[str]:
    """Give the sample marks of a memory: none for seven of eight."""
    checksum = zlib.crc32(memory_id.encode())
    return [f"=sample:{bits}" for bits in SAMPLE_BITS if checksum % (1 << bits) == 0]


def vector_literal(space_id: int, positions: Positions) -> str:
    """Write lexemes as the text form of a tsvector; a lexeme without positions stands for itself alone."""
    written = []
    for lexeme, places in positions.items():
        suffix = ":" + ",".join(map(str, sorted(set(places))[:MAX_POSITIONS])) if places else ""
        written.append(quoted(space_id, lexeme) + suffix)
    return " ".join(written)


def quoted(space_id: int, lexeme: str) -> str:
    """Write one lexeme of a space as tsvector and tsquery read it; no text can end the quotes."""
    escaped = lexeme.replace("\\", "\\\\").replace("'", "''")
    return f"'{space_id}:{escaped}'"


def any_of(parts: Iterable[str]) -> str:
    """Join tsquery expressions by or; at least one."""
    return "(" + " | ".join(parts) + ")"


def all_of(parts: Iterable[str]) -> str:
    """Join tsquery expressions by and; at least one."""
    return "(" + " & ".join(parts) + ")"


def adjacent(space_id: int, lexemes: Iterable[str]) -> str:
    """Write the tsquery for lexemes at consecutive positions."""
    return "(" + " <-> ".join(quoted(space_id, lexeme) for lexeme in lexemes) + ")"
