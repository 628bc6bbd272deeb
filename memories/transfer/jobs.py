"""Import as a job: the same chunks, each committed with the job's progress."""

import json
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from accounts.access import Access, space_transaction
from accounts.models import Switch
from accounts.switches import switch_require
from aiworker.bulk import estimate_of
from aiworker.jobinputs import Kept, job_inputs
from aiworker.jobruns import Progress, Turn
from aiworker.models import Job
from api.errors import Invalid
from memories.transfer.archives import archive_is, archive_take
from memories.transfer.importing import Outcome, chunks, import_chunk
from memories.transfer.readers import AUTO, Source, source_open

OCTETS = "application/octet-stream"


def import_run(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Import the job's file from where the last attempt or turn stopped; return {imported, skipped, errors}."""
    switch_require(Switch.Name.IMPORTS)
    turn = Turn()
    with TemporaryFile() as file:
        for piece in job_inputs(access, job):
            progress.check_cancelled()
            file.write(piece)
        if job.params["format"] in (None, AUTO) and archive_is(file):
            return _archive(access, job, progress, file)
        source = source_open(file, job.params["format"], job.params.get("content_type", OCTETS))
        conflict = job.params["conflict"] or source.conflict or "skip"
        outcome = Outcome(**job.params.get("state", {}))
        kept = Kept(access, job)
        for errors in kept.all():
            outcome.errors += json.loads(errors)
        done = job.done
        progress.advance(done, source.total)
        for chunk in chunks(source.records, start=done):
            progress.check_cancelled()
            turn.check()
            with space_transaction(access):
                part = import_chunk(access=access, conflict=conflict, chunk=chunk)
                outcome.add(part)
                if part.errors:
                    kept.put(done, json.dumps(part.errors).encode())
                done += len(chunk)
                counts = ("imported", "skipped", "conversations")
                progress.advance(done, state={name: getattr(outcome, name) for name in counts})
        progress.advance(done, done)
        with space_transaction(access):
            return import_answer(access, outcome, source)


def _archive(access: Access, job: Job, progress: Progress, file: BinaryIO) -> dict[str, Any]:
    """Add an archive in one transaction with the job's progress: a job that was cancelled meanwhile adds nothing."""
    if "state" not in job.params:
        with space_transaction(access):
            progress.advance(1, 1, state=archive_take(access, file))
    return dict(job.params["state"])


def import_answer(access: Access, outcome: Outcome, source: Source) -> dict[str, Any]:
    """Return {imported, skipped, errors} (OMP 0.1, section 3.3); for a file of another product, more about it.

    format, conversations (of those imported), ignored (files of a zip), repaired (characters that were no text) and,
    when conversations came in, extraction: what it would cost to extract memories from those not yet extracted. Raises
    Invalid for a file of another product that holds nothing.
    """
    nothing = not (outcome.imported or outcome.skipped or outcome.errors)
    if source.report is not None and nothing:
        raise Invalid.field("body", "The file holds nothing that can be imported.")
    answer: dict[str, Any] = {"imported": outcome.imported, "skipped": outcome.skipped, "errors": outcome.errors}
    if source.report is not None:
        answer |= {
            "format": source.format, "conversations": outcome.conversations, "ignored": source.report.ignored,
            "repaired": source.report.repaired,
        }  # fmt: skip
    if outcome.conversations and access.may("ai"):
        answer["extraction"] = estimate_of(access, None)
    return answer
