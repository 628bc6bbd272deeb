"""The stand-in's HTTP server: Anthropic's Messages API and OpenAI's chat completions API."""

import json
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from aiworker.fake.answers import Answer, by_rule

# A key such as sk-fake-429x2-anything fails twice that way and then works; without a number it always fails.
KEY = re.compile(r"sk-fake-(?P<behaviour>[a-z0-9_]+?)(?:x(?P<times>\d+))?(?:-.*)?\Z")
ERRORS = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error",
    413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "overloaded_error",
    529: "overloaded_error",
}  # fmt: skip


class Stop(Exception):
    """The exchange is over without a proper answer."""


class FakeProvider(ThreadingHTTPServer):
    """A provider on loopback; `script` says how the next requests fare, else the request's key does.

    `requests` records each request as {"path", "key", "body"}, for tests to look at.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int = 0, *, answer: Answer = by_rule, retry_after: float = 0, drip: float = 0.05) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.answer, self.retry_after, self.drip = answer, retry_after, drip
        self.script: deque[str] = deque()
        self.requests: list[dict[str, Any]] = []
        self.failed: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.released = threading.Event()
        self.before_answer: Callable[[], None] = lambda: None

    @property
    def url(self) -> str:
        """Return the base URL, without a path."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def behaviour_for(self, key: str) -> str:
        """Return how the next request with this key fares."""
        with self.lock:
            if self.script:
                return self.script.popleft()
            match = KEY.match(key)
            if match is None or match["behaviour"] == "ok":
                return "ok"
            self.failed[key] += 1
            return "ok" if match["times"] and self.failed[key] > int(match["times"]) else match["behaviour"]

    @contextmanager
    def running(self) -> Iterator["FakeProvider"]:
        """Serve from a thread while the block runs."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self.shutdown()
            self.server_close()
            thread.join()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about clients that hang up."""


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    server: FakeProvider

    def log_message(self, format: str, *args: Any) -> None:
        """Write no log line: a request's key is in its headers."""

    def do_POST(self) -> None:
        """Answer a request to either API."""
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix("Bearer ")
        body = json.loads(raw)
        self.server.requests.append({"path": self.path, "key": key, "body": body})
        behaviour = self.server.behaviour_for(key)
        try:
            if self.path == "/v1/messages":
                self._messages(behaviour, key, body)
            elif self.path.endswith("/chat/completions"):
                self._chat(behaviour, key, body)
            else:
                self._error(404, key)
        except (Stop, BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    # How either API fails

    def _failed(self, behaviour: str, key: str) -> bool:
        """Fail in a way that both APIs share; return whether the behaviour was one of those."""
        if behaviour.isdigit():
            self._error(int(behaviour), key)
        elif behaviour == "hang":
            self.server.released.wait(600)
            raise Stop
        elif behaviour == "close":
            raise Stop
        elif behaviour == "broken":
            self._send(200, b'{"id": "msg_1", "content": [{"type": "te')
        elif behaviour == "html":
            self._send(200, b"<html><body>Bad gateway</body></html>", "text/html")
        elif behaviour == "drip":
            self._drip()
            raise Stop
        else:
            return False
        return True

    def _drip(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        self.end_headers()
        while not self.server.released.wait(self.server.drip):
            self.wfile.write(b" ")
            self.wfile.flush()

    def _error(self, status: int, key: str) -> None:
        # Providers do repeat what they were sent; ours must never be shown to anybody.
        text = f"fake failure {status} for key {key}"
        error = {"type": "error", "error": {"type": ERRORS.get(status, "api_error"), "message": text, "code": None}}
        self._send(status, json.dumps(error).encode())

    def _send(self, status: int, payload: bytes, content_type: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(payload)))
        if status == 429:
            self.send_header("Retry-After", f"{self.server.retry_after:g}")
        self.end_headers()
        self.wfile.write(payload)

    def _reply(self, body: dict[str, Any]) -> None:
        self.server.before_answer()
        self._send(200, json.dumps(body).encode())

    # Anthropic

    def _messages(self, behaviour: str, key: str, body: dict[str, Any]) -> None:
        if self._failed(behaviour, key):
            return
        name = body["tools"][0]["name"]
        stop, text, tool = "tool_use", "", name
        given: dict[str, Any] | None = None
        if behaviour == "refusal":
            stop, text, tool = "refusal", "I cannot help with that.", ""
        elif behaviour == "truncated":
            stop = "max_tokens"
        elif behaviour == "wrong_tool":
            tool, given = "other_tool", {"query": "weather"}
        elif behaviour == "wrong_schema":
            given = {"memories": [{"text": 1}], "summary": None, "message": 0}
        elif behaviour == "prose":
            stop, text, tool = "end_turn", "Here is what I found: nothing much.", ""
        data = json.loads(body["messages"][0]["content"])
        content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
        if tool:
            value = given if given is not None else self.server.answer(name, data)
            content.append({"type": "tool_use", "id": "toolu_fake", "name": tool, "input": value})
        self._reply(
            {
                "id": "msg_fake", "type": "message", "role": "assistant", "model": body["model"], "content": content,
                "stop_reason": stop, "stop_sequence": None,
                "usage": {"input_tokens": _tokens(body), "output_tokens": _tokens(content)},
            }
        )  # fmt: skip

    # OpenAI

    def _chat(self, behaviour: str, key: str, body: dict[str, Any]) -> None:
        if self._failed(behaviour, key):
            return
        name = body["response_format"]["json_schema"]["name"]
        data = json.loads(body["messages"][-1]["content"])
        message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
        finish = "stop"
        if behaviour == "refusal":
            message["refusal"] = "I cannot help with that."
        elif behaviour == "truncated":
            message["content"], finish = '{"memories": [', "length"
        elif behaviour == "wrong_tool":
            call = {"name": "other_tool", "arguments": '{"query": "weather"}'}
            message["tool_calls"] = [{"id": "call_fake", "type": "function", "function": call}]
            finish = "tool_calls"
        elif behaviour == "wrong_schema":
            message["content"] = '{"memories": [{"text": 1}], "summary": null, "message": 0}'
        elif behaviour == "prose":
            message["content"] = "Here is what I found: nothing much."
        else:
            message["content"] = json.dumps(self.server.answer(name, data))
        usage = {"prompt_tokens": _tokens(body), "completion_tokens": _tokens(message)}
        self._reply(
            {
                "id": "chatcmpl-fake", "object": "chat.completion", "created": int(time.time()),
                "model": body["model"], "usage": usage,
                "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            }
        )  # fmt: skip


def _tokens(value: Any) -> int:
    return len(json.dumps(value)) // 4
