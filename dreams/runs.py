"""The life of a run: from pending to its end."""

from datetime import timedelta

from accounts.access import Access
from api import clock
from api.errors import NotFound
from dreams.models import LIVE, UNDO_FOR, DreamChange, DreamRun
from events.services import event_record

LEASE = timedelta(minutes=30)
ATTEMPTS = 3


def run_locked(access: Access, run_id: str) -> DreamRun:
    """Return a run, locked until the transaction ends. Raises NotFound."""
    run: DreamRun | None = DreamRun.objects.visible_to(access).filter(id=run_id).select_for_update().first()
    if run is None:
        raise NotFound("There is no dream with this id.")
    return run


def run_move(access: Access, run: DreamRun, status: str, *, event: str) -> None:
    """Put a locked run into a status, with its times and its event, and save it whole."""
    now = clock.now()
    run.status = status
    run.lease_until = now + LEASE if status == DreamRun.Status.LEASED else None
    if status == DreamRun.Status.LEASED:
        run.started_at = now
    if status == DreamRun.Status.APPLIED:
        run.applied_at = now
    if status not in LIVE:
        run.ended_at = run.ended_at or now
    run.save()
    event_record(
        access=access, type=event, object_kind="dream", object_ids=[run.id],
        details={"status": status, "attempts": run.attempts, "applied": run.applied, "rejected": len(run.rejected)},
    )  # fmt: skip


def leases_reap(access: Access) -> None:
    """Take back the leases of a space that are over; after three the run has failed."""
    rows = DreamRun.objects.visible_to(access).filter(status=DreamRun.Status.LEASED, lease_until__lte=clock.now())
    for run in rows.select_for_update():
        failed = run.attempts >= ATTEMPTS
        system = Access.system(access.space_id)
        if failed:
            run_move(system, run, DreamRun.Status.FAILED, event="dream.failed")
        else:
            run_move(system, run, DreamRun.Status.PENDING, event="dream.lapsed")


def snapshots_purge(access: Access) -> None:
    """Remove the before-images of runs that can no longer be undone, and the snapshots of those that have ended."""
    runs = DreamRun.objects.visible_to(access)
    over = list(runs.filter(applied_at__lte=clock.now() - UNDO_FOR).exclude(snapshot=[]).values_list("id", flat=True))
    if over:
        DreamChange.objects.visible_to(access).filter(run_id__in=over).update(before={}, after={})
        runs.filter(id__in=over).update(snapshot=[], journal=[])
    ended = [DreamRun.Status.NO_CHANGES, DreamRun.Status.FAILED, DreamRun.Status.CANCELLED]
    runs.filter(status__in=ended, ended_at__lte=clock.now() - UNDO_FOR).update(snapshot=[], journal=[])
