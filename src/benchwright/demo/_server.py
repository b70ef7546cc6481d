"""Serve the demo model over HTTP, for trying things out and as a target of load tests. Prints nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from benchwright.core import JsonObject, UsageError, clause
from benchwright.demo._http import BadHttpError, RequestReader
from benchwright.demo._responses import Counters, Responder, Response
from benchwright.demo._settings import DemoSettings

_MAX_WAITING_BYTES = 1 << 20
"""Bytes of further requests kept while one is being answered; reading pauses above that."""
MAX_BODY_BYTES = 64 * 1024 * 1024
"""Default for the largest request body; a larger one gets a 413."""
_GRACE_S = 5.0
"""Seconds that unfinished responses get when the server stops."""
_BACKLOG = 4096


class Slots:
    """Places for the requests that are served at once; others wait in the order in which they came.

    A place is taken over at the time at which it was due to become free, not when a late timer says so: on a busy machine too,
    the server answers exactly as many requests per second as its places allow.
    """

    def __init__(self, number: int | None, counters: Counters) -> None:
        self._number = number
        self._counters = counters
        self._waiting: dict[DemoConnection, Response] = {}

    def take(self, connection: DemoConnection, response: Response, now: float) -> None:
        """Begin with the response, now or when a place becomes free."""
        if self._number is not None and self._counters.running >= self._number:
            self._waiting[connection] = response
            self._counters.waiting += 1
            return
        self._counters.running += 1
        connection.begin(response, now)

    def give_back(self, connection: DemoConnection, at: float) -> None:
        """End the response of a connection at this time, or its wait; the first that waits takes the place."""
        if self._waiting.pop(connection, None) is not None:
            self._counters.waiting -= 1
        elif self._waiting:
            following = next(iter(self._waiting))
            self._counters.waiting -= 1
            following.begin(self._waiting.pop(following), at)
        else:
            self._counters.running -= 1


class DemoConnection(asyncio.Protocol):
    """Answers the requests of one client one after the other, as HTTP/1.1 requires, including pipelined ones."""

    def __init__(
        self, responder: Responder, slots: Slots, connections: set[DemoConnection], max_body_bytes: int
    ) -> None:
        self._responder = responder
        self._slots = slots
        self._connections = connections
        self._reader = RequestReader(max_body_bytes)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._busy = False
        self._full = False
        self._held = False
        self._leaving = False
        self.closed: asyncio.Future[None]
        """Completes when the connection closes; created when it opens."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Register a new client."""
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self._transport = transport  # type: ignore[assignment]  # uvloop's transport is not an asyncio.Transport
        self.closed = asyncio.get_running_loop().create_future()
        self._connections.add(self)
        counters = self._responder.counters
        counters.connections += 1
        counters.connections_total += 1

    def connection_lost(self, exc: Exception | None) -> None:
        """Clean up after the client has disconnected."""
        self._connections.discard(self)
        self._responder.counters.connections -= 1
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
        if self._busy:
            self._busy = False
            self._slots.give_back(self, asyncio.get_running_loop().time())
        if not self.closed.done():
            self.closed.set_result(None)

    def pause_writing(self) -> None:
        """Pause responses, because the client reads too slowly."""
        self._full = True

    def resume_writing(self) -> None:
        """Resume responses, because the client has caught up."""
        self._full = False
        if not self._busy:
            self._serve()

    def data_received(self, data: bytes) -> None:
        """Read received bytes."""
        self._reader.feed(data)
        if not self._busy and not self._full:
            self._serve()
        elif len(self._reader) > _MAX_WAITING_BYTES and not self._held and self._transport is not None:
            self._held = True
            self._transport.pause_reading()

    def leave(self) -> None:
        """Close after the current response, if any, is written."""
        self._leaving = True
        if not self._busy and self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        """Close immediately."""
        if self._transport is not None:
            self._transport.abort()

    def _serve(self) -> None:
        """Answer complete requests until one takes time or none is left."""
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
        self._slots.take(self, response, asyncio.get_running_loop().time())

    def begin(self, response: Response, at: float) -> None:
        """Write a response that has its place since this time."""
        loop = asyncio.get_running_loop()
        due = at + response.delay_s
        self._timer = loop.call_at(due, self._tick, response, 0, due, loop.time)

    def _tick(self, response: Response, at: int, due: float, now: Callable[[], float]) -> None:
        """Write the pieces that are due. Times are absolute, so delays do not add up over a stream."""
        pieces = response.pieces
        first = at
        moment = now()
        while at < len(pieces) and due <= moment:
            at += 1
            due += response.gap_s
        if at == first and at < len(pieces):  # a timer may fire slightly early
            at += 1
            due += response.gap_s
        self._write(b"".join(pieces[first:at]))
        if at < len(pieces):
            self._timer = asyncio.get_running_loop().call_at(due, self._tick, response, at, due, now)
            return
        self._busy = False
        self._timer = None
        self._slots.give_back(self, due - response.gap_s)
        self._end(response)
        if self._transport is not None and not self._full:
            self._serve()

    def _write(self, data: bytes) -> None:
        if data and self._transport is not None:
            self._transport.write(data)

    def _end(self, response: Response) -> None:
        if self._transport is not None and (self._leaving or not response.keep_alive):
            self._transport.close()


