"""What the tests of dreams share."""

from __future__ import annotations

import pytest

from tests.clock import MovedClock
from tests.dreams.night import Night
from tests.factories import People


@pytest.fixture
def night(people: People, clock: MovedClock) -> Night:
    """Give a space in which a dream is due."""
    return Night(people, clock)
