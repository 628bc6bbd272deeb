"""The analyser: what a text's words are, for the index and for queries alike.

A text becomes tokens. Words of scripts that write spaces are taken plain (case and accents folded) and stemmed; runs of
scripts that do not (Chinese, Japanese, Thai, and Korean, whose particles stick to words) become single characters and
pairs, so that any run of characters inside a text is found. Identifiers (paths, versions, e-mail addresses, snake_case,
camelCase) are kept whole and split, and they and long words also give triples of characters, so that a part is found.

Everything here is pure: the same text and language give the same tokens on every machine. A change of what it gives
needs the entries to be written again, so VERSION names it.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from memories.stopwords import STOP_WORDS, guess_latin_language

VERSION = 1
SNOWBALL = {
    "ar": "arabic", "da": "danish", "nl": "dutch", "en": "english", "fi": "finnish", "fr": "french", "de": "german",
    "el": "greek", "hi": "hindi", "hu": "hungarian", "it": "italian", "no": "norwegian", "pt": "portuguese",
    "ro": "romanian", "ru": "russian", "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish",
}  # fmt: skip
"""The stemmer of each language, by the code that a space's language has."""

MAX_WORD = 64
LONG_WORD = 12
LONG_COMPOUND = 9
_COMPOUNDING = frozenset({"german", "dutch", "swedish", "danish", "norwegian", "finnish", "hungarian"})
_LATIN_SCRIPT = frozenset(SNOWBALL.values()) - {"arabic", "greek", "hindi", "russian", "tamil"}
_BY_SCRIPT = {"CYRILLIC": "russian", "ARABIC": "arabic", "DEVANAGARI": "hindi", "GREEK": "greek", "TAMIL": "tamil"}


def _char_class(codes: Iterable[int]) -> str:
    """Write code points as the inside of a regular expression's character class."""
    ranges: list[list[int]] = []
    for code in codes:
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{re.escape(chr(first))}-{re.escape(chr(last))}" for first, last in ranges)


_CODES = range(0x80, 0x1FB00)
_MARKS = _char_class(code for code in _CODES if unicodedata.category(chr(code)) in ("Mn", "Mc"))
_SYMBOLS = _char_class(
    code
    for code in _CODES
    if unicodedata.category(chr(code)) in ("So", "Sc", "Sm") and not 0x1F3FB <= code <= 0x1F3FF  # skin tones
)
# Thai, Lao, Myanmar, Khmer; Hangul; kana and Han with their extensions.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
    "\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
)
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
_SOUTH_EAST_ASIAN = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_WORD = rf"(?:(?![{_UNSPACED}])[^\W_][{_MARKS}\u200c\u200d]*)+"
_JOINER = r"[._\-/\\@:+~#=&?%]{1,3}"
_SCAN = re.compile(
    rf"(?P<run>[{_UNSPACED}]+)"
    rf"|(?P<chunk>{_WORD}(?:{_JOINER}{_WORD})+(?:\+\+|\#)?|{_WORD}(?:\+\+|\#))"
    rf"|(?P<word>{_WORD})"
    rf"|(?P<symbol>[\U0001f1e6-\U0001f1ff]{{2}}|[{_SYMBOLS}])"
)
_WORDS_IN_CHUNK = re.compile(_WORD)
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
_UNWANTED = re.compile("[\x00\ud800-\udfff\u00ad\u200b\u2060\ufeff\u0640]")
# Accents of Latin, Greek and Cyrillic; Hebrew points; Arabic vowel signs; joiners.
_DROPPED = re.compile("[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u200c\u200d]")
_FOLDED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ħ": "h", "ŧ": "t"}
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ة": "ه", "ک": "ك", "ی": "ي"}
)


@dataclass(frozen=True, slots=True)
class Token:
    """One unit of a text. ``stem`` equals ``word`` where nothing is stemmed; both are lexemes of the index.

    ``grams`` are the triples of an identifier or a long word, ``single`` marks a lone character of an unspaced run
    that its pairs cover already, ``part`` a piece of an identifier whose whole is a token too.
    """

    word: str
    stem: str
    position: int
    stop: bool = False
    single: bool = False
    part: bool = False
    grams: tuple[str, ...] = ()


def fold(word: str) -> str:
    """Fold case, accents and digits of one word, so that its common spellings are equal."""
    if word.isascii():
        return word.lower()
    decomposed = _DROPPED.sub("", unicodedata.normalize("NFD", word.casefold()))
    folded = unicodedata.normalize("NFC", decomposed).translate(_FOLDED)
    return "".join(str(unicodedata.decimal(char)) if char.isdecimal() else char for char in folded)


