"""The bytes of a job: what it works on, and what it keeps for its next attempt. They go when the job ends."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from accounts.access import Access, space_transaction
from aiworker.models import Job, JobInput

PIECE_BYTES = 1024 * 1024
KEPT_FROM = 1_000_000  # the number of the first piece that is kept for the next attempt


def inputs_store(access: Access, job: Job, inputs: Iterable[bytes]) -> None:
    """Store what a job works on, in pieces of about a mebibyte; in the transaction that makes the job."""
    for seq, piece in enumerate(_pieces(inputs)):
        JobInput.objects.create(space_id=access.space_id, job_id=job.id, seq=seq, data=piece)


def _pieces(inputs: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the same bytes in pieces of about a mebibyte."""
    held = bytearray()
    for piece in inputs:
        held += piece
        if len(held) >= PIECE_BYTES:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def job_inputs(access: Access, job: Job) -> Iterator[bytes]:
    """Yield the bytes that a job works on, piece by piece, each read in a short transaction of its own."""
    seq = 0
    while True:
        with space_transaction(access):
            piece = JobInput.objects.visible_to(access).filter(job_id=job.id, seq=seq).first()
        if piece is None:
            return
        yield bytes(piece.data)
        seq += 1


def inputs_drop(access: Access, job: Job) -> None:
    """Remove all bytes of a job."""
    JobInput.objects.visible_to(access).filter(job_id=job.id).delete()


@dataclass(frozen=True, slots=True)
class Kept:
    """What a job keeps for its next attempt: numbered pieces, such as answers that have been paid for."""

    access: Access
    job: Job

    def get(self, number: int) -> bytes | None:
        """Return a piece, None when it was not kept, in a short transaction of its own."""
        with space_transaction(self.access):
            row = self._rows().filter(seq=KEPT_FROM + number).first()
        return None if row is None else bytes(row.data)

    def all(self) -> list[bytes]:
        """Return every piece in the order of their numbers, in a short transaction of its own."""
        with space_transaction(self.access):
            return [bytes(row.data) for row in self._rows().order_by("seq")]

    def put(self, number: int, piece: bytes) -> None:
        """Keep a piece, in the transaction of the work that it is about."""
        JobInput.objects.create(space_id=self.job.space_id, job_id=self.job.id, seq=KEPT_FROM + number, data=piece)

    def drop(self) -> None:
        """Forget every piece, in the caller's transaction."""
        self._rows().delete()

    def _rows(self) -> Any:
        return JobInput.objects.visible_to(self.access).filter(job_id=self.job.id, seq__gte=KEPT_FROM)
