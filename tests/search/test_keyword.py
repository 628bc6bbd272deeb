"""Keyword search: what is found, what counts more, and how many there are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.analysis import word_share
from memories.keyword import MAX_LENGTH, MAX_LEXEMES, MAX_PAIRS, MAX_PARTS, MAX_WORDS, analyse
from memories.models import Memory
from tests.factories import People, memory_make
from tests.search.support import found, search, store, store_together

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("content", "q"),
    [
        ("Caroline paints landscapes", "painting"),
        ("记忆服务很好用", "忆服"),
        ("我喜欢喝茶", "茶"),
        ("私はメモリが好きです", "メモリ"),
        ("저는 한국어를 공부합니다", "한국어"),
        ("ผมชอบกินอาหารไทย", "อาหาร"),
        ("मुझे हिन्दी फ़िल्में पसंद हैं", "हिन्दी"),
        ("يحب القهوة العربية", "قهوة"),
        ("שלום עולם", "עולם"),
        ("кошки спят на диване", "кошка"),
        ("Ich wohne in der Müllerstraße", "müllerstrasse"),
        ("Café au lait, s'il vous plaît", "cafe"),
        ("Die Krankenversicherung kostet mehr", "Versicherung"),
        ("see getUserProfileById for details", "UserProfile"),
        ("see getUserProfileById for details", "getUserProfileById"),
        ("edit src/app/settings_local.py first", "src/app/settings_local.py"),
        ("edit src/app/settings_local.py first", "settings_local"),
        ("pinned to v2.10.3 last week", "v2.10.3"),
        ("pinned to v2.10.3 last week", "2.10"),
        ("write to ann.lee@example.com", "ann.lee@example.com"),
        ("write to ann.lee@example.com", "example.com"),
        ("commit a3f9bc77d2e1 broke it", "bc77d2"),
        ("the party was great 🎉", "🎉"),
        ("C++ is faster here", "c++"),
        ("reply by e-mail please", "email"),
        ("reply by email please", "e-mail"),
        ("to be or not to be", "to be"),
    ],
)
def test_finds(people: People, content: str, q: str) -> None:
    access = people.access()
    wanted = store(access, content)[0]
    store(access, "Nothing of interest happened yesterday", "昨天没有发生任何事情", "Nichts geschah am Montag")

    assert found(access, q, "keyword") == [wanted.id]


def test_any_word_matches_and_more_words_rank_higher(people: People) -> None:
    access = people.access()
    one, two, _ = store(access, "red apples", "red apples and green pears", "a blue sky")

    assert found(access, "green apples", "keyword") == [two.id, one.id]


def test_rare_words_count_more_than_common_ones(people: People) -> None:
    access = people.access()
    store(access, *(f"project note {number}" for number in range(10)))
    rare = store(access, "zebra migration plan")[0]

    assert found(access, "project zebra", "keyword")[0] == rare.id


def test_words_next_to_each_other_rank_higher(people: People) -> None:
    access = people.access()
    apart, together = store(
        access, "the machine was slow and learning was hard there", "machine learning was hard and slow there was"
    )

    assert found(access, "machine learning", "keyword") == [together.id, apart.id]


def test_tags_and_subject_count_more_than_text(people: People) -> None:
    access = people.access()
    in_text = store(access, "we talked of cooking at length on friday")[0]
    tagged = memory_make(access, content="we talked of dinner at length on friday", tags=["cooking"])
    about = memory_make(access, content="we talked of dinner at length on monday", tags=[], subject="cooking")

    ranked = found(access, "cooking", "keyword")
    assert set(ranked[:2]) == {tagged.id, about.id}
    assert ranked[2] == in_text.id


def test_stop_words_are_left_out_beside_another_word(people: People) -> None:
    access = people.access()
    wanted, _ = store(access, "the painter of the house", "the end of the day")

    assert found(access, "who is the painter", "keyword") == [wanted.id]


def test_total_counts_every_match_beyond_the_limit(people: People) -> None:
    access = people.access()
    store(access, *(f"apple number {number}" for number in range(7)), "one pear")

    result = search(access, "apple", "keyword", limit=3)

    assert (len(result.hits), result.total) == (3, 7)


def test_equal_matches_come_newest_first_and_always_in_the_same_order(people: People) -> None:
    access = people.access()
    made = store(access, *["the same words"] * 5)
    newest_first = [
        memory.id for memory in sorted(made, key=lambda memory: (-memory.created_at.timestamp(), memory.id))
    ]

    assert found(access, "same words", "keyword") == found(access, "same words", "keyword") == newest_first


def test_a_word_of_the_space_is_not_searched_inside_of_others(people: People) -> None:
    access = people.access()
    rate, _ = store(access, "the rate is high", "the configuration is long")

    assert found(access, "rate", "keyword") == [rate.id]


@pytest.mark.parametrize("status", [Memory.Status.QUARANTINED, Memory.Status.SUPERSEDED])
def test_what_is_not_active_is_not_found(people: People, status: str) -> None:
    from accounts.access import space_transaction
    from memories.indexing import index_memories

    access = people.access()
    memory = store(access, "hidden treasure")[0]
    memory.status = status
    with space_transaction(access):
        memory.save()
        index_memories([memory])

    assert [found(access, "treasure", mode) for mode in ("keyword", "semantic", "hybrid")] == [[], [], []]


def test_what_has_expired_is_not_found(people: People) -> None:
    access = people.access()
    store(access, "expired treasure", expires_at=(timezone.now() - timedelta(seconds=1)).isoformat())
    kept = store(access, "kept treasure", expires_at=(timezone.now() + timedelta(days=1)).isoformat())[0]

    assert found(access, "treasure", "keyword") == [kept.id]
    assert search(access, "treasure", "keyword").total == 1


@pytest.mark.parametrize(
    "q",
    [
        " ".join(f"word{number}" for number in range(300)),
        " ".join(f"user_{number}.name@host{number}" for number in range(80)),
        " ".join(f"absent{number}x" for number in range(250)),
        "".join(map(chr, range(0x4E00, 0x4E00 + 2_000))),
        "ภาษาไทย" * 200,
    ],
    ids=["words", "identifiers", "unknown", "Han", "Thai"],
)
def test_a_long_query_does_no_more_than_a_bounded_work(people: People, q: str) -> None:
    access = people.access()
    store(access, *("elsewhere" if q.startswith("absent") else q[at : at + 500] for at in range(0, len(q), 500)))

    with CaptureQueriesContext(connection) as captured:
        search(access, q, "keyword")

    looked_up = analyse(q, "en").lexemes
    assert len(looked_up) <= MAX_LEXEMES
    assert sum(word_share(lexeme.text) for lexeme in looked_up) <= MAX_LENGTH
    ranking = max((query["sql"] for query in captured), key=lambda sql: sql.count("ts_rank"))
    assert ranking.count("ts_rank") <= min(MAX_WORDS / word_share(q[:1]), MAX_LEXEMES)
    assert ranking.count("AS presence") <= MAX_PAIRS + MAX_PARTS


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take any space of more than 20 memories for a large one."""
    from memories import keyword, statistics

    monkeypatch.setattr(statistics, "COUNTED_LIVE", 20)
    monkeypatch.setattr(keyword, "COUNTED_LIVE", 20)
    monkeypatch.setattr(statistics, "COUNTED_NOW_AND_THEN", 20)
    monkeypatch.setattr(statistics, "COMMON", 20)
    monkeypatch.setattr(statistics, "SAMPLE_ROWS", 20)
    monkeypatch.setattr(statistics, "_sizes", statistics.Remembered())
    monkeypatch.setattr(statistics, "_frequencies", statistics.Remembered())
    monkeypatch.setattr(keyword, "SCORES", 1)


