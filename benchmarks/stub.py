"""A fast OpenAI-compatible endpoint on loopback, run as a process of its own.

It answers chat, completions, and completions with `echo` and `logprobs`, at once or after a fixed latency,
and keeps the time of every request: the steady rate of each tool is read here, the same way for all.

    python -m benchmarks.stub --port 8080 --latency-ms 20
"""

from __future__ import annotations

import argparse
import asyncio
import re
import resource
import time
from array import array
from collections import deque
from functools import cache
from typing import cast
from urllib.parse import parse_qs

import orjson
import uvloop

from benchmarks import answers
from benchmarks.alarm import Alarm

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
HEAD = b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
CHAT = (
    b'{"id":"chatcmpl-stub","object":"chat.completion","created":1700000000,"model":"stub","choices":[{"index":0,'
    b'"message":{"role":"assistant","content":%b},"finish_reason":"stop","logprobs":null}],'
    b'"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}'
)
STREAM_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
STREAM_EVENTS = 30
"""Content events of every streamed reply."""
EVENT = (
    b'data: {"id":"chatcmpl-stub","object":"chat.completion.chunk","created":1700000000,"model":"stub","choices":'
    b'[{"index":0,"delta":%b,"finish_reason":%b,"logprobs":null}],"usage":%b}\n\n'
)
DONE = b"data: [DONE]\n\n"
MODELS = b'{"object":"list","data":[{"id":"stub","object":"model","created":1700000000,"owned_by":"stub"}]}'


