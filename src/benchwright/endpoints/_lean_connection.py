"""One keep-alive HTTP/1.1 connection of the lean transport: an asyncio protocol, one exchange at a time."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Protocol, TypeAlias

from benchwright.endpoints._chunks import ChunkedBody, chunked_body
from benchwright.endpoints._clock import Clock
from benchwright.endpoints._http1 import (
    MAX_HEAD_BYTES,
    Head,
    Inflater,
    OpenBody,
    RawHeaders,
    SizedBody,
    parse_head,
    too_large,
)
from benchwright.endpoints._lean_stream import LeanStream
from benchwright.endpoints._transport import MAX_BODY_BYTES, HttpReply, Stamps, TransportFailure

Body: TypeAlias = SizedBody | ChunkedBody | OpenBody
"""Finds the end of a reply's body."""

_DRAIN_S = 1.0  # how long the end of a body may take after its reader has stopped
_BODY_END = b"\r\n0\r\n\r\n"
_EVENT_ENDS = (b"}\n\n\r\n", b"}\r\n\r\n\r\n")
"""Last bytes of a chunk that is an event, and neither the end mark nor the end of the body."""
_HELD_BYTES = 2048  # a longer arrival is not one event, or a few
_HELD_ARRIVALS = 64


class UnusedConnection(Exception):  # never leaves the transport
    """A kept connection was closed before the request was written to it: the request has not been sent yet."""


class ConnectionPool(Protocol):
    """The pool a connection goes back to."""

    def released(self, connection: LeanConnection) -> None:
        """Take back a connection whose exchange is over."""
        ...

    def lost(self, connection: LeanConnection) -> None:
        """Forget a connection that is closed or about to be."""
        ...


