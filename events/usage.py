"""How much a space is used, by day and by tool, from the event log."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import date, timedelta

from django.db import connection
from django.utils import timezone

from accounts.access import Access

DAYS = 30
# What each drawing counts: events whose type is one of these.
SERIES = {
    "writes": ("memory.created", "memory.updated", "memory.imported", "memory.remembered", "journal.written",
               "record.created", "record.updated", "kv.set"),
    "searches": ("memory.searched",),
    "recalls": ("memory.recalled", "memory.read", "memory.listed", "context.read"),
}  # fmt: skip
BY_DAY = """
SELECT (at AT TIME ZONE %s)::date, type, actor_kind, actor_name, count(*)
FROM events_event
WHERE space_id = %s AND at >= %s
GROUP BY 1, 2, 3, 4
"""
# Both in one pass over the memories: by day and, with no day, by tool.
STORED = """
SELECT (created_at AT TIME ZONE %(zone)s)::date AS day, source_tool, count(*), coalesce(sum(octet_length(content)), 0)
FROM memories_memory WHERE space_id = %(space)s AND status = 'active'
GROUP BY GROUPING SETS ((day), (source_tool))
"""
TOOLS = 12


@dataclass(slots=True)
class Usage:
    """Counts of the last days: each series by day, and each actor's totals by series."""

    days: list[date]
    series: dict[str, list[int]] = field(default_factory=dict)
    actors: dict[str, dict[str, int]] = field(default_factory=dict)

    def total(self, name: str) -> int:
        """Return the sum of one series."""
        return sum(self.series[name])


def usage(access: Access, days: int = DAYS) -> Usage:
    """Return what happened in the space on each of the last days, in the current time zone."""
    today = timezone.localdate()
    found = Usage([today - timedelta(days=back) for back in range(days - 1, -1, -1)])
    place = {day: number for number, day in enumerate(found.days)}
    found.series = {name: [0] * days for name in SERIES}
    kinds = {kind: name for name, types in SERIES.items() for kind in types}
    totals: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(SERIES, 0))
    since = timezone.now() - timedelta(days=days)
    with connection.cursor() as cursor:
        cursor.execute(BY_DAY, [timezone.get_current_timezone_name(), access.space_id, since])
        for day, kind, actor_kind, actor, count in cursor.fetchall():
            name = kinds.get(kind)
            if name is None or day not in place:
                continue
            found.series[name][place[day]] += count
            totals[actor or actor_kind][name] += count
    found.actors = dict(sorted(totals.items(), key=lambda item: -sum(item[1].values()))[:12])
    return found


@dataclass(slots=True)
class Stored:
    """What a space holds: memories by the end of each day, their number, their bytes of text, and the first tools.

    Each tool is (name, memories, bytes of text), the one with the most memories first.
    """

    curve: list[int]
    memories: int
    size: int
    tools: list[tuple[str, int, int]]


def stored(access: Access, days: list[date]) -> Stored:
    """Return what the space holds, in the current time zone."""
    with connection.cursor() as cursor:
        cursor.execute(STORED, {"zone": timezone.get_current_timezone_name(), "space": access.space_id})
        rows = cursor.fetchall()
    by_day = [(day, count, size) for day, _, count, size in rows if day is not None]
    tools = sorted(
        ((tool, count, size) for day, tool, count, size in rows if day is None), key=lambda row: (-row[1], row[0])
    )
    curve = [sum(count for made, count, _ in by_day if made <= day) for day in days]
    return Stored(curve, sum(row[1] for row in by_day), sum(row[2] for row in by_day), tools[:TOOLS])
