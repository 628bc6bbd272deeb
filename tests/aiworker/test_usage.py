"""What AI work costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pytest_django import Settings

from aiworker.providers.base import Usage
from aiworker.usage import cost_micros, cost_present


def test_prices_are_those_of_the_longest_name() -> None:
    usage = Usage(1_000_000, 100_000)

    assert cost_present(cost_micros("claude-haiku-4-5-20251001", usage)) == 1.5
    assert cost_present(cost_micros("gpt-4o-mini-2024-07-18", usage)) == pytest.approx(0.21)
    assert cost_present(cost_micros("gpt-4o-2024-08-06", usage)) == 3.5
    assert cost_present(cost_micros("llama3.1:8b", usage)) is None


def test_the_operators_prices_come_first(settings: Settings) -> None:
    settings.AI_PRICES = ("2", "10")

    assert cost_present(cost_micros("llama3.1:8b", Usage(500_000, 100_000))) == 2.0


@pytest.mark.parametrize("prices", ["free", "1", "1,2,3", "1,-2"])
def test_prices_that_cannot_be_read_stop_the_start(prices: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import config.settings"], env={"OMP_AI_PRICES": prices, "SECRET_KEY": "x" * 50},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode != 0
    assert "OMP_AI_PRICES must be two numbers" in done.stderr
