"""manage.py reindex: write the search entries again, after a change of the analyser or of a space's language."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from accounts.access import Access, space_transaction
from accounts.models import Space
from memories.indexing import index_memories
from memories.models import Memory

BATCH = 500


class Command(BaseCommand):
    """Analyse every memory again. Searches go on meanwhile; vectors of unchanged texts stay."""

    help = (
        "Write the search entries of all memories again, after an upgrade that says so. Safe to interrupt and repeat."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--space", type=int, action="append", help="the id of a space; by default every space")

    def handle(self, *args: Any, space: list[int] | None, **options: Any) -> None:
        spaces = Space.objects.all() if space is None else Space.objects.filter(pk__in=space)
        total = sum(self._reindex(space_id) for space_id in spaces.order_by("pk").values_list("pk", flat=True))
        self.stdout.write(f"{total} memories indexed.")

    def _reindex(self, space_id: int) -> int:
        access = Access.system(space_id)
        done, after = 0, ""
        while True:
            with space_transaction(access):
                rows = list(
                    Memory.objects.any_status(access).filter(id__gt=after).order_by("id").select_for_update()[:BATCH]
                )
                index_memories(rows)
            if not rows:
                return done
            done, after = done + len(rows), rows[-1].id
