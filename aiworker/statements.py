"""Whether two statements say the same. What does is not stored again, so nothing else may be taken for it.

Near vectors alone do not tell: "moved from Madrid to Lisbon" is nearer to "moved from Lisbon to Madrid" than to any
paraphrase (`make bench-duplicates`). So the words decide: names, numbers, negations, tenses and all else that could
make another fact must agree, and so must their order. Articles, forms of "to be" and a plural s may differ; where the
vectors say as well that both mean the same, so may the place of a phrase with a preposition, and words of one meaning.
"""

import re
import unicodedata
from collections import Counter

from api.text import text_normal

TOKEN = re.compile(r"\w+|[,;:.!?]")
POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")
CONTRACTED = re.compile(r"n['’]t\b")
ELIDED = re.compile(r"\b(?:l|L)['’](?=\w)")
ENDS = frozenset(",;:.!?")


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# In the larger languages of Latin script; elsewhere every word counts. No list holds a past tense or a "not".
ARTICLES = _set(
    "a an the der die das ein eine einen einem einer dem den le la les un une el los las lo il gli uno het een"
)
COMMON = ARTICLES | _set(
    """user users nutzer nutzerin benutzer benutzerin utilisateur utilisatrice usuario usuaria utente gebruiker
    is are am be do does its their and currently now ist sind und est sont et es son sono zijn"""
)
PREPOSITIONS = _set(
    """in on at to for from with without by before after over under since until during between about into against
    through via im auf bei mit von vom zu zum zur nach vor seit bis über unter aus ohne au aux dans sur pour avec par
    depuis avant après chez sans al con por para desde hasta antes después da dal per senza sin"""
)
GROUPS = """each every|live reside|lives resides wohnt lebt|begin start|began started|buy purchase|bought purchased
    |named called|has have own owns possess possesses ha possiede|favourite favorite|colour color|film movie|kid child
    |kids children|mom mum mother|dad father|immer stets|habite vit|vive reside"""
SYNONYMS = {word: group.split()[0] for group in GROUPS.split("|") for word in group.split()}


def _unspaced(letter: str) -> bool:
    """Return whether a letter belongs to a script without spaces: Chinese, Japanese, Korean, Thai."""
    return "\u2e80" <= letter <= "\uffdc" or "\u0e00" <= letter <= "\u0e7f"


def tokens_of(text: str) -> list[str]:
    """Return the words and punctuation marks of a text without case and accents.

    Scripts without spaces give pairs of characters; a capital letter by itself, as in "plan A", stays one.
    """
    text = ELIDED.sub("", CONTRACTED.sub(" not", POSSESSIVE.sub("_s", text)))
    tokens: list[str] = []
    for match in TOKEN.finditer(text):
        decomposed = unicodedata.normalize("NFKD", match.group())
        word = "".join(mark for mark in decomposed if not unicodedata.combining(mark))
        folded = word if len(word) == 1 and tokens else word.casefold()
        dense = not folded.isascii() and any(map(_unspaced, folded))
        tokens += [folded[i : i + 2] for i in range(max(1, len(folded) - 1))] if dense else [folded]
    return tokens


def words_of(text: str) -> list[str]:
    """Return the words of a text without case and accents."""
    return [token for token in tokens_of(text) if token not in ENDS]


def _singular(word: str) -> str:
    """Return a word without the s of a plural or of a third person."""
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is", "_s")) else word


class Statement:
    """A text taken apart once, to be compared with many others.

    `words` are those that tell something, in order. `core` are the words of one meaning alike that belong to no phrase
    with a preposition, `phrases` those phrases, which may stand anywhere.
    """

    __slots__ = ("core", "normal", "phrases", "words")

    def __init__(self, text: str) -> None:
        self.normal = text_normal(text).casefold()
        tokens = tokens_of(text)
        self.words = [_singular(word) for word in tokens if word not in COMMON and word not in ENDS]
        self.core: list[str] = []
        self.phrases: Counter[tuple[str, ...]] = Counter()
        phrase: list[str] = []
        for token in [*tokens, "."]:
            closed = token in ENDS or token in PREPOSITIONS or (token in ARTICLES and len(phrase) > 1)
            if phrase and closed:
                self.phrases[tuple(phrase)] += 1
                phrase = []
            if token in PREPOSITIONS:
                phrase = [token]
            elif token not in COMMON and token not in ENDS:
                (phrase or self.core).append(SYNONYMS.get(token) or SYNONYMS.get(_singular(token)) or _singular(token))

    def repeats(self, other: "Statement") -> bool:
        """Return whether both use the same telling words in the same order."""
        return self.normal == other.normal or (bool(self.words) and self.words == other.words)

    def rephrases(self, other: "Statement") -> bool:
        """Return whether both may say the same in other words: only where their vectors agree do they."""
        return bool(self.words) and self.core == other.core and self.phrases == other.phrases
