"""Where the browser comes back to: a server on loopback that keeps the query of its one visitor."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit


class Callback:
    """The address to give as redirect_uri, and what arrived there."""

    def __init__(self) -> None:
        self.uri = ""
        self.query: dict[str, str] = {}
        self.came = Event()

    def wait(self) -> dict[str, str]:
        """Return the parameters with which the browser came."""
        assert self.came.wait(30), "Nobody came back."
        return self.query


@contextmanager
def callback_server() -> Iterator[Callback]:
    """Run the server."""
    callback = Callback()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>Connected</title><p>You can close this window.")
            if parts.path == "/callback":
                callback.query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                callback.came.set()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        callback.uri = f"http://127.0.0.1:{server.server_address[1]}/callback"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield callback
        finally:
            server.shutdown()
            thread.join()
