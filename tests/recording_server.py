"""A model server on loopback that answers as a test says, and keeps what it is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Answer = Callable[[dict[str, Any]], "str | dict[str, Any]"]
"""From a body to the text of the answer, or to its message where that holds more, such as tool calls."""

Usage = Callable[[dict[str, Any]], "dict[str, Any] | None"]
"""From a body to the tokens that the server counts; None: it does not count them."""


class Received(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, list[str]]
    """Names in lower case."""
    body: dict[str, Any]


class Refusal(Exception):
    """Raised by an answer to refuse a request with these words."""

    def __init__(self, words: str, status: int = 400) -> None:
        super().__init__(words)
        self.status = status


class RecordingServer(ThreadingHTTPServer):
    """Answers chat and completions alike; `reply` makes the text, or the message, out of a request's body."""

    daemon_threads = True

    def __init__(self, reply: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.reply = reply
        self.usage: Usage = lambda body: {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}
        self.served: str | None = None
        """The name of the model in its replies, if they have one."""
        self.received: list[Received] = []

    @property
    def url(self) -> str:
        """The base URL of the API."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def model(self) -> list[str]:
        """Flags that choose this server."""
        return ["--model-url", self.url, "--model-id", "m", "--max-retries", "0"]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of all requests that had one. A slow server may also be asked, without one, what it serves."""
        return [request.body for request in self.received if request.body]

    @property
    def contents(self) -> list[Any]:
        """The user's content of each request."""
        return [body["messages"][-1]["content"] for body in self.bodies]

    def take(self) -> list[Received]:
        """What has been sent since the last time."""
        received, self.received = self.received, []
        return received

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was told to stop at once hangs up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._record({})
        listed = self.path == "/v1/models"
        self._send(200 if listed else 404, {"data": [{"id": "m"}]} if listed else {})

    def _record(self, body: dict[str, Any]) -> RecordingServer:
        server = self.server
        assert isinstance(server, RecordingServer)
        headers = {name.lower(): self.headers.get_all(name) or [] for name in self.headers}
        server.received.append(Received(self.path, headers, body))
        return server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self._record(body)
        try:
            text = server.reply(body)
        except Refusal as refusal:
            self._send(refusal.status, {"error": {"message": str(refusal)}})
            return
        message = text if isinstance(text, dict) else {"content": text}
        choice = {"index": 0, "message": {"role": "assistant", **message}, "text": text}
        counted = server.usage(body)
        usage = {} if counted is None else {"usage": counted}
        name = {} if server.served is None else {"model": server.served}
        self._send(200, {**name, "choices": [{**choice, "finish_reason": "stop"}], **usage})

    do_PATCH = do_POST

    def _send(self, status: int, answer: dict[str, Any]) -> None:
        payload = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def recording(answer: str | Answer = "B") -> Iterator[RecordingServer]:
    """A server that lives as long as the block; with a text it answers that to everybody."""
    server = RecordingServer((lambda body: answer) if isinstance(answer, str) else answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
