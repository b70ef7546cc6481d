"""The lean transport: plain `http://` with the least CPU per request. Manages pools and deadlines.

At 64 requests in flight the general client takes 60–90 µs of CPU per request. A protocol that does only what model
servers need takes less than half, and the evaluator must never be the bottleneck of what it measures. TLS, proxies and
HTTP/2 are left to the general client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import cached_property
from urllib.parse import urlsplit

from benchwright.endpoints._clock import LOOP_CLOCK, Clock, Timer
from benchwright.endpoints._lean_connection import LeanConnection, UnusedConnection
from benchwright.endpoints._lean_stream import LeanStream
from benchwright.endpoints._transport import HttpReply, Stamps, TransportFailure

_CONNECT_TIMEOUT_S = 15.0  # a host that drops packets must not use up a whole request timeout
_WRITE_TOGETHER = 8  # more would delay the first of them, which lowers the rate if the server is slow
_TOGETHER_S = 0.0002  # requests that follow one another more slowly do not come in one turn of the loop
_LOST_STREAMS = (
    2  # llama.cpp closes each connection after a stream without notice: half of all requests would be lost
)
_NEW_FIRST, _NEW_MOST = (
    32,
    4096,
)  # streams on new connections until a kept one is tried again, doubled after each loss
_SLOWEST_SWEEP_S = 0.25
_QUICKEST_SWEEP_S = 0.005


class LeanTransport:
    """Implements `Transport` for `http://` URLs."""

    def __init__(self, parallelism: int, clock: Clock = LOOP_CLOCK) -> None:
        self._keep = max(1, parallelism)
        self._clock = clock
        self._now = clock.now
        self._targets: dict[str, _Target] = {}
        self._pools: dict[tuple[str, int], _Pool] = {}
        self._sweeper = _Sweeper(self._pools, clock)
        self._held: list[LeanConnection] = []
        self._written_at = float("-inf")

    async def post(
        self,
        url: str,
        payload: bytes,
        headers: Mapping[str, str],
        timeout_s: float,
        stamps: Stamps | None = None,
    ) -> HttpReply:
        """Send and read the whole reply."""
        target = self._targets.get(url)
        if target is None or target.headers is not headers:
            target = self._aim(url, headers)
        message = b"%b%d\r\n\r\n%b" % (target.head, len(payload), payload)
        connection = target.pool.take() if stamps is None or not stamps.lost else None
        while True:
            if connection is None:
                connection = await target.pool.connect(timeout_s)
            waiter: asyncio.Future[HttpReply] = self._sweeper.watch(timeout_s).create_future()
            connection.hold(message, timeout_s, waiter, stamps or Stamps())
            self._write_soon(connection)
            try:
                return await waiter
            except UnusedConnection:
                # Raised only for a kept connection; the next one is new and cannot raise it.
                connection = None
            except TransportFailure as failure:
                if failure.stale:
                    target.pool.drop_idle()
                raise
            except asyncio.CancelledError:
                connection.abandon(waiter)
                raise

    async def stream(
        self,
        url: str,
        payload: bytes,
        headers: Mapping[str, str],
        timeout_s: float,
        stamps: Stamps | None = None,
    ) -> LeanStream:
        """Send, and return when there is something to read."""
        target = self._targets.get(url)
        if target is None or target.headers is not headers:
            target = self._aim(url, headers)
        message = b"%b%d\r\n\r\n%b" % (target.head, len(payload), payload)
        again = stamps is not None and stamps.lost > 0
        pool = target.pool
        connection = None if again else pool.take_for_stream()
        while True:
            if connection is None:
                connection = await pool.connect(timeout_s)
            waiter: asyncio.Future[None] = self._sweeper.watch(timeout_s).create_future()
            stream = connection.hold_streamed(message, timeout_s, waiter, stamps or Stamps())
            self._write_soon(connection)
            try:
                await waiter
                stream.check_begun()
            except asyncio.CancelledError:
                stream.abandon()
                raise
            except UnusedConnection:  # as above
                connection = None
            except TransportFailure as failure:
                if failure.stale:
                    pool.drop_idle()
                    pool.stream_lost(connection)
                raise
            else:
                if connection.reused:
                    pool.stream_kept()
                return stream

    async def aclose(self) -> None:
        """Close all connections."""
        self._sweeper.stop()
        for pool in self._pools.values():
            pool.close()
        # Callbacks do the closing; without a turn of the loop the sockets would be left to the garbage collector.
        await asyncio.sleep(0)

    def _write_soon(self, connection: LeanConnection) -> None:
        # The first request for a while is written at once. Those that follow in the same turn of the loop are written together,
        # so that a waiting server is woken once for all of them. Waking it for each costs a busy client as much as the writing does.
        held = self._held
        if not held:
            now = self._now()
            if now - self._written_at > _TOGETHER_S:
                self._written_at = now
                connection.write_held(now)
                return
            self._sweeper.loop.call_soon(self._write_held)
        held.append(connection)
        if len(held) >= _WRITE_TOGETHER:
            self._write_held()

    def _write_held(self) -> None:
        held, self._held = self._held, []
        now = self._written_at = self._now()
        for connection in held:
            connection.write_held(now)

    def _aim(self, url: str, headers: Mapping[str, str]) -> _Target:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
        pool = self._pools.get((host, port))
        if pool is None:
            pool = self._pools[host, port] = _Pool(host, port, self._keep, self._clock)
        target = self._targets[url] = _Target(pool, headers, _head_block(url, headers))
        return target


class _Target:
    """A URL with a prepared request head, complete except for the body's length."""

    __slots__ = ("head", "headers", "pool")

    def __init__(self, pool: _Pool, headers: Mapping[str, str], head: bytes) -> None:
        self.pool = pool
        self.headers = headers
        self.head = head


