"""Runs a server: with `serve` in the foreground, or with `serving` in a thread next to a run."""

from __future__ import annotations

import asyncio
import fcntl
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from benchwright.core import HidesFields, RunKind, UsageError
from benchwright.server._app import build_app
from benchwright.server._connections import BACKLOG, BoundedProtocol, sparing_logs
from benchwright.server._keys import Keys
from benchwright.server._opening import open_url, store_mark
from benchwright.server._people import People
from benchwright.server._settings import ServerSettings
from benchwright.server._state import RunActs, ServerState
from benchwright.store import Workspace, open_store

_GRACE_S = 5
"""Seconds that open requests get when the server stops."""


class ServerAddress(HidesFields, Struct, frozen=True):
    """Where a server listens, and its token."""

    hidden = ("token", "open_url")

    url: str
    """Base URL."""
    token: str
    """Bearer token of its clients."""
    open_url: str = ""
    """Opens the pages in a browser, once, within ten minutes."""
    first: str | None = None
    """The server of the same workspace that was there before: where it is, and how to stop it. `server.json` stays its own."""


class _Listening(Struct, frozen=True):
    server: Any
    bound: socket.socket
    address: ServerAddress
    state: ServerState


def serve(
    workspace: Workspace,
    settings: ServerSettings,
    acts: RunActs,
    *,
    on_ready: Callable[[ServerAddress], None] | None = None,
) -> None:
    """Serve a workspace until SIGINT or SIGTERM, then finish open requests."""
    with _record(workspace) as record, _listening(workspace, settings, acts, record.first) as listening:
        address = listening.address
        record.write(
            {
                "url": address.url,
                "token": address.token,
                "pid": os.getpid(),
                "store": store_mark(workspace),
                "tls_cert": settings.tls_cert and str(Path(settings.tls_cert).absolute()),
            }
        )
        asyncio.run(_until_signal(listening, on_ready, settings.idle_s))


class _Record:
    """`server.json`: how to reach the server of a workspace. Its lock ends with the process that holds it, however that ends."""

    def __init__(self, path: Path, opened: int | None, first: str | None) -> None:
        self.first = first
        """The server that holds the file; None if this one does."""
        self._path = path
        self._opened = opened

    def write(self, document: dict[str, object]) -> None:
        """Write the file, unless another server holds it."""
        if self._opened is not None:
            os.ftruncate(self._opened, 0)
            os.pwrite(self._opened, orjson.dumps(document), 0)

    def remove(self) -> None:
        """Remove the file, unless another server holds it."""
        if self._opened is not None:
            with suppress(OSError):
                self._path.unlink()
            os.close(self._opened)


@contextmanager
def _record(workspace: Workspace) -> Iterator[_Record]:
    """Hold the record of the workspace's server while the block runs; if a living server holds it, it stays as it is."""
    path = workspace.state / "server.json"
    record = _held(path)
    try:
        yield record
    finally:
        record.remove()


def _held(path: Path) -> _Record:
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        if path.is_symlink():  # the token must not be written elsewhere
            path.unlink()
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        os.fchmod(opened, 0o600)  # only its owner may read the token
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = os.pread(opened, 1 << 16, 0)
            os.close(opened)
            return _Record(path, None, _read_first(text))
        except OSError:  # some network file systems have no locks
            return _Record(path, opened, None)
        with suppress(OSError):
            if os.path.samestat(os.fstat(opened), path.stat()):
                return _Record(path, opened, None)
        os.close(opened)  # its server has just removed it


def _read_first(text: bytes) -> str:
    """What the record says of the server that wrote it, and how to stop that."""
    try:
        found = orjson.loads(text)
        url, pid = str(found["url"]), int(found["pid"])
    except (ValueError, KeyError, TypeError):
        return "an address that it has not written down yet"
    return f"{url} by process {pid} (kill -INT {pid} stops it)" if pid else url


async def _until_signal(
    listening: _Listening, on_ready: Callable[[ServerAddress], None] | None, idle_s: float | None
) -> None:
    """Serve until a signal. uvicorn's own handlers would raise it again and skip the clean-up."""
    server, loop = listening.server, asyncio.get_running_loop()

    def stop() -> None:
        server.force_exit = server.should_exit  # the second signal does not wait for requests
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if on_ready is not None:
        on_ready(listening.address)  # the socket listens already, so requests wait for a moment at most
    leaving = None if idle_s is None else asyncio.create_task(_until_idle(listening, idle_s))
    try:
        await server._serve([listening.bound])
    finally:
        if leaving is not None:
            leaving.cancel()
        await listening.state.settle()


async def _until_idle(listening: _Listening, idle_s: float) -> None:
    """Stop the server when nobody has used it for some time."""
    left = idle_s
    while left > 0:
        await asyncio.sleep(left)
        left = idle_s - listening.state.use.idle_s
    listening.server.should_exit = True


async def _until_told(listening: _Listening) -> None:
    try:
        await listening.server.serve([listening.bound])
    finally:
        await listening.state.settle()


@contextmanager
def serving(
    workspace: Workspace, settings: ServerSettings | None = None, acts: RunActs | None = None
) -> Iterator[tuple[ServerAddress, ServerState]]:
    """Run a server on a free port, in a thread, until the block ends."""
    chosen = settings or ServerSettings(port=0)
    with _listening(workspace, chosen, acts) as listening:
        server = listening.server
        thread = threading.Thread(
            target=lambda: asyncio.run(_until_told(listening)), name="benchwright-server", daemon=True
        )
        thread.start()
        try:
            yield listening.address, listening.state
        finally:
            server.should_exit = True
            thread.join(_GRACE_S + 2)


@contextmanager
def _listening(
    workspace: Workspace, settings: ServerSettings, acts: RunActs | None, first: str | None = None
) -> Iterator[_Listening]:
    import uvicorn

    people = People(workspace)
    settings.check_files()
    settings.check_people(people.listed() if settings.shared else ())
    bound = _bind(settings, first)
    token = settings.token or os.environ.get("BENCHWRIGHT_TOKEN") or secrets.token_urlsafe(24)
    keys = Keys(token, open_reads=settings.open_reads, people=people)
    state = ServerState(open_store(workspace), keys, acts)
    try:
        state.store.interrupt_dead(RunKind.WORKFLOW)
        config = uvicorn.Config(
            build_app(state, settings),
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            http=BoundedProtocol,
            backlog=BACKLOG,
            timeout_graceful_shutdown=_GRACE_S,
            ws="none",
            proxy_headers=False,  # the guard reads them, and only if there is a proxy
            ssl_certfile=settings.tls_cert,
            ssl_keyfile=settings.tls_key,
        )
        server = uvicorn.Server(config)
        state.ending = lambda: server.should_exit
        url = settings.url(bound.getsockname()[1])
        address = ServerAddress(url, token, open_url(url, keys.new_code()), first)
        with sparing_logs():
            yield _Listening(server, bound, address, state)
    finally:
        bound.close()
        state.close()


def _bind(settings: ServerSettings, first: str | None) -> socket.socket:
    try:
        family, *_, place = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # asyncio sends small pieces at once only where the protocol is named: replies would come 40 ms late.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(place)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        served = f" This workspace is served at {first}." if first else ""
        cure = (
            "Check --host"
            if isinstance(error, socket.gaierror)
            else "Choose another --port, or 0 for a free one"
        )
        raise UsageError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}.{served} {cure}"
        ) from None
    bound.listen(BACKLOG)
    return bound
