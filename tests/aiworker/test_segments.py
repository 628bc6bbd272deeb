"""Segments and parts of a transcript."""

from __future__ import annotations

from itertools import pairwise

import pytest

from aiworker.segments import OVERLAP_CHARS, PART_CHARS, SEGMENT_CHARS, parts_of, segments_of, span_of

SAMPLES = [
    "Alice: Hi.\n\nBob: Hello!\r\nAlice: Bye.",
    "One sentence. " * 100,
    "没有空格的句子。" * 100,
    "x" * 9_000,
    "a\n" * 500,
    "word " * 2_000,
]


@pytest.mark.parametrize("text", SAMPLES)
def test_segments_cover_the_text_in_order(text: str) -> None:
    segments = segments_of(text)

    assert [segment.number for segment in segments] == list(range(1, len(segments) + 1))
    assert all(text[segment.start : segment.end].strip() == segment.text for segment in segments)
    assert "".join("".join(segment.text.split()) for segment in segments) == "".join(text.split())


def test_sentences_are_kept_whole() -> None:
    segments = segments_of("A short sentence here. " * 40)

    assert all(segment.text.endswith("here.") for segment in segments)
    assert all(len(segment.text) <= SEGMENT_CHARS for segment in segments)


@pytest.mark.parametrize("text", ["", "  \n\t\n", "\n"])
def test_nothing_has_no_segment(text: str) -> None:
    assert parts_of(segments_of(text)) == []


def test_parts_overlap_and_fit() -> None:
    segments = segments_of("\n".join(f"User: line number {n} says something." for n in range(3_000)))

    parts = parts_of(segments)

    assert len(parts) > 2
    assert {segment.number for part in parts for segment in part} == {segment.number for segment in segments}
    for before, after in pairwise(parts):
        assert before[-1].number - after[0].number + 1 > 0
        assert sum(len(segment.text) for segment in after) <= PART_CHARS
        shared = [segment for segment in after if segment.number <= before[-1].number]
        assert 0 < sum(len(segment.text) for segment in shared) <= OVERLAP_CHARS


def test_a_citation_leads_back_to_the_text() -> None:
    text = "first line\nsecond line\nthird line"
    segments = segments_of(text)

    assert text[slice(*span_of(segments, 2, 2))] == "second line"
    assert text[slice(*span_of(segments, 3, 2))] == "second line\nthird line"
    assert text[slice(*span_of(segments, 0, 99))] == text
    assert text[slice(*span_of(segments, 7, 9))] == text, "an impossible citation means all of it"
