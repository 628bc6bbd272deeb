"""Keyword search: BM25 over the lexemes of one space, with that space's own statistics, inside PostgreSQL.

A search takes three steps: count how common each lexeme of the query is, pick a bounded set of candidates by the rarest
of them, rank these by all of them. ``ts_rank`` of a single lexeme that occurs n times is the sum of 1/i² for i up to n,
scaled; since the rest of that sum is very nearly 1/(n + 1/2), the number of occurrences comes back out of it without
unpacking the vector.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from memories.analysis import Token, tokens, triples, word_share
from memories.conditions import Condition
from memories.lexemes import adjacent, any_of, quoted
from memories.statistics import AMONG, COMMON, COUNTED_LIVE, counted, rows_of, statistics_of, vector_read

MAX_LEXEMES = 96
MAX_LENGTH = 56
"""A query is looked up by its first words, then by their parts and plain forms: so many, of so many words together."""
MAX_WORDS = 40
MAX_PARTS = 6
MAX_PAIRS = 48
"""Of what the space has of a long query, so much ranks: the most telling words, parts and pairs of words."""
ALWAYS_MATCHED = 30
MATCHED = 20_000
"""So many of its words match in any case, and further ones while all together match no more memories than this."""
CANDIDATES = 1_000
SCORES = 20_000
"""A query of many lexemes ranks fewer candidates: this many scores of one lexeme in one memory, together."""
PLAIN_WORD = 0.3
PART = 0.5
SUBSTRING = 0.7
PAIR = 0.25
MIN_SUBSTRING = 4
MATCH = "memory_id, score, pinned, extract(epoch FROM created_at)::float8"


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
    order = sorted(lexemes.values(), key=lambda lexeme: lexeme.weight < 1)  # words before their parts and plain forms
    lengths = itertools.accumulate(word_share(lexeme.text) for lexeme in order)
    within = [lexeme for lexeme, length in zip(order, lengths, strict=True) if length <= MAX_LENGTH]
    chosen = tuple(within[:MAX_LEXEMES])
    texts = {lexeme.text for lexeme in chosen}
    words = [token for token in kept if not token.part]
    pairs = {
        (first.stem, second.stem, second.position - first.position): None
        for first, second in itertools.pairwise(words)
        if first.stem != second.stem
        and first.stem in texts
        and second.stem in texts
        and word_share(first.word) != 0.5  # pairs of Chinese characters overlap: a run counts by its pairs already
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


@dataclass(frozen=True)
class Match:
    """A memory's BM25 score, and what orders it among equals: pinned or not, and when it was created, in seconds."""

    score: float
    pinned: bool
    created: float


