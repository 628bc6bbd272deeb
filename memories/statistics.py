"""What BM25 knows of a space: how many entries it has, how long they are, and how many have each lexeme.

Nothing is maintained while writing, so writers never wait for each other. A small space is counted at every search. In
a larger one, rare lexemes are counted at every search, which is quick, and common ones are estimated from a sample (its
entries are marked in the index) and remembered by the process for ten minutes; the size of the space for one, and only
beyond ten thousand it is estimated. What is not common is never remembered: an import would make it common meanwhile,
and a search that takes it for rare finds more than it can rank, and not what is rare indeed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from django.db import connection

from memories.conditions import Condition
from memories.lexemes import SAMPLE_BITS, quoted

Value = TypeVar("Value")
COUNTED_LIVE = 1_000
COUNTED_NOW_AND_THEN = 10_000
COMMON = 1_000
"""A lexeme of so many entries is common: its number is estimated. As many as a search ranks, or more."""
FEW = 8
"""So many lexemes are counted sooner than the sample is read."""
UNPACKED_FROM = 4_000
SAMPLE_ROWS = 500
SIZE_SECONDS = 60.0
LEXEME_SECONDS = 600.0
MAX_REMEMBERED = 50_000
AMONG = "memory_id = ANY(string_to_array(%s, ','))"
"""A condition on ids that are given as one text, joined by commas: a list costs a hundred times as much to send."""


@dataclass(frozen=True)
class Statistics:
    """Entries, mean length in words, and entries with each lexeme."""

    entries: int
    mean_length: float
    frequencies: dict[str, int] = field(default_factory=dict)

    def idf(self, lexeme: str) -> float:
        """Give a lexeme's inverse document frequency."""
        return self.rarity(self.frequencies.get(lexeme, 0))

    def rarity(self, frequency: int) -> float:
        """Give the inverse document frequency of what so many entries have, Lucene's form: never negative."""
        frequency = min(frequency, self.entries)
        return math.log(1 + (self.entries - frequency + 0.5) / (frequency + 0.5))

    @property
    def saturation(self) -> tuple[float, float]:
        """Give BM25's k1 and b.

        Short notes say a thing once and their length means little; in long texts both matter. Measured: 0.8 and 0.3
        are best at 25 words, 1.5 and 0.75 at 160 and more, and in between in between.
        """
        longness = min(max((self.mean_length - 40) / 120, 0.0), 1.0)
        return 0.8 + 0.7 * longness, 0.3 + 0.45 * longness


@dataclass(frozen=True)
class _Size:
    entries: int
    mean_length: float
    sample_bits: int


class Remembered(Generic[Value]):
    """Values that count for a while, by key; when there are too many, all are forgotten."""

    def __init__(self) -> None:
        self._values: dict[Hashable, tuple[float, Value]] = {}

    def get(self, key: Hashable) -> Value | None:
        """Give the value of a key, None when it is unknown or too old."""
        until, value = self._values.get(key, (0.0, None))
        return value if time.monotonic() < until else None

    def put(self, key: Hashable, value: Value, seconds: float) -> None:
        """Remember a value for so long."""
        if len(self._values) >= MAX_REMEMBERED:
            self._values = {}
        self._values[key] = (time.monotonic() + seconds, value)


_sizes: Remembered[_Size] = Remembered()
_frequencies: Remembered[int] = Remembered()


def statistics_of(space_id: int, lexemes: Sequence[str]) -> Statistics:
    """Read a space's statistics for some lexemes, inside a transaction that has set the space."""
    size = _size_of(space_id)
    if size.entries <= COUNTED_LIVE:
        return Statistics(size.entries, size.mean_length, _counted_lexemes(space_id, lexemes, COUNTED_LIVE + 1))
    known = {lexeme: count for lexeme in lexemes if (count := _frequencies.get((space_id, lexeme))) is not None}
    fresh = _fresh(space_id, [lexeme for lexeme in lexemes if lexeme not in known], size)
    for lexeme, count in fresh.items():
        if count >= COMMON:
            _frequencies.put((space_id, lexeme), count, LEXEME_SECONDS)
    return Statistics(size.entries, size.mean_length, known | fresh)


def entries_under(space_id: int, condition: Condition) -> tuple[int, int]:
    """Tell about how many entries of a space meet a condition, and how many there are; in a small space all of them.

    Inside a transaction that has set the space.
    """
    size = _size_of(space_id)
    if size.entries <= COUNTED_LIVE:
        return size.entries, size.entries
    where, values = condition.where(quoted(space_id, f"=sample:{size.sample_bits}"))
    [(rows,)] = rows_of(f"SELECT count(*) FROM memories_searchable WHERE {where}", values)  # noqa: S608
    return rows << size.sample_bits, size.entries


