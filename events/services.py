"""Writing the event log."""

import json
from collections.abc import Sequence
from typing import Any

from django.db import connection

from accounts.access import Access

INSERT = """
INSERT INTO events_event
  (space_id, type, actor_kind, actor_id, actor_name, object_kind, object_ids, ip, channel, request_id, details)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


def event_record(
    *,
    access: Access,
    type: str,
    object_kind: str = "",
    object_ids: Sequence[str] = (),
    details: dict[str, Any] | None = None,
) -> None:
    """Append one event in the caller's transaction.

    `details` holds counts, names of fields and settings, never text that a person or a tool stored. It is a plain
    statement because it stands in the way of every request.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            INSERT,
            [
                access.space_id, type, access.actor_kind, access.actor_id, access.actor_name[:100], object_kind,
                list(object_ids), access.ip, access.channel, access.request_id, json.dumps(details or {}),
            ],
        )  # fmt: skip
