"""An OpenAI-compatible server that keeps a log of its own truth: when each request came, and when it sent what.

It answers after `first_s`, then sends `events` pieces `gap_s` apart. `slots` requests are answered at a time, the others
wait. It can stall, fail every n-th request, and break streams off.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any


@dataclass
class Truth:
    """What the server saw of one request."""

    came: float
    body: dict[str, Any]
    first: float | None = None
    last: float | None = None


@dataclass
class Stub:
    """How the server behaves, and what it saw."""

    first_s: float = 0.0
    gap_s: float = 0.0
    events: int = 4
    slots: int | None = None
    usage: bool = True
    fail_every: int | None = None
    fail_status: int = 500
    break_every: int | None = None
    stall_from: int | None = None
    """Number of the request from which on all wait until `stall_s` after it came."""
    stall_s: float = 0.0
    hang: bool = False
    together: Mapping[int, int] = field(default_factory=dict)
    """From which request on how many must have been open at once before any is answered: what is sent together must not depend
    on how quickly a busy machine answers."""
    reported: Callable[[int], Any] | None = None
    """What `completion_tokens` says, by the true number; `usage_on` tells which events have it."""
    per_event: int = 1
    """Tokens of each event."""
    usage_on: str = "last"
    log: list[Truth] = field(default_factory=list)
    url: str = ""
    open_now: int = 0
    most_open: int = 0
    served: int = 0
    connected: int = 0
    said_on_failure: str = "the stub was told to fail"
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._places = asyncio.Semaphore(self.slots) if self.slots else None
        self._stalled_until = 0.0

    async def until_came(self, count: int) -> None:
        """Wait until so many requests have come."""
        while len(self.log) < count:
            self.changed.clear()
            await self.changed.wait()

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connected += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                size = next(
                    int(line.split(b":")[1])
                    for line in head.split(b"\r\n")
                    if line.lower().startswith(b"content-length")
                )
                truth = Truth(monotonic(), json.loads(await reader.readexactly(size)))
                self.log.append(truth)
                number = len(self.log)
                self.changed.set()
                self.open_now += 1
                self.most_open = max(self.most_open, self.open_now)
                try:
                    if not await self._answer(truth, number, writer):
                        return
                finally:
                    self.open_now -= 1
                    self.served += 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.connected -= 1
            self.changed.set()

    async def _answer(self, truth: Truth, number: int, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection can carry another request."""
        if self.hang:
            await asyncio.sleep(3600)
        while self.most_open < max(
            (open_ for start, open_ in self.together.items() if number >= start), default=0
        ):
            self.changed.clear()
            await self.changed.wait()
        if self.stall_from == number:
            self._stalled_until = monotonic() + self.stall_s
        if (left := self._stalled_until - monotonic()) > 0:
            await asyncio.sleep(left)
        if self.fail_every and number % self.fail_every == 0:
            body = json.dumps({"error": {"message": self.said_on_failure}}).encode()
            head = b"HTTP/1.1 %d No\r\nX-REQUEST-ID: req-%d\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % (self.fail_status, number, len(body)) + body)
            return True
        if self._places is not None:
            async with self._places:
                return await self._reply(truth, number, writer)
        return await self._reply(truth, number, writer)

    def _reported(self, events: int) -> Any:
        tokens = events * self.per_event
        return tokens if self.reported is None else self.reported(tokens)

    async def _reply(self, truth: Truth, number: int, writer: asyncio.StreamWriter) -> bool:
        if self.first_s:
            await asyncio.sleep(self.first_s)
        usage = None
        if self.usage:
            details = {
                "prompt_tokens_details": {"cached_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 1},
            }
            usage = {"prompt_tokens": 7, "completion_tokens": self._reported(self.events), **details}
        if not truth.body.get("stream"):
            await asyncio.sleep(self.gap_s * (self.events - 1))
            message = {"role": "assistant", "content": "word " * self.events}
            reply = {
                "id": f"reply-{number}",
                "choices": [{"message": message, "finish_reason": "stop"}],
                "usage": usage,
            }
            body = json.dumps(reply).encode()
            truth.first = truth.last = monotonic()
            head = b"HTTP/1.1 200 OK\r\nx-request-id: req-%d\r\nContent-Length: %d\r\n\r\n"
            writer.write(head % (number, len(body)) + body)
            return True
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-Request-Id: req-%d\r\n\r\n"
            % number
        )
        due = monotonic()
        for place in range(self.events):
            if self.break_every and number % self.break_every == 0 and place == self.events // 2:
                return False
            event: dict[str, Any] = {
                "id": f"reply-{number}",
                "choices": [{"index": 0, "delta": {"content": "word " * self.per_event}}],
            }
            if self.usage_on == "every":
                event["usage"] = {"prompt_tokens": 7, "completion_tokens": self._reported(place + 1)}
            writer.write(_chunk(event))
            truth.last = monotonic()
            truth.first = truth.first or truth.last
            due += self.gap_s
            if self.gap_s:
                await asyncio.sleep(max(0.0, due - monotonic()))
        writer.write(
            _chunk({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage})
        )
        writer.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        return True


def _chunk(event: dict[str, Any]) -> bytes:
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(data), data)


@asynccontextmanager
async def serving(**how: Any) -> AsyncIterator[Stub]:
    """A stub on loopback, in the running event loop."""
    stub = Stub(**how)
    server = await asyncio.start_server(stub.handle, "127.0.0.1", 0, limit=1 << 20, backlog=4096)
    stub.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield stub
    finally:
        server.close()
