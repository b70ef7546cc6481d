"""Runs against servers that fail now and then: the numbers are those of a server that does not."""

from __future__ import annotations

import json
import random
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


def echo_of(rows: int) -> Any:
    @benchmark(
        name=f"echo {next(names)}",
        dataset=[{"question": f"q{n}", "target": f"q{n}"} for n in range(rows)],
        prompt="{question}",
    )
    @scorer
    def echo(sample: Any) -> dict[str, Any]:
        return exact_match(sample)

    return echo


def evaluate(server: Server, tmp_path: Path, rows: int = 4, target: Any = None, **options: Any) -> RunResult:
    url = f"http://127.0.0.1:{server.server_port}/v1"
    settings: dict[str, Any] = {"retry_backoff": 0.001, "workspace": tmp_path, **options}
    return benchwright.run(target or echo_of(rows), model_url=url, model_id="m", **settings)


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


def half_a_body(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    handler.drop()


FAULTS: list[Callable[[Handler], None]] = [
    Handler.drop,
    half_a_body,
    lambda handler: handler.answer(b"{}", 429, Retry_After="0.01"),
    lambda handler: handler.answer(b"{}", 429),
    lambda handler: handler.answer(b"{}", 500),
    lambda handler: handler.answer(b"<html><title>Bad Gateway</title></html>", 503),
    lambda handler: handler.answer(b"<html><title>Sign in</title></html>"),
    lambda handler: handler.answer(b'{"choices": [{"mess'),
    lambda handler: handler.answer(b'{"choices": []}'),
    lambda handler: handler.answer(b'{"error": {"message": "out of memory"}}'),
    lambda handler: handler.events({"delta": {"content": "half an ans"}}),
]


@pytest.mark.parametrize("stream", [False, True])
def test_every_fifth_request_may_fail_and_no_row_is_lost(tmp_path: Path, stream: bool) -> None:
    chance = random.Random(7)
    lock = threading.Lock()
    faults = 0

    def now_and_then(handler: Handler, text: str, number: int) -> bool:
        nonlocal faults
        with lock:
            fails, fault = chance.random() < 0.2, chance.choice(FAULTS[:10] if not stream else FAULTS)
            faults += fails
        if fails and number <= 6:  # seven times in a row would be one row in a hundred thousand
            fault(handler)
        return fails and number <= 6

    with serving(now_and_then) as server:
        result = evaluate(server, tmp_path, rows=400, stream=stream)
    assert result.summary.outcomes["scored"] == 400
    assert result["correct"] == 1.0
    assert faults > 40
    assert result.requests_sent == sum(server.seen.values())


def test_requests_on_closed_connections_count_towards_retries_and_budgets(tmp_path: Path) -> None:
    lock = threading.Lock()
    used: set[Any] = set()

    def close_when_used_before(handler: Handler, text: str, number: int) -> bool:
        with lock:
            again = handler.client_address in used
            used.add(handler.client_address)
        if again:
            handler.drop()
        return again

    with serving(close_when_used_before) as server:
        result = evaluate(server, tmp_path, rows=40, max_retries=0, parallelism=4)
        assert sum(server.seen.values()) == result.requests_sent == 40
        assert result.summary.outcomes["request_failed"] > 0
        server.seen.clear()
        limited = evaluate(server, tmp_path, rows=41, max_requests=9, parallelism=4, cache=False)
        assert sum(server.seen.values()) == limited.requests_sent == 9


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("depth", [300, 3_000])
def test_reply_nested_too_deep_costs_its_sample_only(tmp_path: Path, status: int, depth: int) -> None:
    body = b'{"error": {"code": 400, "detail": ' + b"[" * depth + b"]" * depth + b"}}"
    healthy = threading.Event()

    def nested(handler: Handler, text: str, number: int) -> bool:
        if text == "q1" and not healthy.is_set():
            handler.answer(body, status)
            return True
        return False

    with serving(nested) as server:
        target = echo_of(4)
        result = evaluate(server, tmp_path, target=target, max_retries=1)
        assert (result.summary.outcomes["scored"], result.summary.outcomes["request_failed"]) == (3, 1)
        healthy.set()
        again = benchwright.resume(result.run_id, target=target, workspace=tmp_path, retry_failed=True)
    assert again.summary.outcomes["scored"] == 4
