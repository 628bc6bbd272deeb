"""The web server as a benchmark runs it, a key to it, and a client that does as little as it can."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from bench._support import ROOT


def key_new(access: Any) -> str:
    """Make a full key to a space."""
    from accounts.access import space_transaction
    from accounts.models import Membership
    from apikeys.services import apikey_create

    membership = Membership.objects.select_related("space", "user").get(space_id=access.space_id)
    with space_transaction(access):
        return apikey_create(access=access, space=membership.space, user=membership.user, name="bench")[1]


@contextmanager
def web() -> Iterator[tuple[int, Any]]:
    """Run the web server on a free port; give the port and its process."""
    import psutil

    from embedded.health import healthy

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = subprocess.Popen(
        [sys.executable, "-m", "embedded.web"], cwd=ROOT, env=os.environ | {"PORT": str(port)}, start_new_session=True
    )
    try:
        while not healthy("127.0.0.1", port):
            time.sleep(0.1)
        yield port, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


class Connection:
    """A kept-alive connection that does as little as a client can."""

    def __init__(self, port: int, key: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.head = f"Host: localhost\r\nAuthorization: Bearer {key}\r\nContent-Type: application/json\r\n"

    def call(self, method: str, path: str, body: bytes = b"") -> tuple[int, bytes]:
        """Give the status and body of the answer."""
        head = f"{method} {path} HTTP/1.1\r\n{self.head}Content-Length: {len(body)}\r\n\r\n"
        self.socket.sendall(head.encode() + body)
        held = b""
        while b"\r\n\r\n" not in held:
            held += self.socket.recv(65536)
        head_bytes, _, rest = held.partition(b"\r\n\r\n")
        lowered = head_bytes.lower()
        at = lowered.find(b"content-length:")
        length = int(lowered[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
        while len(rest) < length:
            rest += self.socket.recv(65536)
        return int(head_bytes[9:12]), rest
