"""The demo server over raw sockets: framing, streams, errors, faults, shutdown."""

from __future__ import annotations

import http.client
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

import warm
from benchwright.core import UsageError
from benchwright.demo import DemoServer, DemoSettings, demo_server, fault_mix, serve_demo
from waiting import PATIENCE_S, until

QUESTION = {"model": "any", "messages": [{"role": "user", "content": "What is 12 + 7?"}], "temperature": 0}
STORY = {**QUESTION, "messages": [{"role": "user", "content": "Write a story about 日本 👍."}]}


@pytest.fixture(scope="module")
def server() -> Iterator[DemoServer]:
    with demo_server(DemoSettings(skill=1.0), max_body_bytes=100_000) as running:
        yield running


def ask(
    server: DemoServer, body: Any, path: str = "/v1/chat/completions", method: str = "POST"
) -> tuple[int, Any, dict[str, str]]:
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
    try:
        payload = body if isinstance(body, bytes | None) else orjson.dumps(body)
        connection.request(method, path, payload, {"Content-Type": "application/json"})
        response = connection.getresponse()
        data = response.read()
        headers = {name.lower(): value for name, value in response.getheaders()}
        parsed = orjson.loads(data) if headers.get("content-type") == "application/json" and data else data
        return response.status, parsed, headers
    finally:
        connection.close()


def raw(server: DemoServer, *pieces: bytes, pause_s: float = 0.0) -> bytes:
    """Sends pieces, then reads until the server closes; that it does is part of every test that uses this."""
    with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as sock:
        for piece in pieces:
            sock.sendall(piece)
            time.sleep(pause_s)
        received = b""
        while data := sock.recv(65536):
            received += data
        return received


def post(body: bytes, extra: bytes = b"", path: bytes = b"/v1/chat/completions") -> bytes:
    return b"POST %b HTTP/1.1\r\nHost: x\r\n%bContent-Length: %d\r\n\r\n%b" % (path, extra, len(body), body)


def events(data: bytes) -> list[Any]:
    blocks = data.split(b"\n\n")
    assert blocks.pop() == b""
    assert all(block.startswith(b"data: ") for block in blocks)
    assert blocks.pop() == b"data: [DONE]"
    return [orjson.loads(block[6:]) for block in blocks]


