"""Charts as numbers for an SVG: the server draws, no script is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

WIDTH, HEIGHT = 720, 120


@dataclass(frozen=True, slots=True)
class Bar:
    """One day: its rectangle and what it says."""

    x: float
    y: float
    width: float
    height: float
    day: date
    value: int


@dataclass(frozen=True, slots=True)
class Chart:
    """A column for each day, the highest as high as the drawing."""

    name: str
    bars: list[Bar]
    top: int
    total: int
    first: date
    last: date
    width: int = WIDTH
    height: int = HEIGHT


def chart(name: str, days: Sequence[date], values: Sequence[int]) -> Chart:
    """Return the chart of one value for each day."""
    top = max([*values, 1])
    step = WIDTH / len(days)
    bars = []
    for number, (day, value) in enumerate(zip(days, values, strict=True)):
        height = round(HEIGHT * value / top, 1)
        if value:
            height = max(height, 2.0)
        bars.append(
            Bar(
                round(number * step + step * 0.15, 1),
                round(HEIGHT - height, 1),
                round(step * 0.7, 1),
                height,
                day,
                value,
            )
        )
    return Chart(name, bars, top, sum(values), days[0], days[-1])
