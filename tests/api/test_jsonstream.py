"""Reading long JSON documents piece by piece."""

from __future__ import annotations

import io
import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.errors import Invalid
from api.jsonstream import Piece, json_pieces

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


class Trickle(io.BytesIO):
    """A stream that gives at most so many bytes at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__(data)
        self.step = step

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self.step)


def rebuilt(pieces: list[Piece]) -> Any:
    """Return the document that the pieces came from."""
    if pieces and pieces[0].key is None:
        return [json.loads(piece.raw or b"") for piece in pieces[1:]]
    document: dict[str, Any] = {}
    for piece in pieces:
        assert piece.key is not None
        if piece.raw is None:
            document[piece.key] = [] if piece.opens == "[" else {}
        elif piece.name is not None:
            document[piece.key][piece.name] = json.loads(piece.raw)
        elif isinstance(document.get(piece.key), list):
            document[piece.key].append(json.loads(piece.raw))
        else:
            document[piece.key] = json.loads(piece.raw)
    return document


@given(st.dictionaries(st.text(), JSON, max_size=5) | st.lists(JSON, max_size=5), st.integers(1, 50), st.booleans())
def test_gives_back_every_document(document: Any, step: int, spaced: bool) -> None:
    data = json.dumps(document, indent=1 if spaced else None, ensure_ascii=spaced).encode()

    assert rebuilt(list(json_pieces(Trickle(data, step)))) == document


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "1", '"a"', "{", "[", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "[1,]", "[1 2]", "{1:2}", '{"a" 1}',
        "[1]]", "[1] [2]", "{} x", '["a', "[[1]", '{"a":[1}', '{"a":,}', "[,]", '{"a"::1}',
    ],
)  # fmt: skip
def test_refuses_what_is_no_json(text: str) -> None:
    with pytest.raises(Invalid):
        list(json_pieces(io.BytesIO(text.encode())))


def test_reads_a_long_value_and_deep_nesting_without_effort() -> None:
    deep = b"[" * 1_000_000 + b"]" * 1_000_000
    document = b'{"memories":["' + b"x" * 3_000_000 + b'",' + deep + b",3]}"

    sizes = [len(piece.raw or b"") for piece in json_pieces(Trickle(document, 10_000))]

    assert sizes == [0, 3_000_002, 2_000_000, 1]


@given(JSON, st.integers(1, 30), st.integers(0, 20))
def test_of_a_piece_beyond_the_limit_only_its_size_is_told(value: Any, step: int, limit: int) -> None:
    text = json.dumps(value, ensure_ascii=False).encode()

    _, piece, after = json_pieces(Trickle(b"[" + text + b', "a"]', step), max(limit, 3))

    assert piece.size == len(text)
    assert piece.raw == (text if len(text) <= max(limit, 3) or text[:1] not in b'{["' else b"")
    assert after.raw == b'"a"'


class Endless(io.RawIOBase):
    """A document of one list whose pieces never end; it counts what was read of it."""

    def __init__(self, item: bytes) -> None:
        self.item, self.given = item, 0

    def read(self, size: int = -1) -> bytes:
        piece = (b"[" if self.given == 0 else b"") + self.item * (size // len(self.item) + 1)
        self.given += len(piece)
        return piece


def test_reads_no_further_than_the_piece_that_is_asked_for() -> None:
    document = Endless(b'{"a": 1},')

    pieces = json_pieces(document)  # type: ignore[arg-type]
    for _ in range(1_000):
        next(pieces)

    assert document.given < 500_000


def test_a_string_without_an_end_is_not_held() -> None:
    document = Endless(b"x")
    document.given = 1
    text = io.BytesIO(b'["' + document.read(30_000_000))
    tracemalloc.start()
    try:
        with pytest.raises(Invalid):
            list(json_pieces(text, 1_000_000))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 8_000_000
