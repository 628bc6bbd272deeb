"""Moving the service's clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from unittest import mock

from django.utils import timezone


class MovedClock:
    """The service's clock: `at` is the moment that it shows."""

    def __init__(self) -> None:
        self.at: datetime = timezone.now()

    def forward(self, **by: float) -> datetime:
        """Move the clock by a timedelta's arguments; return what it shows."""
        self.at += timedelta(**by)
        return self.at


@contextmanager
def clock_stopped() -> Iterator[MovedClock]:
    """Stop the service's clock; it shows what the block sets."""
    moved = MovedClock()
    with mock.patch("api.clock.now", side_effect=lambda: moved.at):
        yield moved
