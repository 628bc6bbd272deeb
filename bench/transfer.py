"""Import and export of 100,000 memories: time, peak memory, first byte, and a worker killed half-way."""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import ROOT, finish, service, space_delete, space_new, table
from bench.api import sentence


def export_file(count: int) -> Iterator[bytes]:
    """Yield an export file of so many memories."""
    chance = random.Random(3)
    yield b'{"omp_version":"0.1","exported_at":"2026-06-29T12:00:00Z","server":"bench","memories":['
    for number in range(count):
        record = {
            "id": f"mem_{number:016d}", "content": sentence(chance), "type": "semantic", "source": {"tool": "bench"},
            "tags": ["bench"], "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        }  # fmt: skip
        yield (b"," if number else b"") + json.dumps(record).encode()
    yield b"]}"


def child(*words: str) -> subprocess.Popen[str]:
    """Start this file again to do one thing in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "bench.transfer", "--child", *words], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )


def answer(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for a child and give what it printed."""
    output, _ = process.communicate()
    assert process.returncode == 0, process.returncode
    found: dict[str, Any] = json.loads(output.splitlines()[-1])
    return found


def peak_mib() -> float:
    """Give the most memory that this process has held; getrusage would count what its parent held when it forked."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def work(job_id: str, space_id: int) -> dict[str, Any]:
    """Do a job as a worker does."""
    from aiworker.jobruns import job_run

    started = time.perf_counter()
    job_run(space_id=space_id, job_id=job_id)
    return {"seconds": time.perf_counter() - started, "peak_mib": peak_mib()}


def read(space_id: int) -> dict[str, Any]:
    """Read an export as a web server sends it."""
    from accounts.access import Access
    from memories.schemas import ExportParams
    from memories.transfer.export import export_stream

    started = time.perf_counter()
    stream = export_stream(Access.system(space_id), ExportParams())
    size = len(next(stream))
    first = time.perf_counter() - started
    size += sum(map(len, stream))
    return {
        "first_byte_s": first, "seconds": time.perf_counter() - started, "mib": size / 2**20, "peak_mib": peak_mib(),
    }  # fmt: skip


def job_of(access: Any, job_id: str) -> Any:
    """Read a job."""
    from accounts.access import space_transaction
    from aiworker.models import Job

    with space_transaction(access):
        return Job.objects.visible_to(access).get(id=job_id)


def killed_half_way(access: Any, count: int) -> tuple[dict[str, Any], int]:
    """Kill a worker in the middle of an import, start another; give its figures and where the first one stopped."""
    from django.utils import timezone

    from accounts.access import space_transaction
    from aiworker.jobs import job_create
    from aiworker.models import Job
    from memories.models import Memory

    job = job_create(
        access=access, kind="import", params={"conflict": None, "format": "omp"}, inputs=export_file(count)
    )
    process = child("work", job.id, str(access.space_id))
    while job_of(access, job.id).done < count // 2:
        time.sleep(0.1)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stopped = job_of(access, job.id)
    with space_transaction(access):
        # In a service the sweep finds it after half a minute of silence.
        Job.objects.visible_to(access).update(alive_at=timezone.now() - timedelta(hours=1))
    figures = answer(child("work", job.id, str(access.space_id)))
    done = job_of(access, job.id)
    with space_transaction(access):
        stored = Memory.objects.visible_to(access).count()
    assert (done.status, done.result["imported"], done.result["errors"], stored) == ("succeeded", count, [], count)
    return figures, stopped.done


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--child", nargs="+")
    options = parser.parse_args()
    if options.child:
        import django

        django.setup()
        name, *words = options.child
        print(json.dumps(work(words[0], int(words[1])) if name == "work" else read(int(words[0]))))
        return
    with service("transfer"):
        from aiworker.jobs import job_create

        access = space_new("transfer")
        params = {"conflict": None, "format": "omp"}
        job = job_create(access=access, kind="import", params=params, inputs=export_file(options.count))
        whole = answer(child("work", job.id, str(access.space_id)))
        assert job_of(access, job.id).result["imported"] == options.count
        again = job_create(access=access, kind="import", params=params, inputs=export_file(options.count))
        skipped = answer(child("work", again.id, str(access.space_id)))
        exported = answer(child("read", str(access.space_id)))
        killed = space_new("transfer-killed")
        resumed, stopped = killed_half_way(killed, options.count)
        for space in (access, killed):
            space_delete(space)
    rows = [
        ["import", round(whole["seconds"], 1), round(whole["peak_mib"]), ""],
        ["import again (skips)", round(skipped["seconds"], 1), round(skipped["peak_mib"]), ""],
        [f"import resumed at {stopped}", round(resumed["seconds"], 1), round(resumed["peak_mib"]), ""],
        ["export", round(exported["seconds"], 1), round(exported["peak_mib"]), round(exported["first_byte_s"], 3)],
    ]
    table([f"{options.count} memories", "seconds", "peak MiB", "first byte s"], rows)
    finish(
        "transfer",
        {
            "count": options.count, "import": whole, "again": skipped, "resumed": resumed | {"from": stopped},
            "export": exported,
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
