"""Import as a job: the same chunks, each committed with the job's progress."""

import json
from tempfile import TemporaryFile
from typing import Any

from accounts.access import Access, space_transaction
from aiworker.jobs import Progress, job_inputs, job_keep, job_kept
from aiworker.models import Job
from memories.transfer.importing import Outcome, chunks, import_chunk
from memories.transfer.readers import source_open


def import_run(access: Access, job: Job, progress: Progress) -> dict[str, Any]:
    """Import the job's file from where the last attempt stopped; return {imported, skipped, errors}."""
    with TemporaryFile() as file:
        for piece in job_inputs(access, job):
            progress.check_cancelled()
            file.write(piece)
        source = source_open(file, job.params["format"])
        conflict = job.params["conflict"] or source.conflict or "skip"
        outcome = Outcome(**job.params.get("state", {}))
        for kept in job_kept(access, job):
            outcome.errors += json.loads(kept)
        done = job.done
        progress.advance(done, source.total)
        for chunk in chunks(source.records, start=done):
            progress.check_cancelled()
            with space_transaction(access):
                part = import_chunk(access=access, conflict=conflict, chunk=chunk)
                outcome.add(part)
                if part.errors:
                    job_keep(access, job, json.dumps(part.errors).encode())
                done += len(chunk)
                progress.advance(done, state={"imported": outcome.imported, "skipped": outcome.skipped})
    return {"imported": outcome.imported, "skipped": outcome.skipped, "errors": outcome.errors}
