"""What a rewritten text must keep."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dreams.details import keeps_details


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("User prefers dark mode", "The user prefers dark mode."),
        ("Anna's dog is called Rex", "Rex is the dog of Anna"),
        ("Lives in Berlin since 2019", "Since 2019: lives in Berlin"),
        ("Pays $5.50 at 10:30", "At 10:30 pays $5.50."),
        ("Write to anna@example.com (work)", "For work, write to anna@example.com"),
        ("See https://example.com/a?b=1.", "For more see https://example.com/a?b=1"),
        ("I like the sea", "likes the sea"),
        ("住在北京", "住在北京，2019"),
    ],
)
def test_these_keep_everything(old: str, new: str) -> None:
    assert keeps_details(new, [old])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Lives in Berlin since 2019", "Lives in Berlin"),
        ("Lives in Berlin since 2019", "Lives there since 2019"),
        ("Has 3 cats", "Has cats"),
        ("Has three cats", "Has cats"),
        ("Version 1.2.3", "Version 1.2"),
        ("Costs 1,000", "Costs 1000"),
        ("Balance is -5", "Balance is 5"),
        ("Growth of 5%", "Growth of 5"),
        ("Meets on 2026-03-04", "Meets on 2026-03-05"),
        ("Meets in may", "Meets"),
        ("Se reúne el 4 de mayo", "Se reúne el 4"),
        ("Will lives there", "lives there"),
        ("Write to anna@example.com", "Write to Anna"),
        ("The file src/app.py", "The file app"),
        ("Owns an iPhone", "Owns a phone"),
        ("Works at ACME", "Works there"),
        ("Does not like tea", "Likes tea"),
        ("Never eats nuts", "Eats nuts"),
        ("Doesn't drive", "drives"),
        ("住在北京", "住在上海"),
        ("Живёт в Москве", "Живёт там"),
        ("يعيش في القاهرة", "يعيش هناك"),
        ("दिल्ली में रहता है", "रहता है"),
        ("Straße 5, Köln", "Straße 5"),
    ],
)
def test_these_lose_something(old: str, new: str) -> None:
    assert not keeps_details(new, [old])


def test_every_replaced_text_counts() -> None:
    assert keeps_details("Anna and Bob", ["Anna", "Bob"])
    assert not keeps_details("Anna", ["Anna", "Bob"])


WORDS = st.sampled_from(["walks", "home", "with", "tea", "slowly", "green"])
DETAILS = st.sampled_from(["Anna", "2019", "12:30", "a@b.org", "Köln", "https://x.org/y", "v1.2", "7%", "ACME", "5€"])


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(DETAILS, min_size=1, max_size=4, unique=True), st.randoms())
def test_any_order_keeps_and_any_omission_loses(words: list[str], kept: list[str], random: object) -> None:
    old = [*words, *kept]
    random.shuffle(old)  # type: ignore[attr-defined]
    new = list(old)
    random.shuffle(new)  # type: ignore[attr-defined]
    assert keeps_details(" ".join(new), [" ".join(old)])
    for detail in kept:
        assert not keeps_details(" ".join(word for word in new if word != detail), [" ".join(old)])


@given(st.text(max_size=200))
def test_a_text_keeps_itself(text: str) -> None:
    assert keeps_details(text, [text])
