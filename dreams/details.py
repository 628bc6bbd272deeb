"""What a rewritten text must keep of the one it replaces: numbers, dates, addresses and proper nouns.

The check errs on the side of keeping. A word with a capital letter is taken for a name wherever it stands, unless it
opens a sentence and is one of the words that often do. Scripts without capitals show no names, so all of their words
count. Words that turn a sentence into its opposite count as well.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import groupby

TRIMMED = ".,;:!?()[]{}<>\"'“”„‘’«»‹›…*`_~|¡¿、。，！？；：（）「」『』"
SENTENCE_ENDS = (".", "!", "?", ":", "…", "。", "！", "？")
WORD = re.compile(r"[^\W_]+")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words that open sentences and are nobody's name.
OPENERS = _words(
    "a an and are as at but by do does for from had has have he her his i if in is it its my of on or our she so "
    "that the their there these they this those to user was we were when with you your"
)
NEGATIONS = _words(
    "ain aren cannot couldn didn doesn don hadn hasn haven isn kein keine keinen keiner nein neither never nicht nie "
    "no non none nor not nothing nunca pas sans shouldn sin wasn weren without won wouldn"
)
NUMBER_WORDS = _words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen "
    "half twice"
)
# Months and weekdays of the languages that write them without a capital.
DATE_WORDS = _words(
    "january february march april may june july august september october november december monday tuesday wednesday "
    "thursday friday saturday sunday today tomorrow yesterday "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles "
    "jueves viernes sábado domingo "
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi "
    "vendredi samedi dimanche "
    "gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre lunedì martedì mercoledì giovedì venerdì "
    "sabato domenica "
    "janeiro fevereiro março maio junho julho setembro outubro dezembro "
    "januari februari maart mei juni juli augustus oktober maandag dinsdag woensdag donderdag vrijdag zaterdag zondag "
    "måndag tisdag onsdag torsdag fredag lördag söndag"
)  # fmt: skip
KEPT_WORDS = NEGATIONS | NUMBER_WORDS | DATE_WORDS


def _kind(character: str) -> str:
    """Return what a character is part of: white space, a word of a script without capitals, or anything else."""
    if character.isspace():
        return "space"
    category = unicodedata.category(character)
    return "caseless" if category in {"Lo", "Lm", "Mc", "Mn"} else "other"


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield the runs of a text that hold no white space, each with its kind."""
    for kind, characters in groupby(unicodedata.normalize("NFC", text), _kind):
        if kind != "space":
            yield kind, "".join(characters)


def _exact(piece: str) -> bool:
    """Return whether a piece is a number, a date, an address or an identifier, which is kept letter by letter."""
    return any(character.isdigit() or character in "@/\\" for character in piece) or "." in piece


def details(text: str) -> frozenset[str]:
    """Return everything that a rewriting of this text must keep, in lower case."""
    found: set[str] = set()
    opening = True
    for kind, piece in _pieces(text):
        trimmed = piece.strip(TRIMMED)
        if kind == "caseless":
            found.add(piece)
        elif _exact(trimmed):
            found.add(trimmed.casefold())
        else:
            for word in WORD.findall(trimmed):
                folded = word.casefold()
                named = word != word.lower() and not (opening and folded in OPENERS) and folded != "i"
                if named or folded in KEPT_WORDS:
                    found.add(folded)
                opening = False
        opening = piece.endswith(SENTENCE_ENDS) or (opening and not trimmed)
    return frozenset(found)


def _present(text: str) -> tuple[frozenset[str], str]:
    """Return the words and pieces that a text has, and the text itself for scripts that do not part their words."""
    found: set[str] = set()
    for _, piece in _pieces(text):
        found.add(piece.strip(TRIMMED).casefold())
        found.update(word.casefold() for word in WORD.findall(piece))
    return frozenset(found), unicodedata.normalize("NFC", text)


def keeps_details(new: str, old: Iterable[str]) -> bool:
    """Return whether a text keeps every number, date, address and proper noun of the texts that it replaces."""
    words, whole = _present(new)
    return all(
        detail in words or (_kind(detail[0]) == "caseless" and detail in whole)
        for text in old
        for detail in details(text)
    )