def test_a_chat_reply_has_the_shape_clients_expect_and_names_the_demo(server: DemoServer) -> None:
    status, reply, headers = ask(server, QUESTION)
    assert status == 200
    assert headers["content-type"] == "application/json"
    assert reply["object"] == "chat.completion"
    assert reply["model"] == "demo"
    assert reply["system_fingerprint"] == "benchwright-demo"
    assert reply["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "19"},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert reply["usage"] == {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    assert abs(reply["created"] - time.time()) < 60


def test_completions_with_echo_and_log_probabilities(server: DemoServer) -> None:
    body = {"model": "m", "prompt": "2 + 3 =", "max_tokens": 1, "echo": True, "logprobs": 1}
    status, reply, _ = ask(server, body, "/completions")
    choice = reply["choices"][0]
    assert (status, choice["text"]) == (200, "2 + 3 = 5")
    assert choice["logprobs"]["tokens"] == ["2", " +", " 3", " =", " 5"]
    assert choice["logprobs"]["text_offset"] == [0, 1, 3, 5, 7]
    assert choice["logprobs"]["token_logprobs"][0] is None
    assert list(choice["logprobs"]["top_logprobs"][4]) == [" 5"]


def test_models_health_and_stats_with_and_without_v1(server: DemoServer) -> None:
    for prefix in ("", "/v1"):
        assert ask(server, None, f"{prefix}/models", "GET")[1]["data"][0]["id"] == "demo"
        assert ask(server, None, f"{prefix}/health?deep=1", "GET")[1] == {"status": "ok"}
    before = ask(server, None, "/stats", "GET")[1]
    ask(server, QUESTION)
    after = ask(server, None, "/stats", "GET")[1]
    assert after["requests"] - before["requests"] == 2
    assert after["answered"] - before["answered"] == 1
    assert server.stats()["answered"] == after["answered"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/chat/completions", b"[]", 400),
        ("POST", "/v1/chat/completions", b"", 400),
        ("POST", "/v1/chat/completions", b'{"model": "m"}', 400),
        ("POST", "/v1/chat/completions", b'{"messages": [{"role": "user", "content": "x"}]}', 400),
        ("POST", "/v1/completions", b'{"model": "m"}', 400),
        ("POST", "/v1/completions", b'{"model": "m", "prompt": "x", "stream_options": 1}', 400),
        ("POST", "/v1/embeddings", b"{}", 404),
        ("GET", "/", None, 404),
        ("GET", "/v1/chat/completions", None, 405),
        ("DELETE", "/v1/models", None, 405),
        ("POST", "/v1/completions", b'{"model": "m", "prompt": "' + b"x" * 100_000 + b'"}', 413),
    ],
)
def test_mistakes_get_openai_shaped_errors(
    server: DemoServer, method: str, path: str, body: bytes | None, status: int
) -> None:
    got, reply, headers = ask(server, body, path, method)
    assert got == status
    assert set(reply["error"]) == {"message", "type", "param", "code"}
    assert reply["error"]["message"]
    assert ("allow" in headers) == (status == 405)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST /v1/completions HTTP/1.1\r\nContent-Length: -3\r\n\r\n", b"400"),
        (b"POST /v1/completions HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", b"413"),
        (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", b"501"),
        (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n", b"400"),
        (
            b"POST /v1/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n"
            + b"x" * 100_001,
            b"413",
        ),
        (b"GET /health HTTP/1.1\r\nX: " + b"y" * 70_000, b"431"),
    ],
)
def test_bytes_that_are_no_request_end_the_connection(server: DemoServer, sent: bytes, status: bytes) -> None:
    received = raw(server, sent)
    assert received.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close" in received
    assert b'"error"' in received


def test_chunked_bodies_are_read_whatever_the_pieces(server: DemoServer) -> None:
    body = orjson.dumps(QUESTION)
    chunks = b"".join(
        b"%x;ext=1\r\n%b\r\n" % (len(body[i : i + 7]), body[i : i + 7]) for i in range(0, len(body), 7)
    )
    head = b"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    for tail in (b"0\r\n\r\n", b"0\r\nTrailer: x\r\n\r\n"):
        whole = head + chunks + tail
        assert b'"content":"19"' in raw(server, whole)
        pieces = [whole[i : i + 41] for i in range(0, len(whole), 41)]
        assert b'"content":"19"' in raw(server, *pieces, pause_s=0.001)


