"""Finding credentials in text, so that they are neither sent to a provider nor stored as memories."""

import math
import re
from collections import Counter
from dataclasses import dataclass

MARK = "[secret removed]"
# Shapes that are secrets wherever they stand.
SHAPES = re.compile(
    r"""
    -----BEGIN[ ][A-Z0-9 ]*PRIVATE[ ]KEY-----.*?(?:-----END[ ][A-Z0-9 ]*PRIVATE[ ]KEY-----|\Z)
    | \b(?:sk|pk|rk)[-_](?:ant|proj|live|test|or|svcacct|admin)?[-_]?[A-Za-z0-9_-]{16,}
    | \bom_[A-Za-z0-9_-]{40,}
    | \b(?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{30,} | \bgithub_pat_[A-Za-z0-9_]{40,} | \bglpat-[A-Za-z0-9_-]{18,}
    | \bxox[abeoprs]-[A-Za-z0-9-]{10,} | \bxapp-[A-Za-z0-9-]{10,}
    | \b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b | \bAIza[A-Za-z0-9_-]{35} | \bya29\.[A-Za-z0-9_-]{20,}
    | \bhf_[A-Za-z0-9]{30,} | \bnpm_[A-Za-z0-9]{36} | \bpypi-[A-Za-z0-9_-]{50,} | \bdop_v1_[a-f0-9]{64}
    | \bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{30,} | \bSK[a-f0-9]{32}\b | \bAC[a-f0-9]{32}\b
    | \beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    | (?<=://)[^\s/:@]+:[^\s/@]+(?=@)
    """,
    re.VERBOSE | re.DOTALL,
)
# A value behind a name that announces a secret, in the larger languages of the interface.
NAMED = re.compile(
    r"""
    (?P<name>\b(?:pass(?:word|wd|phrase|code)|pwd|secret(?:[ _-]?(?:key|token))?|api[ _-]?key|access[ _-]?(?:key|token)|
      auth(?:orization)?[ _-]?token|refresh[ _-]?token|bearer|pin(?:[ ]?(?:code|number))?|cvv|cvc|
      passwort|kennwort|mot[ ]de[ ]passe|contrase(?:ñ|n)a|senha|wachtwoord|l(?:ö|o)senord|has(?:ł|l)o|salasana)\b
      |пароль|密码|密碼|パスワード|비밀번호|पासवर्ड|كلمة[ ]المرور|รหัสผ่าน)
    (?P<link>[ \t]*(?:(?:for|of|to|für|pour|de)[ ][\w.@-]+(?:[ ][\w.@-]+)?[ ])?
      (?:is|was|ist|lautet|est|es|é|è|är|on|to|=>|->|:=|[:=是は는\uff1a])[ \t]*["'`«„“]?)
    (?P<value>[^\s"'`«»„“”,;]{4,})
    """,
    re.VERBOSE | re.IGNORECASE,
)
BEARER = re.compile(r"(?P<name>\bBearer)(?P<link>[ ]+)(?P<value>[A-Za-z0-9._~+/-]{16,}=*)")
CARD = re.compile(r"(?<![\d-])(?:\d[ -]?){12,18}\d(?![\d-])")
IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){3,7}(?:[ ]?[A-Z0-9]{1,3})?\b")
TOKEN = re.compile(r"(?<![\w/.@-])[A-Za-z0-9+/_-]{24,}={0,2}(?![\w/.@-])")
# Words that follow such a name in talk about secrets rather than in a secret.
_TALK = """not the a an stored required wrong correct invalid needed too very never always being used managed kept
    protected hashed encrypted changed expired rotated missing empty long short weak strong safe secure manager that
    this what set only now still also based available unknown nicht ein eine der die das sehr zu pas un une le la no
    una el"""
TALK = frozenset(_TALK.split())


def _luhn(digits: str) -> bool:
    total = 0
    for index, digit in enumerate(reversed(digits)):
        value = int(digit) * (2 if index % 2 else 1)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _iban(text: str) -> bool:
    compact = text.replace(" ", "")
    moved = compact[4:] + compact[:4]
    return 15 <= len(compact) <= 34 and int("".join(str(int(letter, 36)) for letter in moved)) % 97 == 1


def _random(token: str) -> bool:
    """Return whether a long token looks drawn at random: mixed kinds of characters and high entropy."""
    kinds = sum(bool(re.search(kind, token)) for kind in ("[a-z]", "[A-Z]", "[0-9]"))
    if kinds < 3:
        return False
    counts = Counter(token)
    entropy = -sum(n / len(token) * math.log2(n / len(token)) for n in counts.values())
    return entropy > 3.8


def secret_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each credential in a text, in order and without overlaps."""
    spans = [match.span() for match in SHAPES.finditer(text)]
    spans += [match.span() for match in CARD.finditer(text) if _luhn(re.sub(r"\D", "", match.group()))]
    spans += [match.span() for match in IBAN.finditer(text) if _iban(match.group())]
    spans += [match.span() for match in TOKEN.finditer(text) if _random(match.group())]
    for pattern in (NAMED, BEARER):
        for match in pattern.finditer(text):
            value = match.group("value").rstrip(".!?)]}")
            if len(value) >= 4 and value.casefold() not in TALK and not MARK.startswith(match.group("value")):
                spans.append((match.start("value"), match.start("value") + len(value)))
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


@dataclass(frozen=True, slots=True)
class Masked:
    """A text with each credential replaced by MARK, and the way back from its places to those of the original."""

    text: str
    spans: tuple[tuple[int, int], ...]

    def original(self, position: int) -> int:
        """Return the place in the original of a place in the masked text."""
        grown = 0  # by how much the text before this place has grown
        for start, end in self.spans:
            if position <= start + grown:
                break
            if position < start + grown + len(MARK):
                return start
            grown += len(MARK) - (end - start)
        return position - grown


def text_mask(text: str) -> Masked:
    """Return a text without its credentials."""
    spans = tuple(secret_spans(text))
    pieces, last = [], 0
    for start, end in spans:
        pieces += [text[last:start], MARK]
        last = end
    return Masked("".join([*pieces, text[last:]]) if spans else text, spans)


def secrets_mask(text: str) -> tuple[str, int]:
    """Return the text with each credential replaced by MARK, and how many there were."""
    masked = text_mask(text)
    return masked.text, len(masked.spans)
