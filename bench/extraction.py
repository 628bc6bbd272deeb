"""Quality of extraction over a small labelled set: precision and recall, with a live provider when a key is set."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

TRANSCRIPTS = Path(__file__).resolve().parent / "transcripts"


@dataclass(frozen=True)
class Score:
    """Of `facts` that must be found, how many were; of the memories, how many hold what must not be there."""

    found: int
    facts: int
    memories: int
    wrong: int

    def __add__(self, other: Score) -> Score:
        return Score(
            self.found + other.found, self.facts + other.facts, self.memories + other.memories, self.wrong + other.wrong
        )

    @property
    def recall(self) -> float:
        """Return the share of the facts that were found."""
        return self.found / self.facts if self.facts else 1.0

    @property
    def precision(self) -> float:
        """Return the share of the memories that hold nothing that must not be there."""
        return 1 - self.wrong / self.memories if self.memories else 1.0


def score_of(labels: dict[str, Any], memories: list[str]) -> Score:
    """Return the score of one transcript's memories.

    A fact is found when one memory holds all its words, in any case; a memory is wrong when it holds all words of
    something that must be absent: an invention, a secret, a known or deleted fact, an order that was obeyed.
    """
    texts = [memory.casefold() for memory in memories]

    def holds(text: str, words: list[str]) -> bool:
        return all(word.casefold() in text for word in words)

    found = sum(any(holds(text, words) for text in texts) for words in labels["facts"])
    wrong = sum(any(holds(text, words) for words in labels["absent"]) for text in texts)
    return Score(found, len(labels["facts"]), len(texts), wrong)


def main() -> None:
    """Run every transcript through the pipeline in a space of its own and print the scores."""
    from bench._support import finish, service, table

    with service("extraction"):
        from django.conf import settings

        from aiworker.fake.answers import by_recording
        from aiworker.fake.server import FakeProvider

        live = bool(settings.AI_API_KEY)
        with FakeProvider(answer=by_recording(TRANSCRIPTS)) as fake, fake.running():
            if not live:
                print("No OMP_AI_API_KEY is set: recorded answers stand in for a provider.")
                settings.AI_API_KEY = "sk-fake-ok"
                settings.AI_BASE_URLS = dict.fromkeys(settings.AI_BASE_URLS, fake.url)
            scores = {path.stem: _run(path) for path in sorted(TRANSCRIPTS.glob("*.json"))}
    total = sum(scores.values(), Score(0, 0, 0, 0))
    rows = [
        [
            name,
            f"{score.found}/{score.facts}",
            score.memories,
            score.wrong,
            f"{score.precision:.2f}",
            f"{score.recall:.2f}",
        ]
        for name, score in [*scores.items(), ("all", total)]
    ]
    table(["transcript", "facts found", "memories", "wrong", "precision", "recall"], rows)
    finish(
        "extraction",
        {"live": live, "provider": settings.AI_PROVIDER, "precision": total.precision, "recall": total.recall},
    )


def _run(path: Path) -> Score:
    from django.conf import settings

    from accounts.access import space_transaction
    from aiworker.jobruns import job_run
    from aiworker.jobs import job_create, job_get
    from aiworker.work import Material
    from api.timestamps import timestamp_parse
    from bench._support import memories_add, space_new
    from memories.models import Memory
    from memories.services import memories_delete

    labels = json.loads(path.read_text(encoding="utf-8"))
    access = space_new(f"extraction {path.stem}")
    memories_add(access, [*labels["known"], *labels["deleted"]])
    with space_transaction(access):
        gone = Memory.objects.visible_to(access).filter(content__in=labels["deleted"])
        memories_delete(access=access, memories=list(gone))
    material = Material(
        transcript=labels["transcript"], date=timestamp_parse(labels["date"]), tool="bench",
        provider=settings.AI_PROVIDER,
    )  # fmt: skip
    job = job_create(access=access, kind="extract", params={}, inputs=[material.pack()])
    job_run(space_id=job.space_id, job_id=job.id)
    with space_transaction(access):
        ended = job_get(access, job.id)
        if ended.result is None:
            raise SystemExit(f"{path.stem}: {ended.error}")
        rows = Memory.objects.visible_to(access).filter(id__in=ended.result["memory_ids"])
        contents = list(rows.order_by("id").values_list("content", flat=True))
    for content in contents:
        print(f"  {path.stem}: {content}")
    return score_of(labels, contents)


if __name__ == "__main__":
    main()
