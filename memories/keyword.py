"""Keyword search: BM25 over the lexemes of one space, with that space's own statistics, inside PostgreSQL.

A search takes three steps: count how common each lexeme of the query is, pick a bounded set of candidates by the rarest
of them, rank these by all of them. ``ts_rank`` of a single lexeme that occurs n times is the sum of 1/i² for i up to n,
scaled; since the rest of that sum is very nearly 1/(n + 1/2), the number of occurrences comes back out of it without
unpacking the vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import connection

from memories.analysis import Token, tokens, triples
from memories.conditions import Condition
from memories.lexemes import SAMPLE_BITS, adjacent, any_of, quoted

MAX_LEXEMES = 96
CANDIDATES = 2_000
SCORES = 40_000
"""A query of many lexemes ranks fewer candidates: this many scores of one lexeme in one memory, together."""
COUNTED_EXACTLY = 5_000
SAMPLE_ROWS = 1_000
PLAIN_WORD = 0.3
PART = 0.5
SUBSTRING = 0.7
PAIR = 0.25
MIN_SUBSTRING = 4


@dataclass(frozen=True)
class Lexeme:
    """One lexeme of a query, how much it counts, and the triples that find it inside of longer words."""

    text: str
    weight: float
    grams: tuple[str, ...] = ()
    is_identifier: bool = False


@dataclass(frozen=True)
class KeywordQuery:
    """An analysed query: its lexemes, and the pairs of lexemes that stand next to each other with their distance."""

    lexemes: tuple[Lexeme, ...]
    pairs: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class Statistics:
    """What BM25 knows of a space: entries, mean length in words, and entries with each lexeme."""

    entries: int
    mean_length: float
    frequencies: dict[str, int] = field(default_factory=dict)

    def idf(self, lexeme: str) -> float:
        """Give a lexeme's inverse document frequency, Lucene's form: never negative."""
        frequency = min(self.frequencies.get(lexeme, 0), self.entries)
        return math.log(1 + (self.entries - frequency + 0.5) / (frequency + 0.5))

    @property
    def saturation(self) -> tuple[float, float]:
        """Give BM25's k1 and b.

        Short notes say a thing once and their length means little; in long texts both matter. Measured: 0.8 and 0.3
        are best at 25 words, 1.5 and 0.75 at 160 and more, and in between in between.
        """
        longness = min(max((self.mean_length - 40) / 120, 0.0), 1.0)
        return 0.8 + 0.7 * longness, 0.3 + 0.45 * longness


def analyse(q: str, language: str) -> KeywordQuery:
    """Analyse a query. Stop words are left out as long as another word is left; no text is an error."""
    found = [token for token in tokens(q, language) if not token.single]
    kept = [token for token in found if not token.stop] or found
    lexemes: dict[str, Lexeme] = {}
    for token in kept:
        for lexeme in _lexemes_of(token):
            known = lexemes.get(lexeme.text)
            if known is None or known.weight < lexeme.weight:
                lexemes[lexeme.text] = lexeme
    chosen = tuple(list(lexemes.values())[:MAX_LEXEMES])
    texts = {lexeme.text for lexeme in chosen}
    words = [token for token in kept if not token.part]
    pairs = {
        (first.stem, second.stem, second.position - first.position): None
        for first, second in zip(words, words[1:], strict=False)
        if first.stem != second.stem and first.stem in texts and second.stem in texts
    }
    return KeywordQuery(chosen, tuple(pairs))


def _lexemes_of(token: Token) -> list[Lexeme]:
    weight = PART if token.part else 1.0
    if len(token.word) < MIN_SUBSTRING or not token.word[0].isascii() or token.part:
        grams: tuple[str, ...] = ()
    else:
        grams = token.grams or triples(token.word)
    is_identifier = bool(token.grams) and not token.word.isalpha()
    if token.stem == token.word:
        return [Lexeme(token.word, weight * (1 + PLAIN_WORD), grams, is_identifier)]
    return [Lexeme(token.stem, weight), Lexeme(token.word, weight * PLAIN_WORD, grams, is_identifier)]


class KeywordSearch:
    """One query against one space, inside a transaction that has set the space."""

    def __init__(self, space_id: int, query: KeywordQuery, condition: Condition) -> None:
        self.space_id = space_id
        self.query = query
        self.condition = condition
        self.statistics = statistics_of(space_id, [lexeme.text for lexeme in query.lexemes])
        self.candidates = max(min(CANDIDATES, SCORES // max(len(query.lexemes), 1)), 200)
        self.parts = [lexeme for lexeme in query.lexemes if lexeme.grams and self._is_searched_inside(lexeme)]

    def _is_searched_inside(self, lexeme: Lexeme) -> bool:
        """A word is looked for inside of others if it is an identifier, or no word of the space."""
        return lexeme.is_identifier or self.statistics.frequencies.get(lexeme.text, 0) == 0

    def ideal(self) -> float:
        """Give the score of a memory of mean length in which every word of the query occurs once."""
        return sum(lexeme.weight * self.statistics.idf(lexeme.text) for lexeme in self.query.lexemes)

    def total(self) -> int:
        """Count everything that any word of the query matches, under the condition."""
        if not self.query.lexemes:
            return 0
        where, values = self.condition.where(self._any(self.query.lexemes))
        return int(_row(f"SELECT count(*) FROM memories_searchable WHERE {where}", values)[0])

    def best(self, limit: int) -> dict[str, float]:
        """Give the best ``limit`` matches with their scores, best first; equal ones newest first, then by id."""
        if not self.query.lexemes:
            return {}
        first, rest = self._rarest()
        found = self._rank(self._any(first), limit)
        if len(found) < limit and rest:
            found = self._rank(self._any(self.query.lexemes), limit)
        return found

    def scores_of(self, ids: Sequence[str]) -> dict[str, float]:
        """Give the scores of these memories; those that no word matches have 0."""
        if not ids or not self.query.lexemes:
            return {}
        sql, values = self._scored("memory_id = ANY(%s)", [list(ids)])
        return dict(_rows(f"SELECT memory_id, score FROM ({sql}) AS scored", values))

    def _rarest(self) -> tuple[list[Lexeme], list[Lexeme]]:
        """Split the lexemes: the rarest, that match few memories together, and the others."""
        frequencies = self.statistics.frequencies
        order = sorted(self.query.lexemes, key=lambda lexeme: frequencies.get(lexeme.text, 0))
        together, taken = 0, 0
        for lexeme in order:
            together += frequencies.get(lexeme.text, 0)
            if together > self.candidates and any(frequencies.get(known.text, 0) for known in order[:taken]):
                break
            taken += 1
        return order[:taken], order[taken:]

    def _any(self, lexemes: Iterable[Lexeme]) -> str:
        parts = [quoted(self.space_id, lexeme.text) for lexeme in lexemes]
        return any_of([*parts, *(adjacent(self.space_id, self._grams(lexeme)) for lexeme in self.parts)])

    def _grams(self, lexeme: Lexeme) -> list[str]:
        return ["^" + gram for gram in lexeme.grams]

    def _rank(self, match: str, limit: int) -> dict[str, float]:
        where, values = self.condition.where(match)
        sql, values = self._scored(where, values)
        order = "ORDER BY score DESC, created_at DESC, memory_id LIMIT %s"
        return dict(_rows(f"SELECT memory_id, score FROM ({sql}) AS scored {order}", [*values, limit]))

    def _scored(self, where: str, values: list[Any]) -> tuple[str, list[Any]]:
        """Write the query that scores the entries of a condition, no more than can be ranked in time."""
        k1, b = self.statistics.saturation
        inner: list[str] = []
        terms: list[str] = []
        parameters: list[Any] = [k1 * (1 - b), k1 * b / max(self.statistics.mean_length, 1.0)]
        weights: list[float] = []
        present = [lexeme for lexeme in self.query.lexemes if self.statistics.frequencies.get(lexeme.text)]
        for number, lexeme in enumerate(present):
            inner.append(f"1.644934 * (1 - ts_rank('{{1,1,1,1}}', lexemes, %s::tsquery)) AS rest{number}")
            parameters.append(quoted(self.space_id, lexeme.text))
            terms.append(
                f"CASE WHEN rest{number} < 1.6 THEN %s * (1 / rest{number} - 0.5) / (1 / rest{number} - 0.5 + norm)"
                " ELSE 0 END"
            )
            weights.append(lexeme.weight * self.statistics.idf(lexeme.text) * (k1 + 1))
        for number, (expression, weight) in enumerate(self._presences()):
            inner.append(f"(lexemes @@ %s::tsquery)::int AS presence{number}")
            parameters.append(expression)
            terms.append(f"%s * presence{number}")
            weights.append(weight)
        columns = "".join(f", {column}" for column in inner)
        sql = (
            f"SELECT memory_id, created_at, {' + '.join(terms) or '0'} AS score FROM ("
            f"SELECT memory_id, created_at, %s + %s * length AS norm{columns} FROM ("
            "SELECT memory_id, created_at, length, lexemes FROM memories_searchable "
            f"WHERE {where} LIMIT {2 * self.candidates}) AS candidate OFFSET 0) AS matched"
        )
        return sql, [*weights, *parameters, *values]

    def _presences(self) -> list[tuple[str, float]]:
        """Give what counts by being there: neighbours in the order of the query, and parts of words."""
        found = []
        for first, second, distance in self.query.pairs:
            if self.statistics.frequencies.get(first) and self.statistics.frequencies.get(second):
                pair = f"{quoted(self.space_id, first)} <{distance}> {quoted(self.space_id, second)}"
                rarity = min(
                    self.statistics.idf(first) + self.statistics.idf(second), math.log(1 + 2 * self.statistics.entries)
                )
                found.append((pair, PAIR * rarity))
        for lexeme in self.parts:
            weight = SUBSTRING * lexeme.weight * self.statistics.idf(lexeme.text)
            found.append((adjacent(self.space_id, self._grams(lexeme)), weight))
        return found


def statistics_of(space_id: int, lexemes: Sequence[str]) -> Statistics:
    """Read a space's statistics for some lexemes: counted in a small space, from its sample in a large one."""
    entries, mean_length = _row(
        "SELECT count(*), coalesce(avg(length), 0) FROM "
        f"(SELECT length FROM memories_searchable LIMIT {COUNTED_EXACTLY + 1}) AS entry",
        [],
    )
    if entries <= COUNTED_EXACTLY:
        return Statistics(entries, float(mean_length), _counted(space_id, lexemes, COUNTED_EXACTLY))
    return _sampled(space_id, lexemes)


