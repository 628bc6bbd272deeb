"""Spaces of any size for the latency benchmarks: notes made of real sentences, with vectors made of theirs.

Embedding a million texts takes hours on two cores, and only the geometry matters here: a note of one to three sentences
gets the mean of their real vectors with a little noise, which is close to what the model gives for the whole.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import numpy as np
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg.types import TypeInfo

from bench._support import cranfield, xquad_sentences

TYPES = ("semantic", "episodic", "procedural")
TOOLS = ("claude", "cursor", "chatgpt", "gemini")
MODEL = "bge-small-en-v1.5"
BATCH = 20_000
# A tag on every note with this chance: filters that keep 50 %, 5 % and 0.5 %.
SHARES = {"half": 0.5, "twentieth": 0.05, "rare": 0.005}


class Corpus:
    """About ten thousand real sentences with their vectors and analysed words."""

    def __init__(self) -> None:
        from aiworker.embedding.registry import provider_for
        from memories.lexemes import text_lexemes

        sentences = xquad_sentences().texts
        sentences += [part.strip() for text in cranfield().texts for part in text.split(" . ") if len(part) > 20]
        self.sentences = sentences
        self.questions = xquad_sentences().questions + cranfield().questions
        folder = Path(os.environ["OMP_DATA_DIR"]) / "bench-sentences.npy"
        if folder.exists() and len(np.load(folder, mmap_mode="r")) == len(sentences):
            self.vectors = np.load(folder)
        else:
            self.vectors = np.stack(provider_for(MODEL).embed_documents(sentences))
            np.save(folder, self.vectors)
        self.lexemes = [text_lexemes(sentence, [], "en") for sentence in sentences]

    def missing(self, access: Any, count: int) -> int:
        """Tell how many of so many notes a space lacks; 0 only while the index of lexemes stands."""
        from django.db import connections

        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT to_regclass('memories_searchentry_lexemes') IS NULL, "
                "(SELECT count(*) FROM memories_memoryvector WHERE space_id = %s)",
                [access.space_id],
            )
            no_index, found = cursor.fetchone()
        return max(count - int(found), int(no_index))

    def fill(self, access: Any, count: int, seed: int = 0) -> None:
        """Bring a space up to so many notes with entries and vectors, as the owner of the tables, by COPY.

        Each batch is a transaction with its own chance, so that a filling that was cut short goes on where it ended.
        """
        from django.db import connections

        space_id = access.space_id
        connections["owner"].ensure_connection()
        connection = connections["owner"].connection
        register_vector(connection)  # before the cursor, which keeps the types it was made with
        with connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO memories_searchspace (space_id, model) VALUES (%s, %s) ON CONFLICT DO NOTHING",
                [space_id, MODEL],
            )
            cursor.execute("SELECT count(*) FROM memories_memoryvector WHERE space_id = %s", [space_id])
            [done] = cursor.fetchone()
            for start in range(done, count, BATCH):
                size = min(BATCH, count - start)
                chance, noise = random.Random(f"{seed} {start}"), np.random.default_rng([seed, start])
                chosen = [
                    chance.choices(range(len(self.sentences)), k=chance.choice((1, 1, 2, 2, 3))) for _ in range(size)
                ]
                tags = [[tag for tag, share in SHARES.items() if chance.random() < share] for _ in range(size)]
                ids = [f"mem_{space_id % 36**4:06d}{start + number:010d}" for number in range(size)]
                with connection.transaction():
                    self._copy_memories(cursor, space_id, ids, chosen, tags)
                    if start == done:  # or the foreign keys' checks are planned for an empty table
                        cursor.execute("ANALYZE memories_memory")
                    self._copy_entries(cursor, space_id, ids, chosen, tags)
                    self._copy_vectors(cursor, space_id, ids, chosen, noise)

    def _copy_memories(self, cursor: Any, space_id: int, ids: Any, chosen: Any, tags: Any) -> None:
        columns = "space_id, id, content, type, source_tool, source_timestamp, tags, metadata, created_at, updated_at"
        with cursor.copy(f"COPY memories_memory ({columns}) FROM STDIN") as copy:
            for memory_id, picked, tagged in zip(ids, chosen, tags, strict=True):
                text = ". ".join(self.sentences[index] for index in picked)
                now = "2026-01-01T00:00:00Z"
                copy.write_row(
                    (space_id, memory_id, text, TYPES[picked[0] % 3], TOOLS[picked[0] % 4], now, tagged, "{}", now, now)
                )

    def _copy_entries(self, cursor: Any, space_id: int, ids: Any, chosen: Any, tags: Any) -> None:
        from memories.lexemes import MAX_POSITION, sample_lexemes, vector_literal

        columns = "space_id, memory_id, lexemes, length, digest, pinned, created_at, updated_at"
        now = "2026-01-01T00:00:00Z"
        with cursor.copy(f"COPY memories_searchentry ({columns}) FROM STDIN") as copy:
            for memory_id, picked, tagged in zip(ids, chosen, tags, strict=True):
                positions: dict[str, list[int]] = {}
                length, base = 0, 0
                for index in picked:
                    found, words = self.lexemes[index]
                    for lexeme, places in found.items():
                        positions.setdefault(lexeme, []).extend(min(place + base, MAX_POSITION) for place in places)
                    length += words
                    base += words + 2
                named = [f"=type:{TYPES[picked[0] % 3]}", f"=tool:{TOOLS[picked[0] % 4]}", "=tier:long"]
                named += [f"=tag:{tag}" for tag in tagged]
                positions |= {lexeme: [] for lexeme in [*named, *sample_lexemes(memory_id)]}
                copy.write_row((space_id, memory_id, vector_literal(space_id, positions), length, b"", False, now, now))

    def _copy_vectors(self, cursor: Any, space_id: int, ids: Any, chosen: Any, noise: Any) -> None:
        vectors = np.stack([self.vectors[picked].mean(axis=0) for picked in chosen])
        vectors += noise.normal(scale=0.015, size=vectors.shape).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        halfvec = TypeInfo.fetch(cursor.connection, "halfvec")
        assert halfvec is not None
        columns = "space_id, memory_id, model, piece, digest, embedding"
        with cursor.copy(f"COPY memories_memoryvector ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(["int8", "varchar", "varchar", "int2", "bytea", halfvec.oid])
            for memory_id, vector in zip(ids, vectors.astype(np.float16), strict=True):
                copy.write_row((space_id, memory_id, MODEL, 0, memory_id.encode()[-16:], HalfVector(vector)))


def drop_word_index() -> None:
    """Take the index of lexemes away while large spaces are filled."""
    _owner("DROP INDEX IF EXISTS memories_searchentry_lexemes")


def make_word_index() -> None:
    """Build the index of lexemes again, and let PostgreSQL look at the tables."""
    _owner("SET maintenance_work_mem = '1GB'")
    _owner(
        "CREATE INDEX IF NOT EXISTS memories_searchentry_lexemes ON memories_searchentry USING gin (lexemes) "
        "WITH (fastupdate = off)"
    )
    for table in ("memories_memory", "memories_searchentry", "memories_memoryvector"):
        _owner(f"VACUUM ANALYZE {table}")


def _owner(statement: str) -> None:
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute(statement)
