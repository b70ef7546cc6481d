"""Serves the demo model over HTTP, for rehearsals and as a target of load tests. Prints nothing itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from benchwright.core import JsonObject, UsageError
from benchwright.demo._settings import DemoSettings

if TYPE_CHECKING:
    import asyncio

    from benchwright.demo._connection import DemoConnection
    from benchwright.demo._responses import Responder

MAX_BODY_BYTES = 64 * 1024 * 1024
"""Largest request body taken unless told otherwise; beyond comes a 413."""
_GRACE_S = 5.0
"""Time for responses under way when the server is told to stop."""
_BACKLOG = 4096


class DemoServer:
    """A running server. `url` is what clients are given as model URL."""

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
        """Base URL, `/v1` included."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/v1"

    def stats(self) -> JsonObject:
        """Counters, as GET /stats gives them."""
        return self._responder.counters.as_json()

    async def aclose(self, grace_s: float = _GRACE_S) -> None:
        """Stops accepting, lets responses under way finish for `grace_s` seconds, then closes everything."""
        import asyncio

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
    """Starts a server in the running loop; port 0 takes a free one. With an `api_key`, requests without it get a 401.
    Raises `UsageError` if it cannot listen."""
    import asyncio

    from benchwright.demo._connection import DemoConnection
    from benchwright.demo._responses import Responder

    responder = Responder(settings, api_key)
    connections: set[DemoConnection] = set()
    try:
        server = await asyncio.get_running_loop().create_server(
            lambda: DemoConnection(responder, connections, max_body_bytes), host, port, backlog=_BACKLOG
        )
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"cannot listen on {host} port {port}: {error}. Choose another port, or 0 for any free one: --port 0"
        ) from None
    return DemoServer(server, responder, connections, host, server.sockets[0].getsockname()[1])


def serve_demo(
    settings: DemoSettings,
    host: str = "127.0.0.1",
    port: int = 0,
    *,
    on_ready: Callable[[DemoServer], None] | None = None,
    max_body_bytes: int = MAX_BODY_BYTES,
    api_key: str | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM, then closes down cleanly and returns.

    `on_ready` is called once with the running server, whose `url` the caller may want to print.
    """
    import asyncio
    import signal

    async def run() -> None:
        server = await start_demo(settings, host, port, max_body_bytes=max_body_bytes, api_key=api_key)
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
    """A server in a thread of its own, for tests and examples.

    >>> with demo_server() as server:
    ...     server.url.startswith("http://127.0.0.1:")
    True
    """
    import asyncio
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
    """uvloop where there is one: about twice the requests per second."""
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
