"""What the search tests share: short ways to store, to search and to embed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from accounts.access import Access, space_transaction
from memories.embeddings import embed_pending
from memories.models import Memory
from memories.schemas import MemoryCreate
from memories.search import SearchFilters, SearchQuery, SearchResult, search_memories
from memories.services import memories_create, memory_build
from tests.factories import memory_body, memory_make

MODES = ("keyword", "semantic", "hybrid")


def store(access: Access, *contents: str, **changes: Any) -> list[Memory]:
    """Return memories with these contents, without tags unless given, stored through the service."""
    return [memory_make(access, **{"content": content, "tags": []} | changes) for content in contents]


def store_together(access: Access, contents: Iterable[str], **changes: Any) -> list[Memory]:
    """Return memories with these contents that were stored in one transaction, as an import does."""
    with space_transaction(access):
        bodies = [memory_body(**{"content": content, "tags": []} | changes) for content in contents]
        rows = [memory_build(access=access, data=MemoryCreate.model_validate(body)) for body in bodies]
        return memories_create(access=access, memories=rows)


def embed_everything() -> None:
    """Do what a worker does until nothing waits."""
    while embed_pending(10):
        pass


def search(access: Access, q: str, mode: str = "hybrid", limit: int = 10, **filters: Any) -> SearchResult:
    """Return the result of one search."""
    return search_memories(access, SearchQuery(q, mode, limit, SearchFilters(**filters)))  # type: ignore[arg-type]


def found(access: Access, q: str, mode: str = "hybrid", limit: int = 10, **filters: Any) -> list[str]:
    """Return the ids that a search finds, best first."""
    return [hit.memory_id for hit in search(access, q, mode, limit, **filters).hits]


class FakeProvider:
    """An embeddings endpoint on loopback. `answer` makes the response to the given inputs: status and body."""

    def __init__(self, dimensions: int = 8) -> None:
        self.dimensions = dimensions
        self.requests: list[dict[str, Any]] = []
        self.status = 200
        self.fails_at = ""  # an input that holds it is answered by 500
        self.body: Any = None  # None: one vector a text
        self.url = ""

    def vectors(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return vectors that point where the text's length says."""
        rows = []
        for index, text in enumerate(texts):
            vector = [0.1] * self.dimensions
            vector[len(text) % self.dimensions] = 1.0
            rows.append({"index": index, "embedding": vector})
        return rows


@contextmanager
def fake_provider(dimensions: int = 8) -> Iterator[FakeProvider]:
    """Run an endpoint that speaks the OpenAI embeddings API during a block."""
    fake = FakeProvider(dimensions)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            fake.requests.append(request | {"path": self.path, "authorization": self.headers.get("Authorization")})
            body = {"data": fake.vectors(request["input"])} if fake.body is None else fake.body
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            fails = bool(fake.fails_at) and any(fake.fails_at in text for text in request["input"])
            self.send_response(500 if fails else fake.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
