"""Queries that mean harm, or nothing: every one is answered."""

from __future__ import annotations

import pytest

from tests.factories import People
from tests.search.support import MODES, search, store

pytestmark = pytest.mark.django_db

QUERIES = [
    "x",
    "?",
    "?!…—",
    "🎉",
    "🎉🎊👩‍💻🇩🇪",
    "& | ! :* <-> ' \\ ( )",
    "a & b | !c",
    "word:*",
    "'",
    "''\\'",
    "\\",
    "a' | 'b",
    "'); DROP TABLE memories_memory; --",
    "%s %(name)s %%",
    "a\x00b",
    "\x00",
    "\ud800",
    "half \ud83d emoji",
    "\u202eright to left\u202c",
    "the",
    "of the and to",
    "_" * 50,
    "a." * 900,
    "x" * 2_000,
    "记" * 2_000,
    "word " * 400,
    " ".join(f"w{number}" for number in range(400)),
    " ".join(f"user_{number}.profile-{number * 31}@host" for number in range(80)),
    "".join(map(chr, range(0x4E00, 0x4E00 + 2_000))),
    "ﷺ" * 100,
    "e\u0301" * 500,
    "<script>alert(1)</script>",
    "mem_aaaaaaaaaaaaaaaa",
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("q", QUERIES, ids=lambda q: q[:12].encode("unicode_escape").decode())
def test_is_answered_the_same_way_twice(people: People, mode: str, q: str) -> None:
    access = people.access()
    store(access, "An ordinary memory about gardening", "word & another | thing's \\ (brackets)", "记忆")

    first, second = search(access, q, mode), search(access, q, mode)

    assert first == second
    assert first.mode_used == mode


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_space_has_no_hits(people: People, mode: str) -> None:
    result = search(people.access(), "anything", mode)

    assert (result.hits, result.total, result.pending) == ([], 0, 0)


def test_text_with_quotes_is_found_by_it(people: People) -> None:
    access = people.access()
    wanted = store(access, "Rock'n'roll \\ o'clock")[0]

    assert [hit.memory_id for hit in search(access, "o'clock \\", "keyword").hits] == [wanted.id]
