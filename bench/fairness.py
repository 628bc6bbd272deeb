"""Fairness of the queues: what one space waits while another imports 100,000 rows and queues hundreds of AI jobs."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import ROOT, finish, memories_add, percentile, service, space_new, table

ROUNDS = 15
AI_JOBS = 300
ANSWER_SECONDS = 0.2  # of the provider on loopback


def rows(count: int) -> Iterator[bytes]:
    """Yield an import of so many memories, one a line."""
    for number in range(count):
        record = {"content": f"Imported statement number {number} about topic {number % 997}", "type": "semantic"}
        yield json.dumps(record | {"source": {"tool": "bench"}}).encode() + b"\n"


@contextmanager
def workers(**env: str) -> Iterator[None]:
    """Run both Celery workers of the service."""
    started = [
        subprocess.Popen([sys.executable, "-m", "embedded.programs", name], cwd=ROOT, env=os.environ | env)
        for name in ("worker", "jobs")
    ]
    try:
        yield
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.wait(30)


def embedding_seconds(access: Any) -> float:
    """Return how long after its commit a new memory has its vector."""
    from accounts.access import space_transaction
    from memories.embeddings import embeddings_of

    started = time.perf_counter()
    [memory_id] = memories_add(access, [f"A single memory of {time.time_ns()}"])
    while time.perf_counter() - started < 60:
        with space_transaction(access):
            if embeddings_of(access, [memory_id]):
                break
        time.sleep(0.01)
    return time.perf_counter() - started


def extraction_seconds(access: Any) -> float:
    """Return how long an extraction takes from its request to its end."""
    from aiworker.jobs import job_wait

    started = time.perf_counter()
    job = job_wait(access, extraction(access).id, 120)
    assert job.status == "succeeded", job.error
    return time.perf_counter() - started


def extraction(access: Any) -> Any:
    """Queue an extraction of a short transcript and return its job."""
    from django.utils import timezone

    from aiworker.jobs import job_create
    from aiworker.work import Material

    material = Material(
        transcript=f"User: I prefer seat {time.time_ns()}.", date=timezone.now(), tool="bench", provider="anthropic"
    )
    return job_create(access=access, kind="extract", params={}, inputs=[material.pack()])


def main() -> None:
    """Measure a quiet service, then beside another space's import, then beside its AI jobs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    count = parser.parse_args().rows
    with service("fairness"):
        from aiworker.fake.server import FakeProvider
        from aiworker.jobs import job_cancel, job_create, job_wait

        with FakeProvider() as fake, fake.running():
            fake.before_answer = lambda: time.sleep(ANSWER_SECONDS)
            env = {"OMP_AI_BASE_URL": fake.url, "OMP_AI_API_KEY": "sk-fake-ok"}
            busy, other = space_new("busy"), space_new("other")
            with workers(**env):
                embedding_seconds(other), extraction_seconds(other)  # the workers have started
                measured = {
                    "embedding, quiet": [embedding_seconds(other) for _ in range(ROUNDS)],
                    "extraction, quiet": [extraction_seconds(other) for _ in range(ROUNDS)],
                }
                params = {"conflict": "skip", "format": "ndjson"}
                job = job_create(access=busy, kind="import", params=params, inputs=rows(count))
                time.sleep(3)
                name = f"embedding, beside an import of {count:,} rows"
                measured[name] = [embedding_seconds(other) for _ in range(ROUNDS)]
                state = job_wait(busy, job.id, 0)
                print(f"# the import stood at {state.done:,} of {count:,} rows, {state.status}")
                queued = [extraction(busy) for _ in range(AI_JOBS)]
                time.sleep(1)
                name = f"extraction, beside {AI_JOBS} queued jobs and the import"
                measured[name] = [extraction_seconds(other) for _ in range(ROUNDS)]
                for open_job in [job, *queued]:
                    if job_wait(busy, open_job.id, 0).status in ("queued", "running"):
                        job_cancel(access=busy, job_id=open_job.id)
    lines = [
        [name, *(f"{percentile(taken, share):.2f}" for share in (0.5, 0.95)), f"{max(taken):.2f}"]
        for name, taken in measured.items()
    ]
    table(["one space's own", "p50 s", "p95 s", "worst s"], lines)
    finish("fairness", {"rows": lines})


if __name__ == "__main__":
    main()
