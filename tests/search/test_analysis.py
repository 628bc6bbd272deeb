"""The analyser: which lexemes a text gives, by the kind of text."""

from __future__ import annotations

import pytest

from memories.analysis import Token, fold, tokens, triples, word_share


def words(text: str, language: str = "en") -> list[str]:
    """Return the words of the text's tokens, in order."""
    return [token.word for token in tokens(text, language)]


def stems(text: str, language: str = "en") -> set[str]:
    """Return the stems of the text's tokens."""
    return {token.stem for token in tokens(text, language)}


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("CAFÉ", "cafe"),
        ("Łódź", "lodz"),
        ("Straße", "strasse"),
        ("Müller", "muller"),
        ("ЁЛКА", "елка"),
        ("القِطَّة", "القطه"),
        ("שָׁלוֹם", "שלום"),
        ("٤٢", "42"),
        ("Œuvre", "oeuvre"),
    ],
)
def test_case_accents_and_digits_are_folded(written: str, folded: str) -> None:
    assert fold(written) == folded


def test_plain_words_are_stemmed_in_english() -> None:
    assert stems("paintings painted") == {"paint"}


@pytest.mark.parametrize(
    ("text", "stem"),
    [
        ("Die Katzen schlafen auf dem Sofa", "katz"),
        ("Los gatos duermen en el sofá", "gat"),
        ("кошки спят на диване", "кошк"),
        ("Les chats dorment sur le canapé", "chat"),
    ],
)
def test_the_language_is_told_by_script_and_stop_words(text: str, stem: str) -> None:
    assert stem in stems(text)


def test_without_stop_words_the_language_of_the_space_decides() -> None:
    assert stems("Häuser", "de") == {"haus"}
    assert stems("Häuser", "en") == {"hauser"}


def test_chinese_gives_characters_and_pairs() -> None:
    assert words("记忆服务") == ["记", "记忆", "忆", "忆服", "服", "服务", "务"]


def test_single_characters_are_marked_where_pairs_cover_them() -> None:
    assert [token.single for token in tokens("记忆")] == [True, False, True]
    assert [token.single for token in tokens("记")] == [False]


@pytest.mark.parametrize("text", ["ภาษาไทย", "メモリ", "한국어", "ភាសា", "မြန်မာ"])
def test_scripts_without_spaces_give_pairs(text: str) -> None:
    assert {text[at : at + 2] for at in range(len(text) - 1)} <= set(words(text)) | {fold(text[:2])} | set(
        words(fold(text))
    )


def test_latin_words_inside_chinese_text_are_words() -> None:
    assert {"django", "我用", "开发"} <= set(words("我用Django开发"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("foo_bar_baz", {"foo_bar_baz", "foo", "bar", "baz"}),
        ("getUserName", {"getusername", "get", "user", "name"}),
        ("XMLHttpRequest", {"xmlhttprequest", "xml", "http", "request"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        ("C:\\Temp\\x.log", {"c:\\temp\\x.log", "temp", "log"}),
        ("v2.10.3", {"v2.10.3", "v2", "10", "3"}),
        ("ann.lee@example.com", {"ann.lee@example.com", "ann", "lee", "example", "com"}),
        ("https://example.com/a?b=1", {"https://example.com/a?b=1", "https", "example", "com"}),
        ("2026-06-29", {"2026-06-29", "2026", "06", "29"}),
        ("C++ and C# and node.js", {"c++", "c#", "node.js", "node", "js"}),
    ],
)
def test_identifiers_are_kept_whole_and_split(text: str, expected: set[str]) -> None:
    assert expected <= set(words(text))


def test_hyphenated_words_are_their_parts_and_the_word_without_the_hyphen() -> None:
    assert words("e-mail") == ["e", "mail", "email"]


def test_identifiers_and_long_words_give_triples() -> None:
    grams = {token.word: token.grams for token in tokens("a3f9bc and Krankenversicherung and short", "de")}

    assert grams["a3f9bc"] == ("a3f", "3f9", "f9b", "9bc")
    assert grams["krankenversicherung"] == triples("krankenversicherung")
    assert grams["short"] == ()


@pytest.mark.parametrize(("text", "symbol"), [("Party 🎉!", "🎉"), ("costs 5€", "€"), ("fly 🇩🇪", "🇩🇪"), ("👩‍💻", "💻")])
def test_emoji_and_symbols_are_words(text: str, symbol: str) -> None:
    assert symbol in words(text)


def test_skin_tones_and_variation_selectors_do_not_matter() -> None:
    assert words("👍🏽") == words("👍") == ["👍"]


def test_right_to_left_text_gives_words_in_reading_order() -> None:
    found = tokens("שלום עולם")

    assert [(token.word, token.position) for token in found] == [("שלום", 0), ("עולם", 1)]


def test_hindi_vowel_signs_stay_in_the_word() -> None:
    assert words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize("text", ["", "   ", "?!…—", "\x00", "\ud800", "\u200b\ufeff"])
def test_text_without_words_gives_no_tokens(text: str) -> None:
    assert tokens(text) == []


def test_nul_and_surrogates_inside_a_word_are_left_out() -> None:
    assert words("da\x00ta\ud83d base") == ["data", "base"]


def test_possessives_and_contractions_leave_stop_words_only() -> None:
    kept = [token.word for token in tokens("Caroline's dog doesn't") if not token.stop]

    assert kept == ["caroline", "dog"]


def test_positions_never_go_back_past_a_word_and_end_beyond_every_part() -> None:
    found = tokens("see src/app/main.py e-mail well")
    last = {token.word: token.position for token in found}

    assert last["src"] < last["app"] < last["main"] < last["py"] < last["e"] < last["mail"] < last["well"]


def test_very_long_words_are_cut() -> None:
    assert max(len(token.word) for token in tokens("x" * 9_000)) == 64


def test_the_same_text_gives_the_same_tokens_in_every_thread() -> None:
    from concurrent.futures import ThreadPoolExecutor

    text = "The quick brown foxes were jumping over lazy dogs; Häuser und Katzen laufen"
    expected: list[Token] = tokens(text)

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: tokens(text), range(200)))

    assert all(result == expected for result in results)


@pytest.mark.parametrize(
    ("word", "share"),
    [
        ("word", 1.0),
        ("слово", 1.0),
        ("हिन्दी", 1.0),
        ("记忆", 0.5),
        ("メモ", 0.5),
        ("한국", 0.5),
        ("ภา", 0.25),
        ("🎉", 1.0),
    ],
)
def test_pairs_of_characters_are_parts_of_words(word: str, share: float) -> None:
    assert word_share(word) == share
