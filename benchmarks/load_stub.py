"""A streaming chat server of known pace that logs its own truth. `python -m benchmarks.load_stub --first-ms 50 …`

It prints its port. `GET /truth` gives, for every request by the last number in its prompt, when it came and when its first and last
content were written, by the machine's monotonic clock, which the clients share.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from time import monotonic
from typing import Any, ClassVar

import uvloop

_LENGTH = re.compile(rb"content-length: *(\d+)", re.I)
_NUMBER = re.compile(rb"(\d+)\D*$")
_EVENT = b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}\n\n'
_LAST = b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server(asyncio.Protocol):
    """One connection."""

    truth: ClassVar[dict[int, list[float]]] = {}
    """By the number in the prompt: when a request came, and when its first and last event were sent."""
    log: ClassVar[list[list[float]]] = []
    """The same of all requests, in the order in which they came."""
    first_s, gap_s, events = 0.05, 0.02, 32

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._loop = asyncio.get_running_loop()
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        came = monotonic()
        self._buffer += data
        head, mark, body = self._buffer.partition(b"\r\n\r\n")
        if not mark:
            return
        if head.startswith(b"GET"):
            self._buffer = b""
            path = head.split(b" ", 2)[1]
            answers = {b"/truth": self.truth, b"/log": self.log}
            self._whole(json.dumps(answers.get(path, {"object": "list", "data": [{"id": "m"}]})).encode())
            return
        length = _LENGTH.search(head)
        if length is None or len(body) < int(length[1]):
            return
        self._buffer = b""
        # The prompt is the last text of the messages; its last number names the request.
        words = body[body.rfind(b'"content"') :].split(b'"')[3]
        found = _NUMBER.search(words)
        entry = self.truth[int(found[1]) if found else -1] = [came, 0.0, 0.0]
        self.log.append(entry)
        if b'"stream":true' in body or b'"stream": true' in body:
            self._loop.call_later(self.first_s, self._event, entry, self.events, came + self.first_s)
        else:
            self._loop.call_later(self.first_s, self._reply, entry)

    def _reply(self, entry: list[float]) -> None:
        entry[1] = entry[2] = monotonic()
        self._whole(
            b'{"choices":[{"index":0,"message":{"role":"assistant","content":"word"},"finish_reason":"stop"}],'
            b'"usage":{"prompt_tokens":9,"completion_tokens":1}}'
        )

    def _whole(self, body: bytes) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
            % (len(body), body)
        )

    def _event(self, entry: list[float], left: int, due: float) -> None:
        now = monotonic()
        first = left == self.events
        if first:
            entry[1] = now
        entry[2] = now
        self._transport.write((_HEAD if first else b"") + _chunk(_EVENT))
        if left > 1:
            due += self.gap_s
            self._loop.call_later(max(0.0, due - now), self._event, entry, left - 1, due)
            return
        usage = (
            b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d}}\n\n'
            % self.events
        )
        # Each event is a chunk, as servers send them.
        self._transport.write(b"".join(map(_chunk, (_LAST, usage, b"data: [DONE]\n\n", b""))))


async def _serve(arguments: argparse.Namespace) -> None:
    Server.first_s, Server.gap_s, Server.events = (
        arguments.first_ms / 1000,
        arguments.gap_ms / 1000,
        arguments.events,
    )
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0, backlog=8192)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(
        None, sys.stdin.read
    )  # until whoever started it has gone


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--first-ms", type=float, default=50)
    parser.add_argument("--gap-ms", type=float, default=20)
    parser.add_argument("--events", type=int, default=32)
    uvloop.run(_serve(parser.parse_args()))
