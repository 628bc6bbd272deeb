"""What the tests of OAuth share."""

from __future__ import annotations

from typing import Any

import pytest

from tests.factories import People
from tests.oauth.flow import Assistant


@pytest.fixture(autouse=True)
def no_rate_limit(settings: Any) -> None:
    """Let one address register more clients than an assistant's installation ever would."""
    settings.RATE_LIMIT_ON = False


@pytest.fixture
def assistant(people: People) -> Assistant:
    """Give an assistant in front of the owner."""
    return Assistant(people.owner)
