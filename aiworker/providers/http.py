"""The HTTP client of every provider: one deadline for a whole exchange, however slowly the bytes come."""

import time
from collections.abc import Iterator

import httpx2

MAX_ANSWER_BYTES = 8 * 1024 * 1024


class DeadlineStream(httpx2.SyncByteStream):
    """A response body that must end before the deadline and within MAX_ANSWER_BYTES."""

    def __init__(self, stream: httpx2.SyncByteStream, request: httpx2.Request, deadline: float) -> None:
        self.stream, self.request, self.deadline = stream, request, deadline

    def __iter__(self) -> Iterator[bytes]:
        seen = 0
        for piece in self.stream:
            seen += len(piece)
            # A read time-out alone would let a server hold us for hours with a byte now and then.
            if time.monotonic() > self.deadline:
                raise httpx2.ReadTimeout("the answer took too long", request=self.request)
            if seen > MAX_ANSWER_BYTES:
                raise httpx2.RemoteProtocolError("the answer is too large", request=self.request)
            yield piece

    def close(self) -> None:
        """Close the connection's side of the body."""
        self.stream.close()


class DeadlineTransport(httpx2.BaseTransport):
    """Sends requests, each with `seconds` from its beginning to the last byte of its answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.inner = seconds, httpx2.HTTPTransport()

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response to a request. Raises httpx2.TimeoutException past the deadline."""
        deadline = time.monotonic() + self.seconds
        response = self.inner.handle_request(request)
        assert isinstance(response.stream, httpx2.SyncByteStream)
        response.stream = DeadlineStream(response.stream, request, deadline)
        return response

    def close(self) -> None:
        """Close the pool."""
        self.inner.close()


def client(seconds: float) -> httpx2.Client:
    """Return a new client with a deadline for each exchange; it follows no redirect, which could lead a key astray."""
    timeout = httpx2.Timeout(seconds, connect=min(10.0, seconds))
    return httpx2.Client(transport=DeadlineTransport(seconds), timeout=timeout, follow_redirects=False)
