"""Quality of retrieval on Cranfield and XQuAD in eight languages: each mode and model, beside bm25s in the same run."""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import (
    SNOWBALL_OF,
    Collection,
    cranfield,
    dialogues,
    embed_all,
    finish,
    memories_add,
    service,
    space_delete,
    space_new,
    table,
    xquad,
    xquad_sentences,
)

LANGUAGES = ("en", "zh", "de", "es", "ar", "ru", "th", "hi")
MODELS = ("bge-small-en-v1.5", "multilingual-e5-small")
FIGURES = ("r@1", "r@5", "r@10", "mrr", "ndcg@10")
DEPTH = 50


def measured(collection: Collection, search: Callable[[str], list[int]]) -> dict[str, float]:
    """Give the mean figures over all questions that have an answer; ``search`` gives indexes of texts, best first."""
    sums = dict.fromkeys(FIGURES, 0.0)
    asked = 0
    for question, answers in zip(collection.questions, collection.answers, strict=True):
        if not answers:
            continue
        asked += 1
        found = search(question)
        first = next((rank for rank, text in enumerate(found) if text in answers), None)
        for cut in (1, 5, 10):
            hits = sum(text in answers for text in found[:cut])
            sums[f"r@{cut}"] += float(hits > 0) if cut == 1 else hits / min(len(answers), cut)
        sums["mrr"] += 0 if first is None else 1 / (first + 1)
        gain = sum(answers.get(text, 0) / math.log2(rank + 2) for rank, text in enumerate(found[:10]))
        best = sum(
            grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(answers.values(), reverse=True)[:10])
        )
        sums["ndcg@10"] += gain / best
    return {name: value / asked for name, value in sums.items()}


def bm25s_search(collection: Collection) -> Callable[[str], list[int]]:
    """Index with bm25s: Lucene's formula, k1 1.5, b 0.75, stems; pairs of characters for Chinese and Thai."""
    import bm25s
    import snowballstemmer

    stemmer = snowballstemmer.stemmer(SNOWBALL_OF[collection.language]) if collection.language in SNOWBALL_OF else None

    def words(text: str) -> list[str]:
        if stemmer is None:
            runs = re.findall(r"\S+", re.sub(r"[^\w\u0e00-\u0e7f]", " ", text.lower()))
            return [run[at : at + 2] for run in runs for at in range(max(len(run) - 1, 1))]
        return [
            str(stem) for stem in stemmer.stemWords(re.findall(r"[\w\u0900-\u097f]{2,}", text.lower()))
        ]  # with the vowel signs of Hindi

    index = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    index.index([words(text) for text in collection.texts], show_progress=False)

    def search(question: str) -> list[int]:
        known = [word for word in words(question) if word in index.vocab_dict]
        if not known:
            return []
        found, _ = index.retrieve([known], k=DEPTH, show_progress=False)
        return [int(text) for text in found[0]]

    return search


def service_search(access: Any, ids: list[str], mode: str, *, rerank: bool = False) -> Callable[[str], list[int]]:
    """Search through the service's one door."""
    from memories.search import SearchQuery, search_memories

    place = {memory_id: index for index, memory_id in enumerate(ids)}

    def search(question: str) -> list[int]:
        result = search_memories(access, SearchQuery(question, mode=mode, limit=DEPTH, rerank=rerank))  # type: ignore[arg-type]
        assert result.mode_used == mode
        return [place[hit.memory_id] for hit in result.hits]

    return search


def collections(names: list[str]) -> Iterator[Collection]:
    """Load collections by name: cranfield, sentences, dialogues, or the code of a language of XQuAD."""
    for name in names:
        if name == "dialogues":
            yield from dialogues()
        else:
            makers = {"cranfield": cranfield, "sentences": xquad_sentences}
            yield makers[name]() if name in makers else xquad(name)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--collections", default="cranfield,sentences,dialogues," + ",".join(LANGUAGES))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--rerank", action="store_true", help="measure hybrid with late interaction, too (slow)")
    chosen = parser.parse_args()
    rows: list[list[Any]] = []
    result: dict[str, dict[str, dict[str, float]]] = {}

    def note(collection: Collection, name: str, figures: dict[str, float]) -> None:
        rows.append([collection.name, name, *(f"{figures[figure]:.4f}" for figure in FIGURES)])
        result.setdefault(collection.name, {})[name] = {key: round(value, 4) for key, value in figures.items()}
        print(*rows[-1], flush=True)

    with service("retrieval"):
        from memories.model_changes import complete_model_changes, model_change_start

        for collection in collections(chosen.collections.split(",")):
            note(collection, "bm25s", measured(collection, bm25s_search(collection)))
            access = space_new(collection.name)
            ids = memories_add(access, collection.texts)
            note(collection, "keyword", measured(collection, service_search(access, ids, "keyword")))
            for model in chosen.models.split(","):
                model_change_start(space_id=access.space_id, model=model)
                embed_all()
                complete_model_changes()
                for mode in ("semantic", "hybrid"):
                    note(collection, f"{mode} {model}", measured(collection, service_search(access, ids, mode)))
                if chosen.rerank:
                    search = service_search(access, ids, "hybrid", rerank=True)
                    note(collection, f"hybrid+rerank {model}", measured(collection, search))
            space_delete(access)
    print()
    table(["collection", "search", *FIGURES], rows)
    finish("retrieval", result)


if __name__ == "__main__":
    main()
