"""Latency that we add to extraction and compression: a job's time without the provider's, by transcript length."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import finish, memories_add, noise_ms, percentile, service, space_new, table

SIZES = (500, 5_000, 50_000, 500_000)
ROUNDS = 12
STORED = 2_000
MEMORIES = 5  # that each part of a transcript comes to


def answer(name: str, data: dict[str, Any]) -> Any:
    """Answer at once: five memories of a part, or a summary."""
    if name != "save_memories":
        return {
            "summary": f"They spoke of {len(data.get('transcript', data.get('notes')))} things at {time.time_ns()}."
        }
    segments = data["segments"][:MEMORIES]
    return {
        "memories": [
            {
                "content": f"{segment['text']} noted {time.time_ns()}", "type": "semantic", "tags": [],
                "first": segment["n"], "last": segment["n"],
            }
            for segment in segments
        ]
    }  # fmt: skip


def main() -> None:
    """Run jobs in this process against a provider on loopback that answers at once."""
    with service("ai_overhead"):
        from django.conf import settings

        from aiworker.fake.server import FakeProvider

        print(f"# noise {noise_ms():.1f} ms; the space holds {STORED} memories; the jobs run in this process")
        rows = []
        with FakeProvider(answer=answer) as fake, fake.running():
            settings.AI_API_KEY = "sk-fake-ok"
            settings.AI_BASE_URLS = dict.fromkeys(settings.AI_BASE_URLS, fake.url)
            access = space_new("overhead")
            memories_add(access, [f"Stored statement number {n} about topic {n % 37}" for n in range(STORED)])
            for kind in ("extract", "compress"):
                for size in SIZES:
                    rounds = ROUNDS if size < 100_000 else 3
                    taken = [_job(access, kind, size) for _ in range(rounds + 1)][1:]
                    ours = [total - provider for total, provider in taken]
                    figures = [percentile(ours, 0.5), percentile(ours, 0.95), percentile([p for _, p in taken], 0.5)]
                    rows.append([f"{kind} {size:,} characters", *(f"{figure:.0f}" for figure in figures)])
    table(["job", "ours p50 ms", "ours p95 ms", "provider p50 ms"], rows)
    finish("ai_overhead", {"rows": rows})


def _job(access: Any, kind: str, size: int) -> tuple[float, float]:
    """Return the milliseconds of a whole job and those of them that were spent asking the provider."""
    from aiworker.jobruns import job_run
    from aiworker.jobs import job_create, job_get
    from aiworker.providers.anthropic import AnthropicProvider
    from aiworker.work import Material
    from api.timestamps import timestamp_parse

    line = "User: I prefer the quiet carriage when I travel to work number {} and I read there.\n"
    transcript = "".join(line.format(n) for n in range(size // len(line) + 1))[:size]
    material = Material(
        transcript=transcript, date=timestamp_parse("2026-01-01T00:00:00Z"), tool="bench", provider="anthropic"
    )
    asked = [0.0]
    original = AnthropicProvider.complete

    def timed(self: AnthropicProvider, prompt: Any) -> Any:
        began = time.perf_counter()
        try:
            return original(self, prompt)
        finally:
            asked[0] += time.perf_counter() - began

    AnthropicProvider.complete = timed  # type: ignore[method-assign]
    try:
        started = time.perf_counter()
        job = job_create(access=access, kind=kind, params={}, inputs=[material.pack()])
        job_run(space_id=job.space_id, job_id=job.id)
        total = time.perf_counter() - started
    finally:
        AnthropicProvider.complete = original  # type: ignore[method-assign]
    from accounts.access import space_transaction

    with space_transaction(access):
        ended = job_get(access, job.id)
    if ended.status != "succeeded":
        raise SystemExit(f"the job ended as {ended.status}: {ended.error}")
    return total * 1000, asked[0] * 1000


if __name__ == "__main__":
    main()
