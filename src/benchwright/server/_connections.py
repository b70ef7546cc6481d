"""Connections of clients: how long a request may take to arrive, how many connections there may be, and how much is logged about them.

The server stays usable whatever a program on this machine sends, or stops sending half-way."""

from __future__ import annotations

import asyncio
import logging
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from benchwright.server._guard import ANSWER_HEADERS, Refusal

HEADERS_S = 15.0
"""Seconds in which the headers of a request must arrive, from the start of the connection or the end of the last response."""
BODY_S = 60.0
"""Seconds in which a body must arrive, from its headers on."""
READING_S = 60.0
"""Seconds that a client may leave a response unread."""
MAX_HEADER_BYTES = 256 * 1024
"""Most bytes before the headers of a request are complete."""
MAX_PER_ADDRESS = 256
"""Most connections from one address."""
BACKLOG = 128
"""Most connections accepted in one turn of the event loop; together with `_RESERVE` they must not use up the descriptors."""
_RESERVE = BACKLOG + 64
LOG_EVERY_S = 10.0
"""Seconds between two log entries of the same kind."""


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol with deadlines, and with a limit on connections.

    At the limit, the connection that has waited longest for its client makes way, so that idle clients cannot keep others out.
    """

    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _since = 0.0
    _header_bytes = 0

    def connection_made(self, transport: Any) -> None:
        """Count the connection, and wait for its first request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        if not self._fits():
            self._refuse(
                Refusal(503, "too_many_connections", "too many connections are open", retryable=True)
            )
            return
        self._expect(HEADERS_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up."""
        self._expect(None)
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read received bytes, up to a limit while headers are incomplete."""
        if self.transport.is_closing():
            return
        self._header_bytes += len(data)
        super().data_received(data)
        if self._header_bytes > MAX_HEADER_BYTES and not self.transport.is_closing():
            self._refuse(Refusal(431, "headers", f"the headers are larger than {MAX_HEADER_BYTES} bytes"))

    def on_headers_complete(self) -> None:
        """Pass the target on as it was sent: an absolute one names a host of its own."""
        self._header_bytes = -(1 << 62)  # bytes of the body have a limit of their own
        self.scope["state"]["target"] = self.url
        super().on_headers_complete()
        self._expect(BODY_S)

    def on_message_complete(self) -> None:
        """Stop the clock while the request is answered."""
        super().on_message_complete()
        self._header_bytes = 0
        self._expect(HEADERS_S if self.cycle is None or self.cycle.response_complete else None)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        if self._deadline is None and self.cycle.response_complete:
            self._expect(HEADERS_S)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, in the form of every refusal."""
        self._refuse(Refusal(400, "no_http", msg))

    def pause_writing(self) -> None:
        """Wait for a client that does not read."""
        super().pause_writing()
        self._unread = self.loop.call_later(READING_S, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read."""
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _expect(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._since = self.loop.time()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        self._refuse(Refusal(408, "too_slow", "the request did not arrive in time", retryable=True))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer if no answer has begun, and close."""
        self._expect(None)
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = msgspec.json.encode(refusal.body())
            lines = [
                f"HTTP/1.1 {refusal.status} {refusal.code}".encode(),
                b"connection: close",
                b"content-type: application/json",
            ]
            lines += [name + b": " + value for name, value in ANSWER_HEADERS]
            lines += [b"content-length: %d" % len(body), b"", body]
            self.transport.write(b"\r\n".join(lines))
        self.transport.close()

    def _fits(self) -> bool:
        """Whether this connection may stay. If there are too many, the one that has waited longest is closed."""
        everyone = [each for each in self.connections if isinstance(each, BoundedProtocol)]
        address = self.client and self.client[0]
        crowd = [each for each in everyone if each.client and each.client[0] == address]
        if len(crowd) <= MAX_PER_ADDRESS:
            if len(everyone) <= _most_connections():
                return True
            crowd = everyone
        idle = [each for each in crowd if each is not self and each._deadline is not None]
        if not idle:
            return False
        longest = min(idle, key=lambda each: each._since)
        longest._expect(None)
        self.connections.discard(longest)
        longest.transport.abort()
        return True


def _most_connections() -> int:
    """Most connections in all: descriptors must be left for the database and for accepting."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(8, min(4 * MAX_PER_ADDRESS, soft - _RESERVE))


class _Sparing(logging.Filter):
    """Lets one entry of a kind pass per `LOG_EVERY_S`: whoever causes errors must not be able to fill the disk with them."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._due: dict[tuple[str, str], float] = {}
        self._dropped: Counter[tuple[str, str]] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log the record."""
        kind = record.name, str(record.msg).partition("\n")[0][:80]
        if self._now() < self._due.get(kind, 0.0):
            self._dropped[kind] += 1
            return False
        if len(self._due) > 1000:  # messages that contain what a client sent
            self._due.clear()
        self._due[kind] = self._now() + LOG_EVERY_S
        if more := self._dropped.pop(kind, 0):
            record.msg = f"{record.msg} ({more} more of this kind since the last entry)"
        return True


@contextmanager
def sparing_logs() -> Iterator[None]:
    """Limit what the server logs while the block runs."""
    spare = _Sparing()
    loggers = [logging.getLogger(name) for name in ("uvicorn.error", "benchwright.server", "asyncio")]
    for logger in loggers:
        logger.addFilter(spare)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(spare)