def tokens(text: str, language: str = "en") -> list[Token]:
    """Analyse a text, in order; characters that are no word or symbol are skipped.

    The script of a word tells its language. For the Latin script the stop words of the text do, and where there are
    none of them, or as many of two languages, ``language``: the code of the space's own.
    """
    clean = _UNWANTED.sub("", unicodedata.normalize("NFKC", text))
    found = [(match.lastgroup or "", match.group()) for match in _SCAN.finditer(clean)]
    latin = _latin_language(found, language)
    result: list[Token] = []
    position = 0
    for kind, piece in found:
        if kind == "run":
            made = list(_run_tokens(piece, position))
            position += len(piece)
        elif kind == "symbol":
            made = [Token(piece, piece, position)]
            position += 1
        else:
            made = list(_word_tokens(piece, position, latin))
            position = max((token.position for token in made), default=position - 1) + 1
        result += made
    return result


def _latin_language(found: list[tuple[str, str]], language: str) -> str:
    own = SNOWBALL.get(language, "english")
    own = own if own in _LATIN_SCRIPT else "english"
    return guess_latin_language((fold(piece) for kind, piece in found if kind == "word"), own)


def _run_tokens(run: str, position: int) -> Iterator[Token]:
    run = fold(run)
    for offset, char in enumerate(run):
        yield Token(char, char, position + offset, single=len(run) > 1)
        if offset + 1 < len(run):
            pair = run[offset : offset + 2]
            yield Token(pair, pair, position + offset)


def _word_tokens(piece: str, position: int, latin: str) -> Iterator[Token]:
    """A word, a hyphenated word, or an identifier: the whole first, its parts at positions from there on."""
    parts = _WORDS_IN_CHUNK.findall(piece)
    if len(parts) > 1 and _HYPHENATED.fullmatch(piece):  # the parts are words, and e-mail is email
        for offset, word in enumerate(parts):
            yield _token(word, position + offset, latin, part=False)
        yield _token("".join(parts), position, latin, part=True)
        return
    split = [part for word in parts for part in (_CAMEL.findall(word) if _is_camel(word) else [word])]
    whole = fold(piece)[:MAX_WORD]
    if len(split) == 1 and split[0] == piece:
        yield _token(piece, position, latin, part=False)
        return
    yield Token(whole, whole, position, grams=triples(fold(piece)))
    for offset, word in enumerate(dict.fromkeys([*parts, *split]) if len(parts) > 1 else split):
        if fold(word) != whole:
            yield _token(word, position + offset, latin, part=True)


def _token(word: str, position: int, latin: str, *, part: bool) -> Token:
    plain = fold(word)[:MAX_WORD]
    language = _language_of(plain, latin)
    stem = plain if len(word) > MAX_WORD else fold(stemmed(word.casefold(), language))
    limit = LONG_COMPOUND if language in _COMPOUNDING else LONG_WORD
    is_identifier = not plain.isalpha() and any(char.isalpha() for char in plain) and any(map(str.isdigit, plain))
    grams = triples(fold(word)) if not part and (is_identifier or len(plain) >= limit) else ()
    return Token(plain, stem or plain, position, plain in STOP_WORDS.get(language, ()), part=part, grams=grams)


def word_share(word: str) -> float:
    """Tell how much of a word a token is: a pair of Chinese, Japanese or Korean characters half, of Thai a quarter.

    Without that, texts of these scripts would count as several times as long as they are.
    """
    first = word[:1]
    if first.isascii() or not _UNSPACED_CHAR.match(first):
        return 1.0
    return 0.25 if _SOUTH_EAST_ASIAN.match(first) else 0.5


def triples(word: str) -> tuple[str, ...]:
    """Give the runs of three characters of a word, in order, of its first 256 characters."""
    word = word[:256]
    return tuple(word[at : at + 3] for at in range(len(word) - 2))


def _is_camel(word: str) -> bool:
    return word.isascii() and not word.islower() and not word.isupper() and bool(re.search("[a-z0-9][A-Z]", word))


@lru_cache(maxsize=4096)
def _script_of(char: str) -> str:
    return unicodedata.name(char, "").split(" ", 1)[0]


def _language_of(word: str, latin: str) -> str:
    script = "LATIN" if word[:1].isascii() else _script_of(word[:1])
    return _BY_SCRIPT.get(script, latin)


_stemmers = threading.local()  # a stemmer keeps the word it works on, so threads must not share one


@lru_cache(maxsize=200_000)
def stemmed(word: str, language: str) -> str:
    """Give the Snowball stem of a case-folded word; ``language`` is one of SNOWBALL's names."""
    made: dict[str, Any] = _stemmers.__dict__.setdefault("by_language", {})
    if language not in made:
        import snowballstemmer

        made[language] = snowballstemmer.stemmer(language)
    return str(made[language].stemWord(word))
