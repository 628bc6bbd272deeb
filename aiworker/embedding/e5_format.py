"""Reader of the ``E5S1`` file: multilingual-e5-small with 4-bit weights, its vocabulary and its normalisation map.

Layout, little endian: magic and version; seven ints (width, layers, heads, inner width, vocabulary, positions, type
vocabulary), the layer norm's epsilon, the block size; five ints (pieces, begin, end, pad and unknown ids); the pieces'
offsets, scores and bytes; the normalisation map (code point -> code points); then the directory of tensors. A 4-bit
tensor is a run of blocks of 32 weights: a half-precision scale and 16 bytes, low halves first, each value less 8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

BLOCK = 32
Q4_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", BLOCK // 2)])


def dequantise(blocks: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    """Turn 4-bit blocks of shape (..., n) into float32 of shape (..., n * 32)."""
    nibbles = blocks["nibbles"]
    values = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values.reshape(*blocks.shape[:-1], blocks.shape[-1] * BLOCK)


@dataclass(frozen=True)
class Shape:
    """The numbers that describe the network and its vocabulary."""

    width: int
    layers: int
    heads: int
    inner: int
    positions: int
    epsilon: float
    begin: int
    end: int
    pad: int
    unknown: int


class E5File:
    """A read-only view of the file; tensors are memory mapped and read when asked for."""

    def __init__(self, path: Path) -> None:
        self._bytes = np.memmap(path, dtype=np.uint8, mode="r")
        self._view = memoryview(self._bytes)  # type: ignore[arg-type]
        self._at = 0
        if bytes(self._view[:4]) != b"E5S1":
            raise ValueError(f"{path.name} is not an E5S1 file")
        self._at = 8
        width, layers, heads, inner, _, positions, _ = self._read("7i")
        (epsilon,) = self._read("f")
        (block,) = self._read("i")
        if block != BLOCK:
            raise ValueError(f"blocks of {block} weights are not supported")
        pieces, begin, end, pad, unknown = self._read("5i")
        self.shape = Shape(width, layers, heads, inner, positions, epsilon, begin, end, pad, unknown)
        self._piece_count, self._pieces_at = pieces, self._at
        (size,) = struct.unpack_from("<Q", self._view, self._at)
        self._at += 8 + 4 * (pieces + 1) + 4 * pieces + size
        self._normalisation_at = self._at
        _, size = self._read("iI")
        self._at += size
        self._tensors = dict(self._read_directory())

    def _read(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._view, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def _take(self, size: int) -> bytes:
        self._at += size
        return bytes(self._view[self._at - size : self._at])

    def pieces(self) -> list[tuple[str, float]]:
        """Give the vocabulary: each piece with its score, in the order of the ids."""
        self._at = self._pieces_at
        (size,) = self._read("Q")
        offsets = np.frombuffer(self._take(4 * (self._piece_count + 1)), np.uint32)
        scores = np.frombuffer(self._take(4 * self._piece_count), np.float32)
        text = self._take(size)
        names = [text[start:stop].decode("utf-8", "replace") for start, stop in pairwise(offsets)]
        return list(zip(names, scores.tolist(), strict=True))

    def normalisation(self) -> dict[int, str]:
        """Give the map from code points to what stands for them."""
        self._at = self._normalisation_at
        count, _ = self._read("iI")
        found = {}
        for _ in range(count):
            code, length = self._read("IB")
            found[code] = "".join(map(chr, self._read(f"{length}I")))
        return found

    def _read_directory(self) -> Iterator[tuple[str, tuple[int, int]]]:
        (count,) = self._read("i")
        for _ in range(count):
            (length,) = self._read("H")
            name = self._take(length).decode()
            _, _, offset, size = self._read("BIQQ")
            yield name, (offset, size)

    def floats(self, name: str) -> npt.NDArray[np.float32]:
        """Give a float32 tensor, flat."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._view, np.float32, size // 4, offset)

    def blocks(self, name: str, rows: int) -> npt.NDArray[Any]:
        """Give a 4-bit tensor as blocks of shape (rows, columns / 32)."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._view, Q4_BLOCK, size // Q4_BLOCK.itemsize, offset).reshape(rows, -1)

    def words(self) -> npt.NDArray[Any]:
        """Give the word embeddings, one row of blocks a token id, memory mapped."""
        _, size = self._tensors["emb.word"]
        rows = size // (Q4_BLOCK.itemsize * self.shape.width // BLOCK)
        return self.blocks("emb.word", rows)
