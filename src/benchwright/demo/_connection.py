"""One connection of the demo server: bytes in, responses out in order, paced where latency is simulated."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from benchwright.demo._http import BadHttpError, RequestReader
from benchwright.demo._responses import Responder, Response

_MAX_WAITING_BYTES = 1 << 20
"""Bytes of further requests held while one is being answered; beyond, reading stops."""


class DemoConnection(asyncio.Protocol):
    """Answers the requests of one client one after the other, as HTTP/1.1 demands, pipelined ones included."""

    def __init__(self, responder: Responder, connections: set[DemoConnection], max_body_bytes: int) -> None:
        self._responder = responder
        self._connections = connections
        self._reader = RequestReader(max_body_bytes)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self._full = False
        self._held = False
        self._leaving = False
        self.closed: asyncio.Future[None]
        """Done when the connection is; set when it is made."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client has come."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]  # uvloop's transport is no asyncio.Transport
        self.closed = asyncio.get_running_loop().create_future()
        self._connections.add(self)
        counters = self._responder.counters
        counters.connections += 1
        counters.connections_total += 1

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone."""
        self._connections.discard(self)
        self._responder.counters.connections -= 1
        if self._timer is not None:
            self._timer.cancel()
        self._transport = None
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """The client reads too slowly: no further responses for now."""
        self._full = True

    def resume_writing(self) -> None:
        """The client has caught up."""
        self._full = False
        if not self._busy:
            self._serve()

    def data_received(self, data: bytes) -> None:
        """Bytes have come."""
        self._reader.feed(data)
        if not self._busy and not self._full:
            self._serve()
        elif len(self._reader) > _MAX_WAITING_BYTES and not self._held and self._transport is not None:
            self._held = True
            self._transport.pause_reading()

    def leave(self) -> None:
        """Closes when the response under way, if any, is written."""
        self._leaving = True
        if not self._busy and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Closes now."""
        if self._transport is not None:
            self._transport.abort()

    def _serve(self) -> None:
        """Answers complete requests until one takes time, or none is left."""
        while self._transport is not None and not self._transport.is_closing() and not self._full:
            try:
                request = self._reader.next()
            except BadHttpError as error:
                self._start(self._responder.refuse(error.status, error.message))
                return
            if request is None:
                if self._reader.wants_continue:
                    self._reader.wants_continue = False
                    self._transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                break
            self._start(self._responder.respond(request))
            if self._busy:
                return
        if self._held and self._transport is not None:
            self._held = False
            self._transport.resume_reading()

    def _start(self, response: Response) -> None:
        if response.delay_s == 0 and (response.gap_s == 0 or len(response.pieces) < 2):
            self._write(b"".join(response.pieces))
            self._end(response)
            return
        self._busy = True
        loop = asyncio.get_running_loop()
        due = loop.time() + response.delay_s
        self._timer = loop.call_at(due, self._tick, response, 0, due, loop.time)

    def _tick(self, response: Response, at: int, due: float, now: Callable[[], float]) -> None:
        """Writes the pieces that are due. Times are absolute, so lateness does not add up over a stream."""
        pieces = response.pieces
        first = at
        moment = now()
        while at < len(pieces) and due <= moment:
            at += 1
            due += response.gap_s
        if at == first and at < len(pieces):  # a timer may fire a hair early
            at += 1
            due += response.gap_s
        self._write(b"".join(pieces[first:at]))
        if at < len(pieces):
            self._timer = asyncio.get_running_loop().call_at(due, self._tick, response, at, due, now)
            return
        self._busy = False
        self._timer = None
        self._end(response)
        if self._transport is not None and not self._full:
            self._serve()

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _end(self, response: Response) -> None:
        if self._transport is not None and (self._leaving or not response.keep_alive):
            self._transport.close()
