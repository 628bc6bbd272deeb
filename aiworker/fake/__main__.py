"""Run the stand-in for AI providers: `make fake-ai`, then point OMP_AI_BASE_URL at it."""

import argparse
import contextlib
from pathlib import Path

from aiworker.fake.answers import by_recording, by_rule
from aiworker.fake.server import FakeProvider


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m aiworker.fake", description=__doc__)
    parser.add_argument("--port", type=int, default=8900)
    parser.add_argument("--recordings", type=Path, help="a folder of recorded transcripts with their answers")
    options = parser.parse_args()
    answer = by_recording(options.recordings) if options.recordings else by_rule
    with FakeProvider(options.port, answer=answer) as server:
        print(f"A stand-in for AI providers, which follows simple rules, is at {server.url}.", flush=True)
        print("In another terminal, start the service with:", flush=True)
        print(f"  OMP_AI_BASE_URL={server.url} OMP_AI_API_KEY=sk-fake-ok make run", flush=True)
        print("A request's api_key may ask for a failure: sk-fake-429, sk-fake-500x2, sk-fake-refusal ...", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()


if __name__ == "__main__":
    main()
