"""The team that every test of the pages looks at."""

from __future__ import annotations

import pytest

from tests.pages.team import Team, team_create


@pytest.fixture
def team(db: None) -> Team:
    """Return the team."""
    return team_create()