class KeywordSearch:
    """One query against one space, inside a transaction that has set the space."""

    def __init__(self, space_id: int, query: KeywordQuery, condition: Condition) -> None:
        self.space_id = space_id
        self.query = query
        self.condition = condition
        self.statistics = statistics_of(space_id, [lexeme.text for lexeme in query.lexemes])
        inside = [lexeme for lexeme in query.lexemes if lexeme.grams and self._is_searched_inside(lexeme)]
        self.parts = {
            lexeme.text: adjacent(space_id, ["^" + gram for gram in lexeme.grams]) for lexeme in inside[:MAX_PARTS]
        }
        self.inside = counted(self.parts, COMMON)
        self.lexemes = self._most_telling()
        self.matching = self._matching()
        self.candidates = max(min(CANDIDATES, SCORES // max(len(self.lexemes), 1)), 200)

    def _is_searched_inside(self, lexeme: Lexeme) -> bool:
        """A word is looked for inside of others if it is an identifier, or no word of the space."""
        return lexeme.is_identifier or self.statistics.frequencies.get(lexeme.text, 0) == 0

    def _frequency(self, lexeme: Lexeme) -> int:
        return max(self.statistics.frequencies.get(lexeme.text, 0), self.inside.get(lexeme.text, 0))

    def _most_telling(self) -> list[Lexeme]:
        known = [lexeme for lexeme in self.query.lexemes if self._frequency(lexeme)]
        known.sort(key=lambda lexeme: lexeme.weight * self.statistics.rarity(self._frequency(lexeme)), reverse=True)
        words = itertools.accumulate(word_share(lexeme.text) for lexeme in known)
        return [lexeme for lexeme, so_far in zip(known, words, strict=True) if so_far <= MAX_WORDS]

    def _matching(self) -> list[Lexeme]:
        """Leave out what a long query shares with most of a large space: too many memories have it to tell anything."""
        words = itertools.accumulate(word_share(lexeme.text) for lexeme in self.lexemes)
        together = itertools.accumulate(self._frequency(lexeme) for lexeme in self.lexemes)
        return [
            lexeme
            for lexeme, so_far, matched in zip(self.lexemes, words, together, strict=True)
            if so_far <= ALWAYS_MATCHED or min(matched, self.statistics.entries) <= MATCHED
        ]

    def ideal(self) -> float:
        """Give the score of a memory of mean length in which every word of the query occurs once."""
        return sum(lexeme.weight * self.statistics.idf(lexeme.text) for lexeme in self.query.lexemes)

    def total(self) -> int:
        """Count everything that any matching word of the query finds, under the condition."""
        if not self.matching:
            return 0
        where, values = self.condition.where(self._any(self.matching))
        return int(rows_of(f"SELECT count(*) FROM memories_searchable WHERE {where}", values)[0][0])

    def best(self, limit: int) -> dict[str, Match]:
        """Give the best ``limit`` matches, best first; equal ones newest first, then by id."""
        if not self.matching:
            return {}
        first, rest = self._rarest()
        found = self._rank(self._any(first), limit)
        if len(found) < limit and rest:
            # Of what only common lexemes match not everything is ranked, so what is found already is not left to it.
            found |= self._rank(self._any(rest), limit)
            order = sorted(found, key=lambda memory: (-found[memory].score, -found[memory].created, memory))
            found = {memory: found[memory] for memory in order[:limit]}
        return found

    def scores_of(self, ids: Sequence[str]) -> dict[str, Match]:
        """Score these memories; those that no word matches have 0, those that are not searchable are absent."""
        if not ids:
            return {}
        sql, values = self._scored(f"space_id = %s AND {AMONG}", [self.space_id, ",".join(ids)])
        return _matches(f"SELECT {MATCH} FROM ({sql}) AS scored", values)

    def _rarest(self) -> tuple[list[Lexeme], list[Lexeme]]:
        """Split the lexemes: the rarest, that match few memories together, and the others."""
        if self.statistics.entries <= min(COUNTED_LIVE, 2 * self.candidates):  # not remembered, so all can be ranked
            return self.matching, []
        order = sorted(self.matching, key=self._frequency)
        together, taken = 0, 0
        for lexeme in order:
            together += self._frequency(lexeme)
            if together > self.candidates and taken:
                break
            taken += 1
        return order[:taken], order[taken:]

    def _any(self, lexemes: Iterable[Lexeme]) -> str:
        texts = [lexeme.text for lexeme in lexemes]
        inside = [self.parts[text] for text in texts if text in self.parts]
        return any_of([*(quoted(self.space_id, text) for text in texts), *inside])

    def _rank(self, match: str, limit: int) -> dict[str, Match]:
        where, values = self.condition.where(match)
        sql, values = self._scored(where, values)
        order = "ORDER BY score DESC, created_at DESC, memory_id LIMIT %s"
        return _matches(f"SELECT {MATCH} FROM ({sql}) AS scored {order}", [*values, limit])

    def _scored(self, where: str, values: list[Any]) -> tuple[str, list[Any]]:
        """Write the query that scores the entries of a condition, no more than can be ranked in time."""
        k1, b = self.statistics.saturation
        inner: list[str] = []
        terms: list[str] = []
        parameters: list[Any] = [k1 * (1 - b), k1 * b / max(self.statistics.mean_length, 1.0)]
        weights: list[float] = []
        present = [lexeme for lexeme in self.lexemes if self.statistics.frequencies.get(lexeme.text)]
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
        vector = vector_read(len(inner), self.statistics.mean_length)
        sql = (
            f"SELECT memory_id, pinned, created_at, {' + '.join(terms) or '0'} AS score FROM ("
            f"SELECT memory_id, pinned, created_at, %s + %s * length AS norm{columns} FROM ("
            f"SELECT memory_id, pinned, created_at, length, {vector} FROM memories_searchable "
            f"WHERE {where} LIMIT {2 * self.candidates}) AS candidate OFFSET 0) AS matched"
        )
        return sql, [*weights, *parameters, *values]

    def _presences(self) -> list[tuple[str, float]]:
        """Give what counts by being there: neighbours in the order of the query, and parts of words."""
        found = []
        texts = {lexeme.text for lexeme in self.lexemes}
        for first, second, distance in self.query.pairs:
            if {first, second} <= texts:
                pair = f"{quoted(self.space_id, first)} <{distance}> {quoted(self.space_id, second)}"
                rarity = min(
                    self.statistics.idf(first) + self.statistics.idf(second), math.log(1 + 2 * self.statistics.entries)
                )
                found.append((pair, PAIR * rarity))
        found = sorted(found, key=lambda pair: -pair[1])[:MAX_PAIRS]
        for lexeme in self.lexemes:
            if lexeme.text in self.parts:
                weight = SUBSTRING * lexeme.weight * self.statistics.rarity(self.inside[lexeme.text])
                found.append((self.parts[lexeme.text], weight))
        return found


def _matches(sql: str, values: Sequence[Any]) -> dict[str, Match]:
    return {memory_id: Match(score, pinned, at) for memory_id, score, pinned, at in rows_of(sql, values)}