def _head_block(url: str, headers: Mapping[str, str]) -> bytes:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = parts.netloc.encode("idna").decode("ascii") if not parts.netloc.isascii() else parts.netloc
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines.append("Content-Length: ")
    return "\r\n".join(lines).encode("latin-1")


class _Pool:
    """Connections to one host. The most recently used one is used next, so that the others go idle and can be closed."""

    def __init__(self, host: str, port: int, keep: int, clock: Clock) -> None:
        self._host, self._port, self._keep, self._clock = host, port, keep, clock
        self._idle: list[LeanConnection] = []
        self.open: set[LeanConnection] = set()
        """All connections, idle or not."""
        self._lost_streams = 0  # one after the other, because the server was closing the kept connection
        self._new_left = 0  # streams that take a new connection, whatever is idle
        self._tried: LeanConnection | None = None

    def take(self) -> LeanConnection | None:
        """An idle connection that is still open."""
        while self._idle:
            connection = self._idle.pop()
            if connection.usable:
                connection.reused = True
                return connection
            self.open.discard(connection)
        return None

    def take_for_stream(self) -> LeanConnection | None:
        """The same for a stream. A server that closes kept connections without notice gets new ones; later, one kept connection is
        tried again, because the server may have restarted, or closed only what was idle for long."""
        if self._new_left:
            self._new_left -= 1
            if self._idle:  # one that is not used makes room, else every stream would leave another one open
                self._idle.pop(0).abort()
            return None
        connection = self.take()
        if connection is not None and self._lost_streams >= _LOST_STREAMS:
            self._tried, self._new_left = connection, _NEW_FIRST
        return connection

    def stream_lost(self, connection: LeanConnection) -> None:
        """A kept connection lost a stream. One that was lost together with others tells nothing more."""
        if self._new_left and connection is not self._tried:
            return
        self._lost_streams += 1
        if (more := self._lost_streams - _LOST_STREAMS) >= 0:
            self._new_left = min(_NEW_MOST, _NEW_FIRST << min(more, 16))

    def stream_kept(self) -> None:
        """A kept connection answered."""
        self._lost_streams = self._new_left = 0

    async def connect(self, timeout_s: float) -> LeanConnection:
        """A new connection."""
        peer = f"{self._host}:{self._port}"
        limit_s = min(timeout_s, _CONNECT_TIMEOUT_S)
        clock = self._clock
        try:
            async with asyncio.timeout(None) as limit:
                timer = clock.call_at(clock.now() + limit_s, lambda: limit.reschedule(0.0))
                try:
                    _, connection = await asyncio.get_running_loop().create_connection(
                        lambda: LeanConnection(self, peer, clock), self._host, self._port
                    )
                finally:
                    timer.cancel()
        except TimeoutError:
            raise TransportFailure("timeout", f"no connection to {peer} within {limit_s:g} s") from None
        except OSError as error:
            raise TransportFailure(
                "connection",
                f"cannot connect to {peer}: {error.strerror or error}. Is the server running, and is this its address?",
            ) from None
        self.open.add(connection)
        return connection

    def released(self, connection: LeanConnection) -> None:
        """Keep the connection for the next request."""
        if len(self._idle) < self._keep:
            self._idle.append(connection)
        else:
            connection.abort()

    def lost(self, connection: LeanConnection) -> None:
        """Remove a connection that can no longer be used."""
        self.open.discard(connection)

    def drop_idle(self) -> None:
        """Close idle connections: the server has closed one, and maybe all of them."""
        while self._idle:
            self._idle.pop().abort()

    def close(self) -> None:
        """Close every connection."""
        for connection in list(self.open):
            connection.abort()
        self._idle.clear()


class _Sweeper:
    """Checks the deadlines of all exchanges a few times a second, because a timer per request costs too much. A timeout may
    be late by a tenth of its length, at most by a quarter of a second."""

    def __init__(self, pools: Mapping[tuple[str, int], _Pool], clock: Clock) -> None:
        self._pools = pools
        self._clock = clock
        self._interval_s = _SLOWEST_SWEEP_S
        self._timer: Timer | None = None

    @cached_property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop of the transport: that of its first request."""
        return asyncio.get_running_loop()

    def watch(self, timeout_s: float) -> asyncio.AbstractEventLoop:
        """Make sure that a deadline after `timeout_s` is noticed. Returns the running loop, which callers need anyway."""
        loop = self.loop
        if timeout_s < self._interval_s * 10:
            self._quicken(max(_QUICKEST_SWEEP_S, timeout_s / 10))
        if self._timer is None:
            self._set()
        return loop

    def stop(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _quicken(self, interval_s: float) -> None:
        if interval_s < self._interval_s:
            self._interval_s = interval_s
            self.stop()

    def _set(self) -> None:
        self._timer = self._clock.call_at(self._clock.now() + self._interval_s, self._sweep)

    def _sweep(self) -> None:
        self._timer = None
        now = self._clock.now()
        busy = [c for pool in self._pools.values() for c in pool.open if c.deadline is not None]
        for connection in busy:
            if connection.deadline is not None and connection.deadline <= now:
                connection.expire()
            elif connection.stream is not None:
                connection.nudge()
        if busy:
            self._set()
        else:
            self._interval_s = _SLOWEST_SWEEP_S
