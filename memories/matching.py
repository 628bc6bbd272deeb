"""Which texts a forget means: facts by all of its words, journal and records by the exact phrase."""

import re
import unicodedata
from collections.abc import Iterable

from django.db.models import CharField, F, Func, Q, Value

from memories.models import MemoryQuerySet

TRIMMED = ".,;:!?()[]{}<>\"'“”„‘’«»…*`~|¡¿、。，！？；：「」"
# Scripts that do not part their words: any run of characters may be a word.
UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def folded(text: str) -> str:
    """Return a text with composed letters and without case."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


class AllWords:
    """Matches texts that contain every word of a query, whole words only, whatever their case."""

    def __init__(self, query: str) -> None:
        parts = (part.strip(TRIMMED) for part in folded(query).split())
        self.words = list(dict.fromkeys(filter(None, parts)))
        self.patterns = [self._pattern(word) for word in self.words]

    @staticmethod
    def _pattern(word: str) -> re.Pattern[str]:
        if UNSPACED.search(word):
            return re.compile(re.escape(word))
        return re.compile(rf"(?<!\w){re.escape(word)}(?!\w)")

    def match(self, *texts: str) -> bool:
        """Return whether the texts together contain every word; without words nothing matches."""
        text = folded("\n".join(texts))
        return bool(self.patterns) and all(pattern.search(text) for pattern in self.patterns)

    def narrowed(self, rows: MemoryQuerySet) -> MemoryQuerySet:
        """Return the rows that may match, so that a large space is not read whole; `match` has the last word.

        Only plain words narrow: databases fold the case of other letters in their own ways.
        """
        tags = Func(F("tags"), Value(" "), function="array_to_string", output_field=CharField())
        rows = rows.annotate(tag_text=tags)
        for word in filter(str.isascii, self.words):
            rows = rows.filter(Q(content__icontains=word) | Q(subject__icontains=word) | Q(tag_text__icontains=word))
        return rows


class Phrase:
    """Matches texts that contain a phrase as it stands, whatever its case."""

    def __init__(self, phrase: str) -> None:
        self.text = phrase.strip()
        self.pattern = re.compile(re.escape(self.text), re.IGNORECASE)

    def match(self, text: str) -> bool:
        """Return whether the text contains the phrase."""
        return self.pattern.search(text) is not None

    def redacted(self, text: str) -> str:
        """Return the text with "[redacted]" in place of the phrase."""
        return self.pattern.sub("[redacted]", text)

    def excerpt(self, texts: Iterable[str]) -> str:
        """Return the surroundings of the first match, up to 200 characters."""
        for text in texts:
            found = self.pattern.search(text)
            if found:
                return text[max(0, found.start() - 60) :][:200]
        return ""
