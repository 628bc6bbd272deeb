"""What a client may ask of the event log."""

from typing import Annotated

from api.params import Cursor, Limit
from api.schemas import ClosedBody, Text, Timestamp


class EventParams(ClosedBody):
    """Query parameters of GET /v1/events."""

    type: Annotated[str, Text(40)] | None = None
    object: Annotated[str, Text(128)] | None = None
    after: Timestamp | None = None
    before: Timestamp | None = None
    limit: Limit = 50
    cursor: Cursor | None = None
