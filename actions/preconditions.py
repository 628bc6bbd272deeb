"""What an action demands of the world, checked when it is approved and when it is carried out."""

from datetime import datetime
from typing import Any

from accounts.access import Access
from actions.schemas import Precondition
from api import clock
from api.errors import Conflict
from api.timestamps import timestamp_format, timestamp_parse
from memories.models import Memory
from notebook.models import KeyValue, Record


class ActionPreconditionFailed(Conflict):
    """409: a precondition of the action does not hold; details {index}."""

    code = "precondition_failed"
    default = "A precondition of this action does not hold now. details.index says which."


def precondition_store(precondition: Precondition) -> dict[str, Any]:
    """Return a precondition as it is stored and shown."""
    values = precondition.model_dump()
    return {name: timestamp_format(value) if isinstance(value, datetime) else value for name, value in values.items()}


def _holds(access: Access, precondition: dict[str, Any]) -> bool:
    match precondition:
        case {"type": "record", "collection": collection, "id": id, "version": version}:
            rows = Record.objects.visible_to(access).filter(collection=collection, id=id, version=version)
            return bool(rows.exists())
        case {"type": "kv", "ns": ns, "key": key, "version": version}:
            values = KeyValue.objects.visible_to(access).filter(ns=ns, key=key, version=version, deleted=False)
            return bool(values.exists())
        case {"type": "memory", "id": id, "version": version}:
            return Memory.objects.visible_to(access).filter(id=id, version=version).exists()
        case {"type": "not_before", "at": at}:
            return clock.now() >= timestamp_parse(at)
        case {"type": "not_after", "at": at}:
            return clock.now() <= timestamp_parse(at)
    return True  # a note is advice


def preconditions_check(*, space_id: int, preconditions: list[dict[str, Any]]) -> None:
    """Raise ActionPreconditionFailed for the first precondition that does not hold.

    The whole space counts, whatever the limits of the credential that asks.
    """
    access = Access.system(space_id)
    for index, precondition in enumerate(preconditions):
        if not _holds(access, precondition):
            raise ActionPreconditionFailed(details={"index": index})
