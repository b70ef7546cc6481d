"""Runs against servers that fail now and then: the numbers are those of a server that does not."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright import RunResult, benchmark, scorer
from benchwright.core import reply_to_json
from benchwright.scorers import exact_match

names = count()


class Server(ThreadingHTTPServer):
    """Answers each question with its own text, unless `fault` has answered already."""

    daemon_threads = True

    def __init__(self, fault: Callable[[Handler, str, int], bool]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        self.seen: Counter[str] = Counter()
        self.lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    """One connection, kept open."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = body["messages"][-1]["content"]
        with self.server.lock:
            self.server.seen[text] += 1
            number = self.server.seen[text]
        if self.server.fault(self, text, number):
            return
        if body.get("stream"):
            self.events({"delta": {"content": text}}, {"delta": {}, "finish_reason": "stop"})
        else:
            choice = {"message": {"content": text}, "finish_reason": "stop"}
            self.answer(json.dumps({"choices": [choice]}).encode())

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def events(self, *choices: dict[str, Any]) -> None:
        events = [b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n" for choice in choices]
        self.answer(b"".join([*events, b"data: [DONE]\n\n"]), Content_Type="text/event-stream")

    def drop(self) -> None:
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(fault: Callable[[Handler, str, int], bool]) -> Iterator[Server]:
    server = Server(fault)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def evaluate(server: Server, tmp_path: Path, rows: int = 4, **options: Any) -> RunResult:
    @benchmark(
        name=f"echo {next(names)}",
        dataset=[{"question": f"q{n}", "target": f"q{n}"} for n in range(rows)],
        prompt="{question}",
    )
    @scorer
    def echo(sample: Any) -> dict[str, Any]:
        return exact_match(sample)

    url = f"http://127.0.0.1:{server.server_port}/v1"
    settings: dict[str, Any] = {"retry_backoff": 0.001, "workspace": tmp_path, **options}
    return benchwright.run(echo, model_url=url, model_id="m", **settings)


def test_stream_that_is_cut_is_asked_again(tmp_path: Path) -> None:
    def cut_the_first(handler: Handler, text: str, number: int) -> bool:
        if number == 1:
            handler.events({"delta": {"role": "assistant", "content": ""}})
        return number == 1

    with serving(cut_the_first) as server:
        result = evaluate(server, tmp_path, stream=True)
    assert result.summary.outcomes["scored"] == 4
    assert result["correct"] == 1.0
    assert result.requests_sent == 8


def test_cut_streams_recorded_as_answers_by_earlier_versions_are_not_reused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(lambda handler, text, number: False) as server:
        with monkeypatch.context() as earlier:
            earlier.setattr(
                "benchwright.engine._ledger.reply_to_json",
                lambda reply: reply_to_json(reply._replace(status="empty", text="", finish_reason=None)),
            )
            evaluate(server, tmp_path, stream=True)
        again = evaluate(server, tmp_path, stream=True)
        cached = evaluate(server, tmp_path, stream=True)
    assert (again.requests_sent, again["correct"], again.summary.outcomes["empty"]) == (4, 1.0, 0)
    assert (cached.requests_sent, cached["correct"]) == (0, 1.0)