@pytest.mark.usefixtures("large")
def test_a_large_space_finds_the_rare_word_first_and_counts_all(people: People) -> None:
    access = people.access()
    store(access, *(f"common word {number} here" for number in range(250)))
    rare = store(access, "a zebra with a common word")[0]

    result = search(access, "zebra common", "keyword", limit=20)

    assert result.hits[0].memory_id == rare.id
    assert (len(result.hits), result.total) == (20, 251)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("q", ["zebra common word", "zebra 1796070"])
def test_what_a_rare_word_finds_is_not_lost_among_more_than_can_be_ranked(people: People, q: str) -> None:
    access = people.access()
    store_together(access, (f"common word on day 1796070{number:06d}" for number in range(600)))
    rare = store(access, "a zebra")[0]

    result = search(access, q, "keyword", limit=20)

    assert result.hits[0].memory_id == rare.id
    assert (len(result.hits), result.total) == (20, 601)


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("others", [0, 250], ids=["the space was small", "the word was rare"])
def test_a_rare_word_is_found_right_after_an_import_made_another_common(
    people: People, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    from memories import statistics

    monkeypatch.setattr(statistics, "COMMON", 200)
    access = people.access()
    store_together(access, (f"remark {number}" for number in range(others)))
    store_together(access, (f"common word {number}" for number in range(150)))
    search(access, "zebra common", "keyword")  # what it counts may be remembered
    store_together(access, (f"common news {number}" for number in range(600)))
    rare = store(access, "a zebra")[0]

    assert found(access, "zebra common", "keyword", limit=20)[0] == rare.id


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("few", [8, 1], ids=["counted first", "estimated first"])
def test_a_large_space_estimates_common_words_from_its_sample(
    people: People, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    from accounts.access import space_transaction
    from memories import statistics
    from memories.statistics import statistics_of

    monkeypatch.setattr(statistics, "FEW", few)
    access = people.access()
    store(access, *(f"common word {number}" for number in range(400)))
    with space_transaction(access):
        known = statistics_of(access.space_id, ["common", "7", "absent"])

    assert 100 <= known.frequencies["common"] <= 1_600
    assert 100 <= known.entries <= 1_600
    assert (known.frequencies["7"], known.frequencies["absent"]) == (1, 0)


@pytest.mark.usefixtures("large")
def test_a_word_that_the_sample_lacks_is_counted_all_the_same(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    from accounts.access import space_transaction
    from memories import statistics
    from memories.lexemes import sample_lexemes

    monkeypatch.setattr(statistics, "FEW", 1)
    access = people.access()
    stored = store(access, *(f"common word {number}" for number in range(60)))
    outside = next(memory.content.split()[-1] for memory in stored if not sample_lexemes(memory.id))
    with space_transaction(access):
        known = statistics.statistics_of(access.space_id, ["common", outside, "absent"])

    assert (known.frequencies[outside], known.frequencies["absent"]) == (1, 0)


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a query of more than one word match no more than 50 memories together."""
    from memories import keyword

    monkeypatch.setattr(keyword, "ALWAYS_MATCHED", 1)
    monkeypatch.setattr(keyword, "MATCHED", 50)


@pytest.mark.usefixtures("narrow")
def test_what_a_long_query_shares_with_most_memories_orders_but_does_not_find(people: People) -> None:
    access = people.access()
    store_together(access, (f"common remark {number}" for number in range(60)))
    alone, both = store(access, "a zebra is rare", "a zebra is common")

    result = search(access, "zebra common", "keyword", limit=20)

    assert [hit.memory_id for hit in result.hits] == [both.id, alone.id]
    assert result.total == 2


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(("count", "q"), [(60, "common"), (40, "zebra common")], ids=["one word", "small space"])
def test_a_short_query_and_a_small_space_are_searched_for_every_word(people: People, count: int, q: str) -> None:
    access = people.access()
    store_together(access, (f"common remark {number}" for number in range(count)))
    store(access, "a zebra")

    assert search(access, q, "keyword").total == count + ("zebra" in q)


@pytest.mark.usefixtures("large")
def test_long_texts_are_unpacked_once_and_found_alike(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    from memories import statistics

    access = people.access()
    store_together(access, (f"common word {number} " + f"padding{number % 7} " * 1_000 for number in range(30)))

    def asked() -> tuple[list[str], bool]:
        with CaptureQueriesContext(connection) as captured:
            ids = found(access, "common padding3 word 5", "keyword")
        return ids, any("lexemes || ''" in query["sql"] for query in captured)

    ids, unpacked = asked()
    monkeypatch.setattr(statistics, "UNPACKED_FROM", 10**9)

    assert unpacked
    assert asked() == (ids, False)
