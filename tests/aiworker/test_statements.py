"""When two statements say the same, by their words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bench
from aiworker.statements import Statement, words_of

PAIRS = json.loads((Path(bench.__file__).parent / "paraphrases.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("one", "other"), PAIRS["different"])
def test_no_other_fact_is_taken_for_the_same_however_near_its_vector(one: str, other: str) -> None:
    first, second = Statement(one), Statement(other)

    assert not first.repeats(second)
    assert not first.rephrases(second)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The user moved from Madrid to Lisbon in 2023", "In 2023 the user moved to Lisbon from Madrid"),
        ("The user runs the tests before every commit", "Before each commit the user runs the tests"),
        ("Depuis 2019, l'utilisateur vit à Lyon", "L'utilisateur habite à Lyon depuis 2019"),
        ("Die Nutzerin lebt in Köln", "Die Nutzerin wohnt in Köln"),
        ("The user owns two cats called Miso and Tofu", "The user has two cats named Miso and Tofu"),
    ],
)
def test_a_moved_phrase_and_words_of_one_meaning_may_say_the_same(one: str, other: str) -> None:
    assert Statement(one).rephrases(Statement(other))
    assert not Statement(one).repeats(Statement(other)), "the vectors have a word in it"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alice likes green tea", "Alice  LIKES green tea"),
        ("The user likes green tea in the morning", "User likes green tea in the mornings"),
        ("Die Nutzerin wohnt in Köln am Rhein", "Die Nutzerin wohnt in Köln am Rhein."),
        ("用户喜欢喝绿茶", "用户喜欢喝绿茶。"),
    ],
)
def test_the_same_said_twice(one: str, other: str) -> None:
    assert Statement(one).repeats(Statement(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alice has 3 children", "Alice has 4 children"),
        ("Alice eats meat", "Alice does not eat meat"),
        ("Alice lives in Bonn", "Alice lives in Berlin"),
        ("Alice likes tea", "Bob likes tea"),
        ("The deadline is 2026-05-01", "The deadline is 2026-05-02"),
        ("Alice mag Fleisch", "Alice mag kein Fleisch"),
        ("Alice likes tea", "Alice likes tea with milk and sugar after lunch"),
        ("用户喜欢喝绿茶", "用户喜欢喝红茶和咖啡"),
        ("", "Alice"),
    ],
)
def test_an_update_or_another_fact_is_not_the_same(one: str, other: str) -> None:
    assert not Statement(one).repeats(Statement(other))
    assert not Statement(one).rephrases(Statement(other))


def test_words_fold_case_and_accents_and_pair_scripts_without_spaces() -> None:
    assert words_of("Élan VITAL") == ["elan", "vital"]
    assert words_of("喜欢茶") == ["喜欢", "欢茶"]
    assert words_of("Anna's plan B isn't ready") == ["anna_s", "plan", "B", "is", "not", "ready"]
