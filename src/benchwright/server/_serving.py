"""Runs the application: `serve` in the foreground, or `serving` in a thread next to a run."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from benchwright.core import UsageError
from benchwright.server._app import build_app
from benchwright.server._guard import MAX_BODY_BYTES
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store

_GRACE_S = 5
"""Seconds that open requests get when the server stops."""
_LOOPBACK = ("127.0.0.1", "::1")


class ServerAddress(Struct, frozen=True):
    """Where a server listens, and its token."""

    url: str
    """Base URL."""
    token: str
    """Bearer token of its clients."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How to serve a workspace."""

    host: str = "127.0.0.1"
    """Loopback address to listen on."""
    port: int = 8765
    """Port; 0: any free one."""
    token: str | None = None
    """Token of its clients; None: BENCHWRIGHT_TOKEN, else a random one."""
    open_reads: bool = False
    """Whether requests that only read need no token. Those for hub data do: the server reads with its owner's hub token."""
    max_body: int = MAX_BODY_BYTES
    """Largest body in bytes."""

    def __post_init__(self) -> None:
        if self.host not in _LOOPBACK:
            raise UsageError(
                f"--host {self.host} is not a loopback address, and the server serves this machine only; use {' or '.join(_LOOPBACK)}"
            )
        if self.token is not None and len(self.token) < 8:
            raise UsageError(
                "the token is shorter than 8 characters; give a longer one, or none for a random one"
            )


class _Listening(Struct, frozen=True):
    server: Any
    bound: socket.socket
    address: ServerAddress
    state: ServerState


def serve(
    workspace: Workspace, settings: ServerSettings, *, on_ready: Callable[[ServerAddress], None] | None = None
) -> None:
    """Serve a workspace until SIGINT or SIGTERM, then finish open requests."""
    with _listening(workspace, settings) as listening:
        address = listening.address
        record = workspace.state / "server.json"
        _write_private(record, {"url": address.url, "token": address.token, "pid": os.getpid()})
        try:
            asyncio.run(_until_signal(listening, on_ready))
        finally:
            with suppress(OSError):
                record.unlink()


async def _until_signal(listening: _Listening, on_ready: Callable[[ServerAddress], None] | None) -> None:
    """Serve until a signal. uvicorn's own handlers would raise it again and skip the clean-up."""
    server, loop = listening.server, asyncio.get_running_loop()

    def stop() -> None:
        server.force_exit = server.should_exit  # the second signal does not wait for requests
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if on_ready is not None:
        on_ready(listening.address)  # the socket listens already, so requests wait for a moment at most
    await server._serve([listening.bound])


@contextmanager
def serving(
    workspace: Workspace, settings: ServerSettings | None = None
) -> Iterator[tuple[ServerAddress, ServerState]]:
    """Run a server on a free port, in a thread, until the block ends."""
    chosen = settings or ServerSettings(port=0)
    with _listening(workspace, chosen) as listening:
        server = listening.server
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [listening.bound]}, name="benchwright-server", daemon=True
        )
        thread.start()
        try:
            yield listening.address, listening.state
        finally:
            server.should_exit = True
            thread.join(_GRACE_S + 2)


@contextmanager
def _listening(workspace: Workspace, settings: ServerSettings) -> Iterator[_Listening]:
    try:
        import uvicorn
    except ImportError:
        raise UsageError("serving needs the extra `server`: pip install 'benchwright[server]'") from None
    bound = _bind(settings)
    state = ServerState(open_store(workspace))
    try:
        state.store.interrupt_dead_workflows()
        token = settings.token or os.environ.get("BENCHWRIGHT_TOKEN") or secrets.token_urlsafe(24)
        app = build_app(state, token=token, open_reads=settings.open_reads, max_body=settings.max_body)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_GRACE_S,
            ws="none",
        )
        server = uvicorn.Server(config)
        host, port = bound.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        yield _Listening(server, bound, ServerAddress(f"http://{shown}:{port}", token), state)
    finally:
        bound.close()
        state.close()


def _bind(settings: ServerSettings) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise UsageError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}. Choose another --port, or 0 for a free one"
        ) from None
    bound.listen(512)
    return bound


def _write_private(path: Path, document: dict[str, object]) -> None:
    """Write a file that only its owner may read: it holds the token."""
    with suppress(OSError):
        path.unlink()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(orjson.dumps(document))
