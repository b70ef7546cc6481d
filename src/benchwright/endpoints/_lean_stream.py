"""Streams a reply's body over the lean transport: pieces go from the socket to a reader.

Each piece gets its time stamp on arrival, but does not wake the reader: waking costs as much as reading a dozen events,
and work between two sockets delays the stamps of the second. The reader gets the pieces when the body ends, when the
stream's end mark arrives, when there are enough of them, or at the next sweep.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from benchwright.endpoints._http1 import RawHeaders
from benchwright.endpoints._transport import Pieces

_ENOUGH_BYTES = 16 * 1024
"""About 80 events. Reading them takes a quarter of a millisecond, which is how long other streams may have to wait."""
_END_MARKS = (b"[DONE]\n\n", b"[DONE]\r\n\r\n", b"[DONE]\n", b"[DONE]")
"""End marks of streams; a server may leave the body open after them."""
_NO_HEADERS = RawHeaders(b"")


class StreamSource(Protocol):
    """The part of a connection that a stream needs."""

    def drain(self) -> None:
        """Stop reading, but keep the connection if possible."""
        ...

    def abort(self) -> None:
        """Close the connection, because the reader was cancelled."""
        ...


class LeanStream:
    """Implements `HttpStream`."""

    __slots__ = (
        "_connection", "_failure", "_over", "_pieces", "_size", "_times", "_waiter", "headers", "status",
    )  # fmt: skip

    def __init__(self, connection: StreamSource, waiter: asyncio.Future[None]) -> None:
        """`waiter` is done when there is something to read."""
        self._connection = connection
        self._pieces: list[bytes] = []
        self._times: list[float] = []
        self._size = 0
        self._waiter: asyncio.Future[None] | None = waiter
        self._failure: Exception | None = None
        self._over = False
        self.status = 0
        self.headers = _NO_HEADERS

    def check_begun(self) -> None:
        """Raise the failure if not even the head of the reply has arrived."""
        if not self.status and self._failure is not None:
            raise self._failure

    def __aiter__(self) -> LeanStream:
        return self

    async def __anext__(self) -> Pieces:
        while not self._pieces:
            if self._over:
                if self._failure is not None:
                    raise self._failure
                raise StopAsyncIteration
            await self._next_event()
        pieces = self._pieces, self._times
        self._pieces, self._times, self._size = [], [], 0
        return pieces

    async def aclose(self) -> None:
        """Stop reading."""
        if not self._over:
            self._over = True
            if self.status:
                self._connection.drain()
            else:
                self._connection.abort()

    def abandon(self) -> None:
        """Stop after the reader was cancelled."""
        if not self._over:
            self._over = True
            self._connection.abort()

    async def _next_event(self) -> None:
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            await self._waiter
        except asyncio.CancelledError:
            self.abandon()
            raise
        finally:
            self._waiter = None

    # -- called by the connection --

    def begin(self, status: int, headers: RawHeaders) -> None:
        """Take the head of the reply. The reader is not woken for a good one, which tells it nothing."""
        self.status, self.headers = status, headers
        if status != 200:
            self._wake()

    def put(self, pieces: list[bytes], size: int, times: list[float]) -> None:
        """Take pieces of the body, with their times."""
        self._pieces += pieces
        self._times += times
        self._size += size
        if self._waiter is not None and (self._size >= _ENOUGH_BYTES or pieces[-1].endswith(_END_MARKS)):
            self._wake()

    def complete(self, pieces: list[bytes], at: float) -> None:
        """Take the whole body, which has arrived at once."""
        self._pieces, self._times = pieces, [at] * len(pieces)
        self._over = True
        self._wake()

    def nudge(self) -> None:
        """Hand over the pieces so far, because some time has passed."""
        if self._pieces:
            self._wake()

    def end(self, failure: Exception | None) -> None:
        """End the body: it is complete, or `failure` says why it never will be."""
        self._over, self._failure = True, failure
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
