"""Removing what is over: expired memories after their days of grace, and the traces of previews."""

from datetime import timedelta

from django.conf import settings

from accounts.access import Access
from api import clock
from api.idempotency import answers_forget
from events.services import event_record
from memories.models import ForgetPreview, Memory

BATCH = 1_000
PREVIEW_KEPT = timedelta(minutes=15)


def memories_purge(access: Access) -> int:
    """Delete the memories of a space that expired some days ago (settings.EXPIRED_KEPT_DAYS); return how many.

    An expiry is no wish to forget: no tombstone keeps extraction from finding the same text again.
    """
    before = clock.now() - timedelta(days=settings.EXPIRED_KEPT_DAYS)
    ids = list(
        Memory.objects.filter(space_id=access.space_id, expires_at__lt=before).values_list("id", flat=True)[:BATCH]
    )
    if ids:
        Memory.objects.filter(space_id=access.space_id, id__in=ids).delete()
        answers_forget(access, ids)
        event_record(access=access, type="memory.purged", object_kind="memory", object_ids=ids)
    return len(ids)


def previews_purge(access: Access) -> None:
    """Drop the marks of previews that no longer allow anything."""
    ForgetPreview.objects.visible_to(access).filter(at__lt=clock.now() - PREVIEW_KEPT).delete()
