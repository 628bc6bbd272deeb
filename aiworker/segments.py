"""Cutting a transcript: numbered segments that a model can cite, and overlapping parts that fit a request."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

SEGMENT_CHARS = 240  # about two sentences: fine enough for a useful citation
LONGEST_SEGMENT = 2_000  # text without any sentence end is cut here
PART_CHARS = 24_000  # about 6,000 tokens of English, and well below every model's window in any script
OVERLAP_CHARS = 1_200  # enough for a sentence that refers to the turn before it
LINE = re.compile(r"[^\r\n]+")
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[\u3002\uff01\uff1f])")


@dataclass(frozen=True, slots=True)
class Segment:
    """A numbered piece of a transcript; start and end are its code points in the original."""

    number: int
    start: int
    end: int
    text: str


def _pieces(line: str, start: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of pieces of a line, each of whole sentences as far as they fit."""
    bounds = [match.end() for match in SENTENCE_END.finditer(line)] if len(line) > SEGMENT_CHARS else []
    begin, last = 0, 0
    for bound in [*bounds, len(line)]:
        if bound - begin > SEGMENT_CHARS and last > begin:
            yield start + begin, start + last
            begin = last
        last = bound
        while last - begin > LONGEST_SEGMENT:
            yield start + begin, start + begin + LONGEST_SEGMENT
            begin += LONGEST_SEGMENT
    if begin < len(line):
        yield start + begin, start + len(line)


def segments_of(transcript: str) -> list[Segment]:
    """Return the transcript's segments in order: lines, long ones cut at sentence ends; blank ones left out."""
    segments: list[Segment] = []
    for line in LINE.finditer(transcript):
        for start, end in _pieces(line.group(), line.start()):
            text = transcript[start:end].strip()
            if text:
                segments.append(Segment(len(segments) + 1, start, end, text))
    return segments


def parts_of(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Return runs of segments of up to PART_CHARS; each begins with the last OVERLAP_CHARS of the one before."""
    parts: list[list[Segment]] = []
    part: list[Segment] = []
    size = 0
    for segment in segments:
        if part and size + len(segment.text) > PART_CHARS:
            parts.append(part)
            part, size = _tail(part), 0
            size = sum(len(kept.text) for kept in part)
        part.append(segment)
        size += len(segment.text)
    return [*parts, part] if part else parts


def _tail(part: Sequence[Segment]) -> list[Segment]:
    tail: list[Segment] = []
    size = 0
    for segment in reversed(part):
        size += len(segment.text)
        if size > OVERLAP_CHARS:
            break
        tail.insert(0, segment)
    return tail


def span_of(segments: Sequence[Segment], first: int, last: int) -> tuple[int, int]:
    """Return (start, end) in the transcript for cited segment numbers; an impossible citation means the whole run."""
    if first > last:
        first, last = last, first
    cited = [segment for segment in segments if first <= segment.number <= last]
    cited = cited or list(segments)
    return cited[0].start, cited[-1].end
