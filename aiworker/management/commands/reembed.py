"""manage.py reembed: change the model of spaces while they go on answering."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import Space
from aiworker.embedding.base import EmbeddingError
from aiworker.embedding.registry import provider_for
from memories.embeddings import embed_pending
from memories.index_models import EmbeddingPending, SearchSpace
from memories.model_changes import complete_model_changes, model_change_start


class Command(BaseCommand):
    """Queue every memory for a model; the old one answers until the new one has a vector for everything."""

    help = (
        "Embed all memories with another model (or what lacks vectors with the same one). Searches keep the old "
        "vectors until the new ones are complete. Interrupt it at any time: workers go on, and it can be run again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", default=settings.EMBEDDING_MODEL, help="by default OMP_EMBEDDING_MODEL")
        parser.add_argument("--space", type=int, action="append", help="the id of a space; by default every space")
        parser.add_argument("--detach", action="store_true", help="queue the work and leave it to the workers")

    def handle(self, *args: Any, model: str, space: list[int] | None, detach: bool, **options: Any) -> None:
        try:
            provider_for(model)
        except EmbeddingError as error:
            raise CommandError(str(error)) from None
        spaces = Space.objects.all() if space is None else Space.objects.filter(pk__in=space)
        ids = list(spaces.values_list("pk", flat=True))
        if unknown := set(space or ()) - set(ids):
            raise CommandError(f"There is no space {min(unknown)}.")
        queued = sum(model_change_start(space_id=space_id, model=model) for space_id in ids)
        self.stdout.write(f"{queued} memories of {len(ids)} spaces queued for {model}.")
        if not detach:
            self._follow(ids, model, queued)

    def _follow(self, ids: list[int], model: str, queued: int) -> None:
        waiting = EmbeddingPending.objects.filter(space_id__in=ids, model=model)
        try:
            while left := waiting.count():
                self.stdout.write(f"{queued - left} of {queued} done")
                if not embed_pending(5):
                    time.sleep(1)  # the rest is leased by workers, or waits after a failure
            complete_model_changes()
        except KeyboardInterrupt:
            self.stdout.write("Interrupted: the workers go on with the rest.")
            return
        unfinished = SearchSpace.objects.filter(pk__in=ids).exclude(next_model="").count()
        if unfinished:
            self.stdout.write(f"{unfinished} large spaces change over when their vector index is built.")
        else:
            self.stdout.write(f"All of them answer with {model}.")
