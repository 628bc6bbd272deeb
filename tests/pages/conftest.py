"""The team that every test of the pages looks at."""

from __future__ import annotations

import pytest

from config.valkey import client
from tests.pages.team import Team, team_create


def limits_forget() -> None:
    """Forget what was used up of the limits on sign-up, sign-in and requests."""
    for pattern in ("*allauth*", "rate:*"):
        for key in client().scan_iter(pattern):
            client().delete(key)


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    """Begin every test with nothing used up."""
    limits_forget()


@pytest.fixture
def team(db: None) -> Team:
    """Return the team."""
    return team_create()