class LeanConnection(asyncio.Protocol):
    """Writes a request, reads the reply, and returns to its owner."""

    __slots__ = (
        "_body", "_buffer", "_chunks", "_head", "_headers", "_held", "_holds", "_inflater", "_now", "_owner", "_parts", "_peer",
        "_size", "_stamps", "_transport", "_unsent", "_waiter", "deadline", "reused", "stream", "timeout_s",
    )  # fmt: skip

    def __init__(self, owner: ConnectionPool, peer: str, clock: Clock) -> None:
        self._owner = owner
        self._peer = peer
        self._now = clock.now
        self._stamps = Stamps()  # of the current exchange; `first_byte` shows whether the reply has begun
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[HttpReply] | None = None
        self._unsent: bytes | None = None
        self._chunks: ChunkedBody | None = None  # of the last chunked reply
        self._held: list[tuple[bytes, float]] = []  # events as they arrived, with their times, not parsed yet
        self.stream: LeanStream | None = None
        self._reset()
        self.reused = False
        self.deadline: float | None = None  # None between exchanges
        self.timeout_s = 0.0

    def _reset(self) -> None:
        self._buffer = b""
        self._head: Head | None = None
        self._headers: RawHeaders | None = None
        self._body: Body | None = None
        self._inflater: Inflater | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._holds = False

    # -- used by the transport --

    @property
    def usable(self) -> bool:
        """Whether a request can be written now."""
        return self._transport is not None and not self._transport.is_closing()

    def hold(self, data: bytes, timeout_s: float, waiter: asyncio.Future[HttpReply], stamps: Stamps) -> None:
        """Take a request for `write_held` to write. The reply or the failure is set on `waiter`."""
        self._waiter = waiter
        self._stamps = stamps
        self._unsent = data
        self.timeout_s = timeout_s
        self.deadline = inf  # until it is written

    def hold_streamed(
        self, data: bytes, timeout_s: float, waiter: asyncio.Future[None], stamps: Stamps
    ) -> LeanStream:
        """Take a request whose reply is streamed. The stream raises any failure. `waiter` is done when there is something to
        read."""
        stream = self.stream = LeanStream(self, waiter)
        self._stamps = stamps
        self._unsent = data
        self.timeout_s = timeout_s
        self.deadline = inf  # as above
        return stream

    def write_held(self, now: float) -> None:
        """Write the request, unless the connection broke or the caller was cancelled meanwhile."""
        data, self._unsent = self._unsent, None
        if data is not None:
            self._stamps.sent = now
            self.deadline = now + self.timeout_s
            self._transport.write(data)  # type: ignore[union-attr]  # connected, or it would not be in the pool

    def expire(self) -> None:
        """Handle a deadline that has passed."""
        if self.stream is None and self._waiter is None:
            self.abort()  # the body did not end after its reader had stopped
            return
        self._take_held()
        if self.stream is None and self._waiter is None:
            return  # the held arrivals ended it
        part = "any reply" if self._stamps.first_byte is None else "a complete reply"
        self._fail(
            TransportFailure("timeout", f"{self._peer} did not send {part} within {self.timeout_s:g} s")
        )

    def nudge(self) -> None:
        """Hand over what has arrived of a stream, because some time has passed."""
        self._take_held()
        if self.stream is not None:
            self.stream.nudge()

    def abandon(self, waiter: asyncio.Future[HttpReply]) -> None:
        """Handle a cancelled caller. If the reply came in the same turn of the loop, the connection may already have another
        request and stays open."""
        if self._waiter is waiter:
            self.abort()

    def abort(self) -> None:
        """Close at once, when no caller waits any more."""
        self._waiter = None
        self._unsent = None
        self.stream = None
        self.deadline = None
        self._held = []
        self._owner.lost(self)
        if self._transport is not None:
            self._transport.abort()

    def drain(self) -> None:
        """Keep the connection if the body ends soon after its reader has stopped."""
        self._take_held()
        if self.stream is not None:  # else that was the end
            self.stream = None
            self._holds = False
            self.deadline = self._now() + _DRAIN_S

    # -- called by the event loop --

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # TCP gives a Transport

    def data_received(self, data: bytes) -> None:
        now = self._now()
        if (
            self._holds
            and data.endswith(_EVENT_ENDS)
            and len(data) <= _HELD_BYTES
            and len(self._held) < _HELD_ARRIVALS
        ):
            self._held.append((data, now))
            return
        if self._held and not self._take_held():
            return
        try:
            if self._head is None:
                if self._waiter is not None:
                    if self._read_whole(data, now, self._waiter):
                        return
                elif self.stream is not None and self._read_whole_stream(data, now, self.stream):
                    return
                self._read_head(data, now)
            else:
                self._read_body(data, now)
        except TransportFailure as failure:
            self._fail(failure)

    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.lost(self)
        self._take_held()
        if self._waiter is None and self.stream is None:
            return
        if isinstance(self._body, OpenBody) and exc is None:
            self._body.done = True
            self.data_received(b"")
        elif self._stamps.first_byte is not None:
            self._fail(
                TransportFailure("broken_stream", f"{self._peer} closed the connection half-way through")
            )
        elif self.reused and self._unsent is not None:
            self._fail(UnusedConnection())
        else:
            reason = f": {exc}" if exc else ""
            message = f"{self._peer} closed the connection without a reply{reason}"
            self._fail(TransportFailure("connection", message, stale=self.reused))

    # -- the reply --

    def _read_whole(self, data: bytes, now: float, waiter: asyncio.Future[HttpReply]) -> bool:
        """Handle `data` if it is a complete good reply in one piece, as most are. Returns whether it was."""
        stamps = self._stamps
        if stamps.first_byte is not None or self._unsent is not None or (end := data.find(b"\r\n\r\n")) < 0:
            return False
        stamps.first_byte = now
        block = data[:end]
        head = parse_head(block)
        if end + 4 + head.plain_length != len(data):
            return False
        stamps.last_byte = now
        self._waiter = self.deadline = None
        self._owner.released(self)  # first, so that the next request can use it
        if not waiter.done():
            waiter.set_result(HttpReply(head.status, RawHeaders(block), data[end + 4 :]))
        return True

    def _read_whole_stream(self, data: bytes, now: float, stream: LeanStream) -> bool:
        """Read a whole chunked stream at once: a short one, or one that the server completed before it sent any."""
        stamps = self._stamps
        if (
            stamps.first_byte is not None
            or self._unsent is not None
            or not data.endswith(_BODY_END)
            or (end := data.find(b"\r\n\r\n")) < 0
        ):
            return False
        block = data[:end]
        head = parse_head(block)
        if not head.plain_chunks:
            return False
        stamps.first_byte = now
        headers = RawHeaders(block)
        stream.status, stream.headers = 200, headers
        body = self._chunked()
        pieces = body.feed(data[end + 4 :])
        if body.done and not body.surplus:
            self.stream = self.deadline = None
            self._owner.released(self)  # first, so that the next request can use it
            stream.complete(pieces, now)
        else:  # it only looked like the end
            self._head, self._headers, self._body, self._holds = head, headers, body, True
            self._take_pieces(pieces, [now] * len(pieces))
        return True

    def _read_head(self, data: bytes, now: float) -> None:
        stamps = self._stamps
        if stamps.first_byte is None or (self._waiter is None and self.stream is None):
            if self._waiter is None and self.stream is None:
                # There was no request: the server announces that it closes (408), or is confused.
                self.abort()
                return
            if self._unsent is not None and self.reused:  # the same, just before a request was written
                self._fail(UnusedConnection())
                return
            stamps.first_byte = now
        if self._buffer:
            data = self._buffer + data
        end = data.find(b"\r\n\r\n")
        if end < 0:
            if len(data) > MAX_HEAD_BYTES:
                raise TransportFailure("bad_reply", "the reply's head does not end")
            if not data.startswith(b"HTTP/1."[: len(data)]):
                parse_head(data)  # raises if waiting for more is pointless
            self._buffer = data
            return
        block = data[:end]
        head = parse_head(block)
        if head.status < 200:
            self._interim(head, data[end + 4 :], now)
            return
        self._buffer = b""
        length = head.length
        if self.stream is None and length is not None and len(data) == end + 4 + length and not head.encoding:
            # The usual case: the whole reply in one piece.
            stamps.last_byte = now
            self._finish(head, None, HttpReply(head.status, RawHeaders(block), data[end + 4 :]))
            return
        self._head = head
        if length is not None and length > MAX_BODY_BYTES:
            raise too_large()
        self._headers = RawHeaders(block)
        if head.chunked:
            self._body = self._chunked()
        else:
            self._body = OpenBody() if length is None else SizedBody(length)
        if head.encoding and length != 0:
            self._inflater = Inflater(head.encoding, MAX_BODY_BYTES)
        if self.stream is not None:
            self._holds = head.chunked and not head.encoding
            self.stream.begin(head.status, self._headers)
        self._read_body(data[end + 4 :], now)

    def _chunked(self) -> ChunkedBody:
        """The parser for chunks, kept as long as the connection."""
        chunks = self._chunks
        if chunks is None:
            chunks = self._chunks = chunked_body()
        else:
            chunks.restart()
        return chunks

    def _interim(self, head: Head, rest: bytes, now: float) -> None:
        if head.status == 101:
            raise TransportFailure("bad_reply", "the server switched protocols without a request to")
        self._buffer = b""
        if rest:
            self._read_head(rest, now)

    def _take_held(self) -> bool:
        """Parse the held arrivals, each with its time. Return whether the connection is still good."""
        held, self._held = self._held, []
        body = self._body
        if not held or body is None:
            return True
        feed = body.feed
        pieces: list[bytes] = []
        times: list[float] = []
        failure = None
        for data, at in held:
            if body.done:
                body.surplus = True
                break
            try:
                found = feed(data)
            except TransportFailure as error:
                failure = error
                break
            pieces += found
            times += [at] * len(found)
        try:
            self._take_pieces(pieces, times)
        except TransportFailure as error:
            failure = error
        if failure is not None:
            self._fail(failure)
        return failure is None

    def _read_body(self, data: bytes, now: float) -> None:
        pieces = self._body.feed(data)  # type: ignore[union-attr]  # there once the head is
        if self._waiter is not None:
            self._stamps.last_byte = now
        self._take_pieces(pieces, [now] * len(pieces))

    def _take_pieces(self, pieces: list[bytes], times: list[float]) -> None:
        body, head, stream = self._body, self._head, self.stream
        if self._inflater is not None and pieces:
            pieces, times = [self._inflater.feed(b"".join(pieces))], times[-1:]
        size = sum(map(len, pieces))
        self._size += size
        if self._size > MAX_BODY_BYTES:
            raise too_large()
        if stream is not None:
            if size:
                stream.put(pieces, size, times)
        elif self._waiter is not None:
            self._parts += pieces
        if body.done:  # type: ignore[union-attr]  # as above
            assert head is not None
            assert self._headers is not None
            if self._inflater is not None:
                self._inflater.check_end()
            reply = None
            if stream is None:
                reply = HttpReply(head.status, self._headers, b"".join(self._parts))
            self._reset()
            self._finish(head, body, reply)

    def _finish(self, head: Head, body: Body | None, reply: HttpReply | None) -> None:
        """Finish a complete reply. The connection is returned first, so that the next request can use it."""
        waiter, self._waiter = self._waiter, None
        stream, self.stream = self.stream, None
        transport = self._transport
        self.deadline = self._unsent = None
        assert transport is not None
        # An early refusal (413) may leave part of the request unsent.
        unsent = head.status >= 400 and transport.get_write_buffer_size() > 0
        if head.keep_alive and not unsent and not (body is not None and body.surplus):
            self._owner.released(self)
        else:
            self._owner.lost(self)
            transport.close()
        if waiter is not None and reply is not None and not waiter.done():
            waiter.set_result(reply)
        if stream is not None:
            stream.end(None)

    def _fail(self, failure: Exception) -> None:
        waiter, stream = self._waiter, self.stream
        self.abort()
        if waiter is not None and not waiter.done():
            waiter.set_exception(failure)
        if stream is not None:
            stream.end(failure)
