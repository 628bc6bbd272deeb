"""Whether a dream is due: enough time, and enough to tidy up."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

from accounts.access import Access
from accounts.models import Space
from api import clock
from memories.tiers import CORE_CHARACTERS, CORE_FACTS
from notebook.journal import space_today

EVERY = timedelta(hours=24)
CHANGED_FACTS = 5
CORE_SHARE = 0.8

# One statement, since get_context asks it each time. What only dreams changed does not call for another dream.
STATE = """
WITH last AS (
    SELECT max(created_at) AS at FROM dreams_dreamrun WHERE space_id = %(space_id)s AND status <> 'cancelled'
), core AS (
    SELECT count(*) AS facts, coalesce(sum(char_length(content)), 0) AS characters FROM memories_memory
    WHERE space_id = %(space_id)s AND tier = 'core' AND status = 'active'
        AND (expires_at IS NULL OR expires_at > %(now)s)
)
SELECT last.at, core.facts, core.characters,
    (SELECT count(*) FROM (
        SELECT 1 FROM memories_memory WHERE space_id = %(space_id)s AND status = 'active'
            AND (last.at IS NULL OR updated_at > last.at) AND (dreamed_at IS NULL OR updated_at > dreamed_at)
        LIMIT %(changed)s) AS changed),
    EXISTS (
        SELECT FROM notebook_journalentry WHERE space_id = %(space_id)s AND kind = 'day' AND date < %(today)s
            AND (last.at IS NULL OR date >= (last.at AT TIME ZONE %(zone)s)::date)),
    EXISTS (
        SELECT FROM dreams_dreamrun WHERE space_id = %(space_id)s AND status IN ('pending', 'leased'))
FROM last, core
"""


@dataclass(frozen=True)
class Due:
    """Whether a dream is due, and why not."""

    due: bool
    reason: str = ""


def dream_due(access: Access, space: Space) -> Due:
    """Return whether a dream should start now, by one query.

    Reasons against: disabled, in_progress, too_soon (24 hours since the last), nothing_changed (fewer than 5 facts
    changed, no journal day closed, core not over 80 % full).
    """
    if not space.dreams_enabled:
        return Due(False, "disabled")
    now = clock.now()
    values: dict[str, Any] = {
        "space_id": space.pk, "now": now, "changed": CHANGED_FACTS, "today": space_today(space),
        "zone": space.timezone,
    }  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(STATE, values)
        row = cursor.fetchone()
    assert row is not None
    last, core_facts, core_characters, changed, closed, live = row
    if live:
        return Due(False, "in_progress")
    if last is not None and now - last < EVERY:
        return Due(False, "too_soon")
    full = core_facts > CORE_SHARE * CORE_FACTS or core_characters > CORE_SHARE * CORE_CHARACTERS
    if changed < CHANGED_FACTS and not closed and not full:
        return Due(False, "nothing_changed")
    return Due(True)
