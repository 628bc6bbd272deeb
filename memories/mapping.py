"""A map of memories: their topics placed by how often they meet, each memory beside its topics."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from memories.models import Memory

WIDTH, HEIGHT, EDGE = 960.0, 600.0, 70.0
MAX_TOPICS = 22
STEPS = 120
GOLDEN = math.pi * (3 - math.sqrt(5))


@dataclass(frozen=True, slots=True)
class Topic:
    """A tag or a subject on the map: where, how large, how many memories."""

    kind: str
    name: str
    count: int
    x: float
    y: float
    radius: float

    @property
    def label_y(self) -> float:
        """Return where the name stands: below the circle."""
        return round(self.y + self.radius + 14, 1)


@dataclass(frozen=True, slots=True)
class Dot:
    """A memory on the map."""

    memory: Memory
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Map:
    """What is drawn: topics, memories, and lines between topics that share memories."""

    topics: list[Topic]
    dots: list[Dot]
    lines: list[tuple[Topic, Topic]]
    width: int = int(WIDTH)
    height: int = int(HEIGHT)


def topics_of(memory: Memory) -> list[tuple[str, str]]:
    """Return the topics of a memory: its subject and its tags."""
    return ([("subject", memory.subject)] if memory.subject else []) + [("tag", tag) for tag in memory.tags]


def positions(count: int, weights: np.ndarray) -> np.ndarray:
    """Return places (count, 2) in the unit square where topics that meet often are close; always the same ones."""
    angles = np.arange(count) * GOLDEN
    radii = np.sqrt((np.arange(count) + 0.5) / count) * 0.45
    at = np.stack([0.5 + radii * np.cos(angles), 0.5 + radii * np.sin(angles)], axis=1)
    ideal = 0.9 / math.sqrt(max(count, 1))
    for step in range(STEPS):
        apart = at[:, None, :] - at[None, :, :]
        distance = np.sqrt((apart**2).sum(-1)) + 1e-6
        push = (ideal**2 / distance**2)[..., None] * apart
        pull = (weights * distance / ideal)[..., None] * apart * 0.6
        move = push.sum(1) - pull.sum(1) - (at - 0.5) * 0.35
        size = np.sqrt((move**2).sum(-1, keepdims=True)) + 1e-9
        at = at + move / size * np.minimum(size, 0.08 * (1 - step / STEPS))
    low, high = at.min(0), at.max(0)
    scaled: np.ndarray = (at - low) / np.maximum(high - low, 1e-6)
    return scaled


def map_draw(memories: Sequence[Memory]) -> Map:
    """Return the map of these memories, those without a topic left out."""
    counts = Counter(topic for memory in memories for topic in topics_of(memory))
    names = [topic for topic, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MAX_TOPICS]]
    index = {topic: number for number, topic in enumerate(names)}
    size = len(names)
    if not size:
        return Map([], [], [])
    meets = np.zeros((size, size))
    for memory in memories:
        for a, b in combinations(sorted({index[t] for t in topics_of(memory) if t in index}), 2):
            meets[a, b] += 1
            meets[b, a] += 1
    top = meets.max() or 1.0
    places = positions(size, np.sqrt(meets / top))
    biggest = counts[names[0]]
    topics = [
        Topic(
            kind, name, counts[kind, name],
            round(EDGE + float(x) * (WIDTH - 2 * EDGE), 1), round(EDGE + float(y) * (HEIGHT - 2 * EDGE), 1),
            round(7 + 15 * math.sqrt(counts[kind, name] / biggest), 1),
        )
        for (kind, name), (x, y) in zip(names, places, strict=True)
    ]  # fmt: skip
    pairs = [(a, b) for a, b in combinations(range(size), 2) if meets[a, b]]
    pairs.sort(key=lambda pair: -meets[pair])
    lines = [(topics[a], topics[b]) for a, b in pairs[: 2 * size]]  # more would hide what they show
    return Map(topics, dots_place(memories, topics, index), lines)


def dots_place(memories: Sequence[Memory], topics: list[Topic], index: dict[tuple[str, str], int]) -> list[Dot]:
    """Return each memory near the middle of its topics, spread in a spiral so that none hides another."""
    around: Counter[tuple[int, ...]] = Counter()
    dots = []
    for memory in memories:
        own = tuple(sorted({index[topic] for topic in topics_of(memory) if topic in index}))
        if not own:
            continue
        number = around[own]
        around[own] += 1
        x = sum(topics[i].x for i in own) / len(own)
        y = sum(topics[i].y for i in own) / len(own)
        first = topics[own[0]].radius + 9 if len(own) == 1 else 5
        radius = first + 5.5 * math.sqrt(number)
        angle = number * GOLDEN + own[0]
        dots.append(
            Dot(
                memory,
                round(min(max(x + radius * math.cos(angle), 8), WIDTH - 8), 1),
                round(min(max(y + radius * math.sin(angle), 8), HEIGHT - 8), 1),
            )
        )
    return dots
