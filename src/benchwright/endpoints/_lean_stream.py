"""A reply's body as it arrives over the lean transport: pieces handed from the socket to a reader.

A piece is stamped when it arrives, and its reader is not woken for it: that costs as much as reading a dozen events, and
whatever the loop does between two sockets delays the stamps of the second. The reader gets what has come when the body
ends, when the end mark of a stream comes, when there is enough of it, or at the next sweep.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from benchwright.endpoints._http1 import RawHeaders
from benchwright.endpoints._transport import Pieces

_ENOUGH_BYTES = 16 * 1024
"""About 80 events: reading them takes a quarter of a millisecond, which is how long others may have to wait."""
_END_MARKS = (b"[DONE]\n\n", b"[DONE]\r\n\r\n", b"[DONE]\n", b"[DONE]")
"""After which a server may leave the body open."""


class StreamSource(Protocol):
    """The connection behind a stream, as far as the stream needs it."""

    def drain(self) -> None:
        """The reader has seen enough."""
        ...

    def abort(self) -> None:
        """The reader has gone."""
        ...


class LeanStream:
    """Implements `HttpStream`."""

    __slots__ = (
        "_connection", "_failure", "_over", "_pieces", "_size", "_times", "_waiter", "headers", "status",
    )  # fmt: skip

    def __init__(self, connection: StreamSource) -> None:
        self._connection = connection
        self._pieces: list[bytes] = []
        self._times: list[float] = []
        self._size = 0
        self._waiter: asyncio.Future[None] | None = None
        self._failure: Exception | None = None
        self._over = False
        self.status = 0
        self.headers: RawHeaders = RawHeaders(b"")

    async def started(self) -> None:
        """Wait for the head of the reply."""
        while not self.status and not self._over:
            await self._next_event()
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
        """The reader was cancelled: nothing more is wanted."""
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
        """The head is there."""
        self.status, self.headers = status, headers
        self._wake()

    def put(self, pieces: list[bytes], size: int, at: float) -> None:
        """Pieces of the body have arrived."""
        self._pieces += pieces
        self._times += [at] * len(pieces)
        self._size += size
        if self._waiter is not None and (self._size >= _ENOUGH_BYTES or pieces[-1].endswith(_END_MARKS)):
            self._wake()

    def nudge(self) -> None:
        """Some time has passed: hand over what has come."""
        if self._pieces:
            self._wake()

    def end(self, failure: Exception | None) -> None:
        """The body is complete, or will never be."""
        self._over, self._failure = True, failure
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