def test_pipelined_requests_are_answered_in_order(server: DemoServer) -> None:
    sums = [{**QUESTION, "messages": [{"role": "user", "content": f"What is {n} + 1?"}]} for n in range(5)]
    sent = b"".join(post(orjson.dumps(body)) for body in sums)
    received = raw(server, sent + b"\r\n" + b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
    found = [received.index(b'"content":"%d"' % (n + 1)) for n in range(5)]
    assert found == sorted(found)
    assert received.endswith(b'{"status":"ok"}')
    assert received.count(b"HTTP/1.1 200 OK") == 6


def test_connections_are_kept_or_closed_as_asked(server: DemoServer) -> None:
    request = b"GET /health HTTP/1.%b\r\n%b\r\n"
    assert b"Connection: close" in raw(server, request % (b"1", b"Connection: close\r\n"))
    assert raw(server, request % (b"0", b"")).endswith(b"}")
    connection = http.client.HTTPConnection(server.host, server.port, timeout=PATIENCE_S)
    for _ in range(3):
        connection.request("GET", "/health")
        assert connection.getresponse().read() == b'{"status":"ok"}'
    connection.close()


def test_expect_continue_is_honoured(server: DemoServer) -> None:
    body = orjson.dumps(QUESTION)
    head = (
        b"POST /v1/chat/completions HTTP/1.1\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        % len(body)
    )
    received = raw(server, head, body, pause_s=0.05)
    assert received.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK")


@pytest.mark.parametrize("include_usage", [False, True])
def test_a_stream_spells_the_same_text(server: DemoServer, include_usage: bool) -> None:
    whole = ask(server, STORY)[1]
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    status, data, headers = ask(server, {**STORY, "stream": True, **options})
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    chunks = events(data)
    usage = chunks.pop() if include_usage else None
    assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
    assert text == whole["choices"][0]["message"]["content"]
    assert [chunk["choices"][0]["finish_reason"] for chunk in chunks[:-1]] == [None] * (len(chunks) - 1)
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert len(chunks) == whole["usage"]["completion_tokens"] + 2
    if usage is not None:
        assert usage["choices"] == []
        assert usage["usage"] == whole["usage"]


def test_a_completions_stream_carries_log_probabilities(server: DemoServer) -> None:
    body = {"model": "m", "prompt": "Once upon a time", "max_tokens": 5, "logprobs": 2, "temperature": 0}
    whole = ask(server, body, "/v1/completions")[1]["choices"][0]
    chunks = [c["choices"][0] for c in events(ask(server, {**body, "stream": True}, "/v1/completions")[1])]
    assert "".join(chunk["text"] for chunk in chunks) == whole["text"]
    streamed = [
        value for chunk in chunks if chunk["logprobs"] for value in chunk["logprobs"]["token_logprobs"]
    ]
    assert streamed == whole["logprobs"]["token_logprobs"]


def test_streamed_tool_calls_spell_the_same_arguments(server: DemoServer) -> None:
    properties = {"city": {"type": "string"}}
    tool = {
        "name": "weather",
        "parameters": {"type": "object", "properties": properties, "required": ["city"]},
    }
    body = {
        "model": "m",
        "messages": [{"role": "user", "content": "weather in Paris and Rome"}],
        "tools": [{"type": "function", "function": tool}],
    }
    message = ask(server, body)[1]["choices"][0]["message"]
    assert message["content"] is None
    calls: dict[int, list[str]] = {}
    for chunk in events(ask(server, {**body, "stream": True})[1]):
        for part in chunk["choices"][0]["delta"].get("tool_calls", []):
            calls.setdefault(part["index"], []).append(part["function"]["arguments"])
    assert ["".join(parts) for parts in calls.values()] == [
        c["function"]["arguments"] for c in message["tool_calls"]
    ]


def test_http_1_0_clients_get_a_stream_without_chunks(server: DemoServer) -> None:
    body = orjson.dumps({**QUESTION, "stream": True})
    received = raw(
        server, b"POST /v1/chat/completions HTTP/1.0\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    )
    head, _, data = received.partition(b"\r\n\r\n")
    assert b"chunked" not in head
    assert events(data)[1]["choices"][0]["delta"]["content"] == "19"


def test_streams_are_paced() -> None:
    with demo_server(DemoSettings(skill=1.0, ttft_ms=60, itl_ms=100)) as server:
        body = orjson.dumps(
            {**QUESTION, "messages": [{"role": "user", "content": "Repeat: a b c d e f"}], "stream": True}
        )
        with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as sock:
            started = time.perf_counter()
            sock.sendall(post(body))
            times = []
            data = b""
            while not data.endswith(b"0\r\n\r\n"):
                data += sock.recv(65536)
                times.append(time.perf_counter() - started)
        assert times[0] >= 0.058
        assert times[-1] >= 0.058 + 5 * 0.1 - 0.005
        assert len(times) >= 2
        started = time.perf_counter()
        ask(server, QUESTION)
        assert time.perf_counter() - started >= 0.058


def test_a_client_that_leaves_during_a_stream_does_no_harm() -> None:
    with demo_server(DemoSettings(ttft_ms=1, itl_ms=5)) as server:
        with socket.create_connection((server.host, server.port), timeout=PATIENCE_S) as sock:
            sock.sendall(post(orjson.dumps({**STORY, "stream": True})))
            sock.recv(100)
        deadline = time.perf_counter() + PATIENCE_S
        while (open_now := ask(server, None, "/stats", "GET")[1]["connections"]) > 1:
            assert time.perf_counter() < deadline
        assert open_now == 1


@pytest.mark.parametrize(
    ("kind", "status"), [("rate_limited", 429), ("server_error", 500), ("unavailable", 503), ("html", 200)]
)
def test_single_kinds_of_fault_can_be_chosen(kind: str, status: int) -> None:
    with demo_server(DemoSettings(error_rate=1.0, faults=fault_mix(kind), retry_after_s=7)) as server:
        got, reply, headers = ask(server, QUESTION)
        assert got == status
        assert headers.get("retry-after") == ("7" if kind == "rate_limited" else None)
        if kind == "html":
            assert headers["content-type"].startswith("text/html")
            assert reply.startswith(b"<!doctype html>")
        else:
            assert reply["error"]["message"]
        assert server.stats()["faults"] == {kind: 1}
        assert ask(server, None, "/health", "GET")[0] == 200


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kind", ["dropped", "half_stream", "timeout"])
def test_faults_that_break_the_connection(kind: str, stream: bool) -> None:
    settings = DemoSettings(error_rate=1.0, faults=fault_mix(kind), hang_s=0.2)
    with demo_server(settings) as server:
        started = time.perf_counter()
        received = raw(server, post(orjson.dumps({**STORY, "stream": stream})))
        if kind == "half_stream":
            assert received.startswith(b"HTTP/1.1 200 OK")
            assert b"[DONE]" not in received
            assert not received.endswith(b"0\r\n\r\n")
        else:
            assert received == b""
        assert kind != "timeout" or time.perf_counter() - started >= 0.19


def test_the_mix_of_faults_is_the_same_in_every_run_and_retries_can_succeed() -> None:
    def run() -> list[int]:
        mix = fault_mix("rate_limited,server_error,unavailable,html")
        with demo_server(DemoSettings(error_rate=0.4, seed=2, faults=mix)) as server:
            return [ask(server, {**QUESTION, "user": str(n)})[0] for n in range(20) for _ in range(3)]

    first = run()
    assert first == run()
    assert {200, 429, 500, 503} <= set(first)
    assert all(200 in first[n : n + 3] for n in range(0, 30, 3))


def requests_at(port: int) -> int:
    """How many requests a server has read, this one included."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as sock:
        sock.sendall(b"GET /stats HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        received = b""
        while data := sock.recv(65536):
            received += data
    counted: int = orjson.loads(received.partition(b"\r\n\r\n")[2])["requests"]
    return counted


def test_the_server_closes_down_on_a_signal() -> None:
    code = (
        "from benchwright.demo import DemoSettings, serve_demo\n"
        "serve_demo(DemoSettings(ttft_ms=300), on_ready=lambda s: print(s.url, s.port, flush=True))\n"
        "print('bye')\n"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        with warm.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        ) as process:
            assert process.stdout is not None
            url, port = process.stdout.readline().split()
            assert url == f"http://127.0.0.1:{port}/v1"
            with socket.create_connection(("127.0.0.1", int(port)), timeout=PATIENCE_S) as sock:
                sock.sendall(post(orjson.dumps(QUESTION)))
                looks = itertools.count(1)
                until(lambda: requests_at(int(port)) > next(looks), "the question to be read")  # noqa: B023
                process.send_signal(number)
                assert b"200 OK" in sock.recv(65536)  # what is under way is finished
            assert process.stdout.read() == "bye\n"
            assert process.wait(PATIENCE_S) == 0


def test_a_taken_port_is_an_error_with_a_cure(server: DemoServer) -> None:
    with pytest.raises(UsageError, match="--port 0"):
        serve_demo(DemoSettings(), port=server.port)