def _size_of(space_id: int) -> _Size:
    """Give what is remembered of a space's size, or measure it anew."""
    size = _sizes.get(space_id)
    if size is None:
        size = _measured_size(space_id)
        if size.entries > COUNTED_LIVE:
            _sizes.put(space_id, size, SIZE_SECONDS)
    return size


def _measured_size(space_id: int) -> _Size:
    [(entries, length)] = rows_of(
        "SELECT count(*), coalesce(avg(length), 0) FROM "
        "(SELECT length FROM memories_searchable WHERE space_id = %s LIMIT %s) AS entry",
        [space_id, COUNTED_NOW_AND_THEN + 1],
    )
    if entries <= COUNTED_LIVE:
        return _Size(entries, float(length), 0)
    marks = _counted_lexemes(space_id, [f"=sample:{bits}" for bits in SAMPLE_BITS], SAMPLE_ROWS)
    bits = max((bits for bits in SAMPLE_BITS if marks[f"=sample:{bits}"] >= SAMPLE_ROWS), default=SAMPLE_BITS[0])
    if entries <= COUNTED_NOW_AND_THEN:
        return _Size(entries, float(length), bits)
    [(rows, length)] = rows_of(
        "SELECT count(*), coalesce(avg(length), 0) FROM memories_searchable WHERE lexemes @@ %s::tsquery",
        [quoted(space_id, f"=sample:{bits}")],
    )
    return _Size(max(rows << bits, COUNTED_NOW_AND_THEN + 1), float(length), bits)


def counted(queries: Mapping[str, str], at_most: int) -> dict[str, int]:
    """Count the entries that each tsquery matches, none further than ``at_most``; by the names that are given."""
    if not queries:
        return {}
    counts = rows_of(
        "SELECT name, (SELECT count(*) FROM (SELECT 1 FROM memories_searchable WHERE lexemes @@ query::tsquery "
        "LIMIT %s) AS entry) FROM unnest(%s::text[], %s::text[]) AS asked(name, query)",
        [at_most, list(queries), list(queries.values())],
    )
    return dict(counts)


def _counted_lexemes(space_id: int, lexemes: Sequence[str], at_most: int) -> dict[str, int]:
    return counted({lexeme: quoted(space_id, lexeme) for lexeme in lexemes}, at_most)


def _fresh(space_id: int, lexemes: Sequence[str], size: _Size) -> dict[str, int]:
    """Count the rare ones of some lexemes and estimate the common ones; of many, the sample tells first which are."""
    many = len(lexemes) > FEW and size.entries > COUNTED_NOW_AND_THEN
    estimates = _estimated(space_id, lexemes, size) if many else {}
    found = _counted_lexemes(space_id, [lexeme for lexeme in lexemes if estimates.get(lexeme, 0) < COMMON], COMMON)
    common = [lexeme for lexeme in lexemes if found.get(lexeme, COMMON) >= COMMON]
    estimates |= _estimated(space_id, [lexeme for lexeme in common if lexeme not in estimates], size)
    return found | {lexeme: max(estimates[lexeme], COMMON) for lexeme in common}


def _estimated(space_id: int, lexemes: Sequence[str], size: _Size) -> dict[str, int]:
    """Estimate from the space's sample how many entries have each lexeme."""
    if not lexemes:
        return {}
    asked = ", ".join("count(*) FILTER (WHERE lexemes @@ %s::tsquery)" for _ in lexemes)
    [counts] = rows_of(
        f"SELECT {asked} FROM (SELECT {vector_read(len(lexemes), size.mean_length)} FROM memories_searchable "  # noqa: S608
        "WHERE lexemes @@ %s::tsquery OFFSET 0) AS sample",
        [*(quoted(space_id, lexeme) for lexeme in lexemes), quoted(space_id, f"=sample:{size.sample_bits}")],
    )
    return {lexeme: count << size.sample_bits for lexeme, count in zip(lexemes, counts, strict=True)}


def vector_read(times: int, length: float) -> str:
    """Name the column of lexemes in a query that looks into each vector, of so many words, so many times.

    Joined to nothing, a vector is unpacked once and not each time. In short ones unpacking costs less than joining.
    """
    return "lexemes || ''::tsvector AS lexemes" if times * length > UNPACKED_FROM else "lexemes"


def rows_of(sql: str, values: Sequence[Any]) -> list[Any]:
    """Run one statement and give its rows."""
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        rows: list[Any] = cursor.fetchall()
    return rows