def steady_rate(times: array[float], in_flight: int) -> float | None:
    """Requests per second between about 10 % and 90 % of the requests; None when there are too few.

    Both ends are moved to multiples of `in_flight`: behind a fixed latency requests come in waves of that
    size, and a window that cuts a wave would flatter or punish by up to one wave.
    """
    count = len(times)
    first = in_flight * -(-count // (10 * in_flight))
    waves = (count * 9 // 10 - first) // in_flight
    if waves < 1:
        return None
    last = first + waves * in_flight
    return (last - first) / max(times[last] - times[first], 1e-9)


class Stub:
    """The endpoint's state: its latency, the replies that wait for it, and when requests came."""

    def __init__(self, latency_s: float, loop: asyncio.AbstractEventLoop) -> None:
        self._latency_s = latency_s
        self._alarm = Alarm(loop, self._release)
        self._waiting: deque[tuple[float, asyncio.Transport, bytes]] = deque()
        self._armed = False
        self._times: array[float] = array("d")
        self._held_s = 0.0
        self._cpu_before = 0.0

    def handle(self, transport: asyncio.Transport, head: bytes, body: bytes) -> None:
        """Answer one request, now or when its latency has passed."""
        now = time.perf_counter()
        target = head[: head.find(b" HTTP/")]
        if target.startswith(b"POST ") and target.endswith(b"completions"):
            self._times.append(now)
            reply = reply_to(body, chat=target.endswith(b"/chat/completions"))
            if self._latency_s:
                self._waiting.append((now + self._latency_s, transport, reply))
                if not self._armed:
                    self._arm()
            else:
                transport.write(reply)
            return
        status, payload = 200, b"{}"
        if target == b"POST /reset":
            self._times, self._held_s, self._cpu_before = array("d"), 0.0, cpu_s()
        elif target.startswith(b"GET /stats"):
            query = parse_qs(target.partition(b"?")[2].decode())
            payload = self._stats(int(query.get("in_flight", ["64"])[0]))
        elif target.endswith(b"/models"):
            payload = MODELS
        else:
            status, payload = 404, b'{"error":{"message":"the stub has no such route"}}'
        reason = b"OK" if status == 200 else b"Not Found"
        transport.write(HEAD % (status, reason, len(payload)) + payload)

    def _arm(self) -> None:
        """One timer for all: the latency is fixed, so replies fall due in the order of their requests."""
        self._armed = True
        self._alarm.set(self._waiting[0][0] - time.perf_counter())

    def _release(self) -> None:
        self._armed = False
        waiting = self._waiting
        now = time.perf_counter()
        while waiting and waiting[0][0] <= now:
            due, transport, reply = waiting.popleft()
            self._held_s += now - due + self._latency_s
            transport.write(reply)
        if waiting:
            self._arm()

    def _stats(self, in_flight: int) -> bytes:
        times = self._times
        return orjson.dumps(
            {
                "count": len(times),
                "first": times[0] if times else None,
                "last": times[-1] if times else None,
                "steady_per_s": steady_rate(times, in_flight),
                "mean_latency_ms": 1000 * self._held_s / len(times) if times else None,
                "cpu_s": cpu_s() - self._cpu_before,
            }
        )


class Connection(asyncio.Protocol):
    """One client connection: splits the byte stream into requests."""

    __slots__ = ("_buffer", "_stub", "_transport")

    def __init__(self, stub: Stub) -> None:
        self._stub = stub
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A cast: uvloop's transports only look like asyncio.Transport.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._buffer:
            data = self._buffer + data
        while data:
            end = data.find(b"\r\n\r\n")
            if end < 0:
                break
            found = LENGTH.search(data, 0, end)
            stop = end + 4 + (int(found[1]) if found else 0)
            if len(data) < stop:
                break
            self._stub.handle(self._transport, data[:end], data[end + 4 : stop])
            data = data[stop:]
        self._buffer = data


def reply_to(body: bytes, *, chat: bool) -> bytes:
    """The whole HTTP reply to a request's body."""
    try:
        request = orjson.loads(body)
        if chat and request.get("stream"):
            return chat_stream(request)
        payload = chat_reply(request) if chat else completions_reply(request)
        return HEAD % (200, b"OK", len(payload)) + payload
    except (ValueError, LookupError, TypeError, AttributeError) as wrong:
        payload = orjson.dumps({"error": {"message": f"not a request the stub knows: {wrong!r}"}})
        return HEAD % (400, b"Bad Request", len(payload)) + payload


def chat_reply(request: dict[str, object]) -> bytes:
    """The answer to the last message."""
    answer, prompt_tokens = chat_answer(request)
    return CHAT % (orjson.dumps(answer), prompt_tokens, 3, prompt_tokens + 3)


def chat_stream(request: dict[str, object]) -> bytes:
    """The same answer as a stream: one character an event, line feeds after the last one, each event a chunk."""
    answer, prompt_tokens = chat_answer(request)
    pieces = map(text_chunk, answer.ljust(STREAM_EVENTS, "\n"))
    return b"".join((STREAM_BEGINNING, *pieces, last_chunks(prompt_tokens)))


def chunk(event: bytes) -> bytes:
    """An event as it is sent."""
    return b"%x\r\n%b\r\n" % (len(event), event)


STREAM_BEGINNING = STREAM_HEAD + chunk(EVENT % (b'{"role":"assistant","content":""}', b"null", b"null"))


@cache  # made once for each character: a stub that is the limit measures itself and not its client
def text_chunk(character: str) -> bytes:
    """The event of one character."""
    return chunk(EVENT % (b'{"content":%b}' % orjson.dumps(character), b"null", b"null"))


@cache
def last_chunks(prompt_tokens: int) -> bytes:
    """What follows the answer: finish reason and token counts, the end mark, the end of the body."""
    counted = {"prompt_tokens": prompt_tokens, "completion_tokens": STREAM_EVENTS}
    counted["total_tokens"] = prompt_tokens + STREAM_EVENTS
    return chunk(EVENT % (b"{}", b'"stop"', orjson.dumps(counted))) + chunk(DONE) + b"0\r\n\r\n"


def chat_answer(request: dict[str, object]) -> tuple[str, int]:
    """What the stub says to the last message, and how many tokens it counts in it."""
    messages = request["messages"]
    if not isinstance(messages, list):
        raise TypeError("messages is not a list")
    content = messages[-1]["content"]
    if isinstance(content, list):
        content = "".join(part.get("text", "") for part in content)
    return answers.answer_to(content), len(content) >> 2


def completions_reply(request: dict[str, object]) -> bytes:
    """Greedy text, or the prompt echoed, with log-probabilities where they are asked for."""
    prompts = request["prompt"]
    max_tokens = request.get("max_tokens", 8)
    if not isinstance(max_tokens, int):
        raise TypeError("max_tokens is not a whole number")
    choices = []
    texts = [prompts] if isinstance(prompts, str) else prompts
    if not isinstance(texts, list):
        raise TypeError("prompt is neither text nor a list of texts")
    for index, prompt in enumerate(texts):
        if request.get("echo"):
            text, logprobs = answers.echo(prompt, min(max_tokens, 8))
        else:
            text, logprobs = answers.generate(prompt, max_tokens)
        kept = logprobs if request.get("logprobs") is not None else None
        choices.append({"index": index, "text": text, "finish_reason": "length", "logprobs": kept})
    usage = {"prompt_tokens": len(str(prompts)) >> 2, "completion_tokens": max_tokens, "total_tokens": 0}
    usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]
    return orjson.dumps(
        {"id": "cmpl-stub", "object": "text_completion", "created": 1700000000, "model": "stub"}
        | {"choices": choices, "usage": usage}
    )


def cpu_s() -> float:
    """CPU time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def serve(host: str, port: int, latency_s: float) -> None:
    """Listen, print the port on one line, and answer until killed."""
    loop = asyncio.get_running_loop()
    stub = Stub(latency_s, loop)
    server = await loop.create_server(lambda: Connection(stub), host, port, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="A fast OpenAI-compatible stub on loopback.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0: any free port; it is printed")
    parser.add_argument("--latency-ms", type=float, default=0.0)
    given = parser.parse_args()
    uvloop.run(serve(given.host, given.port, given.latency_ms / 1000))


if __name__ == "__main__":
    main()
