"""tools/list and recall over MCP: processor time a call and throughput at 16 connections, beside a bare Django view."""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._support import (
    ROOT,
    database_process,
    finish,
    machine,
    noise_ms,
    percentile,
    processor_seconds,
    service,
    space_new,
    table,
)

FACTS = 1_000
WORDS = ["garden", "kitchen", "window", "river", "mountain", "library", "bicycle", "coffee", "winter", "piano"]


def free_port() -> int:
    """Give a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(module: str, processes: int) -> Iterator[tuple[int, psutil.Process]]:
    """Run a web server and give its port and process."""
    port = free_port()
    environment = os.environ | {"PORT": str(port), "OMP_HOST": "127.0.0.1", "OMP_WEB_PROCESSES": str(processes)}
    started = subprocess.Popen([sys.executable, "-m", module], cwd=ROOT, env=environment)
    try:
        for _ in range(300):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        else:
            raise RuntimeError(f"{module} does not listen.")
        yield port, psutil.Process(started.pid)
    finally:
        started.terminate()
        started.wait(20)


def request_bytes(port: int, key: str, method: str, params: dict[str, Any]) -> bytes:
    """Give a whole HTTP request."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    head = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {key}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Connection:
    """One kept-alive connection; as little work as possible, since the load shares the machine."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), 30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, request: bytes) -> bytes:
        """Send a request and give the whole answer."""
        self.socket.sendall(request)
        answer = self.socket.recv(65_536)
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(65_536)
        head, _, body = answer.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        while len(body) < length:
            body += self.socket.recv(65_536)
        if not head.startswith(b"HTTP/1.1 200") or b'"error"' in body[:200]:
            raise RuntimeError(head.decode() + body[:300].decode())
        return body


def load(port: int, request: bytes, connections: int, seconds: float) -> tuple[int, float, list[float]]:
    """Ask from so many connections for so long; give the calls, the seconds and each call's milliseconds."""
    counts: list[list[float]] = [[] for _ in range(connections)]
    begin = threading.Barrier(connections + 1)

    def worker(taken: list[float]) -> None:
        try:
            connection = Connection(port)
            connection.ask(request)
        except Exception:
            begin.abort()
            raise
        begin.wait()
        end = time.perf_counter() + seconds
        while (started := time.perf_counter()) < end:
            connection.ask(request)
            taken.append((time.perf_counter() - started) * 1000)

    threads = [threading.Thread(target=worker, args=(taken,)) for taken in counts]
    for thread in threads:
        thread.start()
    begin.wait()
    started = time.perf_counter()
    for thread in threads:
        thread.join()
    taken = [milliseconds for one in counts for milliseconds in one]
    return len(taken), time.perf_counter() - started, taken


def prepared() -> str:
    """Fill a space and give a key to it."""
    from django.db import transaction

    from accounts.access import Access, space_set, space_transaction
    from accounts.models import Membership, Space
    from apikeys.services import apikey_create
    from memories.facts import fact_remember
    from memories.schemas import Remember

    access = space_new("mcp")
    space = Space.objects.get(pk=access.space_id)
    owner = Membership.objects.get(space=space).user
    for start in range(0, FACTS, 100):
        with space_transaction(access):
            for number in range(start, start + 100):
                words = " ".join(WORDS[(number * step) % len(WORDS)] for step in (1, 5, 7))
                fact_remember(access=access, data=Remember(text=f"Fact {number} about {words}", subject=words[:20]))
    with transaction.atomic():
        space_set(space.pk)
        return apikey_create(access=Access.system(space.pk), space=space, user=owner, name="bench")[1]


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    result: dict[str, Any] = {"noise_ms": round(noise_ms(), 2), "connections": chosen.connections}
    rows = []
    with service("mcp"):
        key = prepared()
        recall = {"name": "recall", "arguments": {"q": "garden river", "limit": 10}}
        newest = {"name": "recall", "arguments": {"limit": 10}}
        calls = [
            ("bare Django view", "bench._bare", "tools/list", {}),
            ("tools/list", "embedded.web", "tools/list", {}),
            ("recall, words", "embedded.web", "tools/call", recall),
            ("recall, newest", "embedded.web", "tools/call", newest),
        ]
        for name, module, method, params in calls:
            with server(module, chosen.processes) as (port, web):
                request = request_bytes(port, key, method, params)
                load(port, request, chosen.connections, min(3.0, chosen.seconds))
                database = database_process()
                before = processor_seconds(web), processor_seconds(database)
                count, seconds, taken = load(port, request, chosen.connections, chosen.seconds)
                used = processor_seconds(web) - before[0], processor_seconds(database) - before[1]
            measured = {
                "calls_per_second": round(count / seconds),
                "web_ms_per_call": round(used[0] / count * 1000, 3),
                "database_ms_per_call": round(used[1] / count * 1000, 3),
                "p50_ms": round(percentile(taken, 0.5), 2),
                "p99_ms": round(percentile(taken, 0.99), 2),
            }
            result[name] = measured
            rows.append([name, *measured.values()])
        print(f"# {machine()}")
    table(["call", "calls/s", "web ms/call", "database ms/call", "p50 ms", "p99 ms"], rows)
    finish("mcp", result)


if __name__ == "__main__":
    main()