class DemoServer:
    """A running server. Clients use its `url` as model URL."""

    def __init__(
        self,
        server: asyncio.Server,
        responder: Responder,
        connections: set[DemoConnection],
        host: str,
        port: int,
    ) -> None:
        self.host = host
        self.port = port
        self._server = server
        self._responder = responder
        self._connections = connections

    @property
    def url(self) -> str:
        """Base URL, including `/v1`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/v1"

    def stats(self) -> JsonObject:
        """The counters that GET /stats returns."""
        return self._responder.counters.as_json()

    async def aclose(self, grace_s: float = _GRACE_S) -> None:
        """Stop accepting connections, give unfinished responses `grace_s` seconds, then close everything."""
        self._server.close()
        for connection in list(self._connections):
            connection.leave()
        leaving = [connection.closed for connection in self._connections]
        if leaving:
            await asyncio.wait(leaving, timeout=grace_s)
        for connection in list(self._connections):
            connection.abort()
        if leaving:
            await asyncio.wait(leaving, timeout=grace_s)


async def start_demo(
    settings: DemoSettings,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    max_body_bytes: int = MAX_BODY_BYTES,
    api_key: str | None = None,
) -> DemoServer:
    """Start a server in the running loop; port 0 means any free port. With an `api_key`, requests without it get a 401.
    Raises `UsageError` if it cannot listen."""
    responder = Responder(settings, api_key)
    slots = Slots(settings.slots, responder.counters)
    connections: set[DemoConnection] = set()
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: DemoConnection(responder, slots, connections, max_body_bytes),
            host,
            port,
            backlog=_BACKLOG,
        )
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {clause(error)}. Choose another port, or 0 for any free one: --port 0"
        ) from None
    return DemoServer(server, responder, connections, host, server.sockets[0].getsockname()[1])


def serve_demo(
    settings: DemoSettings,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    on_ready: Callable[[DemoServer], None] | None = None,
    api_key: str | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM, then shut down cleanly and return.

    `on_ready` is called once with the running server, for example to print its `url`.
    """
    import signal

    async def run() -> None:
        server = await start_demo(settings, host, port, api_key=api_key)
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        try:
            if on_ready is not None:
                on_ready(server)
            await stopped.wait()
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)
            await server.aclose()

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(run())


@contextmanager
def demo_server(
    settings: DemoSettings | None = None,
    *,
    max_body_bytes: int = MAX_BODY_BYTES,
    api_key: str | None = None,
) -> Iterator[DemoServer]:
    """Run a server in a separate thread, for tests and examples.

    >>> with demo_server() as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """
    import threading
    from concurrent.futures import Future

    ready: Future[tuple[DemoServer, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def run() -> None:
        try:
            server = await start_demo(
                settings or DemoSettings(), max_body_bytes=max_body_bytes, api_key=api_key
            )
        except BaseException as error:
            ready.set_exception(error)
            return
        stop = asyncio.Event()
        ready.set_result((server, asyncio.get_running_loop(), stop))
        await stop.wait()
        await server.aclose(0.5)

    def work() -> None:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(run())

    thread = threading.Thread(target=work, name="demo-server", daemon=True)
    thread.start()
    server, loop, stop = ready.result()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """Return uvloop's factory if it is installed, which gives about twice the requests per second."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