def _counted(space_id: int, lexemes: Sequence[str], at_most: int) -> dict[str, int]:
    if not lexemes:
        return {}
    counts = _rows(
        "SELECT lexeme, (SELECT count(*) FROM (SELECT 1 FROM memories_searchable WHERE lexemes @@ query::tsquery "
        "LIMIT %s) AS entry) FROM unnest(%s::text[], %s::text[]) AS asked(lexeme, query)",
        [at_most, list(lexemes), [quoted(space_id, lexeme) for lexeme in lexemes]],
    )
    return dict(counts)


def _sampled(space_id: int, lexemes: Sequence[str]) -> Statistics:
    """Estimate from the smallest sample that is large enough, and count exactly what is rare in it."""
    counts = _counted(space_id, [f"=sample:{bits}" for bits in SAMPLE_BITS], SAMPLE_ROWS)
    enough = [bits for bits in SAMPLE_BITS if counts[f"=sample:{bits}"] >= SAMPLE_ROWS]
    bits = max(enough, default=SAMPLE_BITS[0])
    asked = "".join(", count(*) FILTER (WHERE lexemes @@ %s::tsquery)" for _ in lexemes)
    queries = [quoted(space_id, lexeme) for lexeme in lexemes]
    rows, mean_length, *found = _row(
        f"SELECT count(*), coalesce(avg(length), 0){asked} FROM memories_searchable WHERE lexemes @@ %s::tsquery",
        [*queries, quoted(space_id, f"=sample:{bits}")],
    )
    frequencies = {lexeme: int(count) << bits for lexeme, count in zip(lexemes, found, strict=True)}
    rare = [lexeme for lexeme, count in zip(lexemes, found, strict=True) if count < 20]
    frequencies |= _counted(space_id, rare, max(20 << bits, CANDIDATES))
    return Statistics(rows << bits, float(mean_length), frequencies)


def _rows(sql: str, values: Sequence[Any]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


def _row(sql: str, values: Sequence[Any]) -> tuple[Any, ...]:
    row: tuple[Any, ...] = _rows(sql, values)[0]
    return row
