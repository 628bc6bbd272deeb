"""Periodic work: the same small step in every space, each in a transaction of its own."""

import logging
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError

from accounts.access import Access, space_transaction
from accounts.models import Space

logger = logging.getLogger(__name__)


def spaces_sweep(*steps: Callable[[Access], Any]) -> None:
    """Run each step in each space; a space in which one fails does not stop the others."""
    for space_id in Space.objects.order_by("pk").values_list("pk", flat=True):
        access = Access.system(space_id)
        for step in steps:
            try:
                with space_transaction(access):
                    step(access)
            except DatabaseError as error:
                logger.error("%s failed in space %s: %s", step.__name__, space_id, type(error).__name__)
