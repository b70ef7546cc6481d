"""The application, which matches requests to the table of routes, checks them, calls the handler and answers in JSON. It
runs with `serve` in the foreground, or with `serving` in a thread next to a run."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import re
import secrets
import signal
import socket
import threading
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as Mounted

from benchwright.core import JsonObject, UsageError, exact_json, load_json, shown
from benchwright.server._connections import BACKLOG, BoundedProtocol, sparing_logs
from benchwright.server._guard import ANSWER_HEADERS, MAX_BODY_BYTES, Guard, Refusal, refusal_of
from benchwright.server._handlers import Call
from benchwright.server._routes import LARGEST_NUMBER, MOST_PER_PAGE, ROUTES, Query, Route, openapi_document
from benchwright.server._state import ServerState
from benchwright.store import Workspace, open_store
from benchwright.workflows import stable_stringify

_LOG = logging.getLogger("benchwright.server")


def build_app(
    state: ServerState, *, token: str, open_reads: bool = False, max_body: int = MAX_BODY_BYTES
) -> Guard:
    """The ASGI application of one workspace.

    Args:
        state: The workspace to serve.
        token: The token that requests must carry.
        open_reads: Whether requests that only read need no token.
        max_body: Largest body in bytes.
    """
    document = orjson.dumps(openapi_document())

    async def describe(request: Request) -> Response:
        return _json(document)

    mounted = [Mounted(route.path, _endpoint(route, state), methods=[route.method]) for route in ROUTES]
    app = Starlette(
        routes=[*_by_path(mounted), Mounted("/openapi.json", describe, methods=["GET"])],
        exception_handlers={HTTPException: _not_routed, Exception: _failed},
    )
    # A redirect away from a path that ends in "/" would lose the token of some clients.
    app.router.redirect_slashes = False
    return Guard(app, token=token, needs_token=_needs_token if open_reads else _always, max_body=max_body)


def _by_path(mounted: list[Mounted]) -> list[Mounted]:
    """One entry per path, so that a wrong method gives 405 and not 404."""
    paths: dict[str, dict[str, Any]] = {}
    for entry in mounted:
        for method in entry.methods or ():
            if method != "HEAD":
                paths.setdefault(entry.path, {})[method] = entry.endpoint

    def dispatch(known: dict[str, Any]) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            response: Response = await known["GET" if request.method == "HEAD" else request.method](request)
            return response

        return answer

    return [Mounted(path, dispatch(known), methods=list(known)) for path, known in paths.items()]


def _endpoint(route: Route, state: ServerState) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            call = Call(_path(request), _query(route, request), _body(route, await request.body()))
            encoded = _encoded(await route.handler(state, call))
        except Exception as error:
            refusal = refusal_of(error)
            if refusal.status == 500:
                _LOG.exception("%s %s", request.method, request.url.path)
            return _refused(refusal)
        return _json(encoded)

    return answer


def _path(request: Request) -> dict[str, int]:
    numbers = {}
    for name, text in request.path_params.items():
        if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LARGEST_NUMBER:
            raise Refusal(422, "invalid", f"{name} is {text[:40]!r}; expected a whole number")
        numbers[name] = int(text)
    return numbers


def _query(route: Route, request: Request) -> dict[str, Any]:
    return {query.name: _parameter(query, request.query_params) for query in route.query}


def _parameter(query: Query, given: Mapping[str, str]) -> Any:
    text = given.get(query.name)
    if text is None:
        return query.default
    if query.kind is str:
        if query.choices and text not in query.choices:
            raise Refusal(
                422, "invalid", f"{query.name} is {text[:40]!r}; expected {', '.join(query.choices)}"
            )
        return text
    if not (text.isascii() and text.isdigit()) or len(text) > 18 or int(text) > LARGEST_NUMBER:
        raise Refusal(422, "invalid", f"{query.name} is {text[:40]!r}; expected a whole number of 0 or more")
    number = int(text)
    if query.name == "limit" and not 1 <= number <= MOST_PER_PAGE:
        raise Refusal(422, "invalid", f"limit is {number}; expected 1 to {MOST_PER_PAGE}")
    return number


def _body(route: Route, raw: bytes) -> BaseModel | None:
    if route.body is None:
        return None
    if not raw.strip():
        if route.body_optional:
            return route.body()
        raise Refusal(400, "no_body", "the request has no body", "send a JSON object")
    try:
        value = load_json(raw)
    except ValueError as error:
        _refuse_odd_numbers(raw)
        raise Refusal(400, "malformed", f"the body is not JSON: {error}") from None
    try:
        return route.body.model_validate(value)
    except ValidationError as error:
        raise Refusal(422, "invalid", _problems(error)) from None


def _refuse_odd_numbers(raw: bytes) -> None:
    """Raise UsageError with the place of a NaN or an infinite number, which many clients write into JSON."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return
    stable_stringify(value)


def _encoded(answer: BaseModel | JsonObject) -> bytes:
    if not isinstance(answer, BaseModel):
        return exact_json(answer)
    try:
        return answer.model_dump_json().encode()
    except PydanticSerializationError:  # half of a surrogate pair
        return exact_json(answer.model_dump(mode="python"))


def _problems(error: ValidationError) -> str:
    found = [f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}" for e in error.errors()[:5]]
    return "; ".join(found)


def _always(method: str, path: str) -> bool:
    return True


def _needs_token(method: str, path: str) -> bool:
    """With open reads, requests that do more than read records need the token."""
    return method not in ("GET", "HEAD")


def _matches(route: Route, path: str) -> bool:
    return re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route.path), path) is not None


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers, "application/json")


def _refused(refusal: Refusal, headers: Mapping[str, str] | None = None) -> Response:
    return _json(orjson.dumps(refusal.body()), refusal.status, headers)


async def _not_routed(request: Request, error: Exception) -> Response:
    status, path = getattr(error, "status_code", 404), request.url.path[:200]
    if status == 405:
        allowed = ", ".join(sorted({route.method for route in ROUTES if _matches(route, path)} or {"GET"}))
        refusal = Refusal(405, "method", f"{request.method[:20]} is not allowed here; use {allowed}")
        return _refused(refusal, {"Allow": allowed})
    if status == 404:
        return _refused(Refusal(404, "not_found", f"there is nothing at {path}", "see /openapi.json"))
    return _refused(Refusal(status, "http", str(getattr(error, "detail", error))))


async def _failed(request: Request, error: Exception) -> Response:
    trace = "".join(traceback.format_exception(error))
    _LOG.error("%s", shown(f"{request.method} {request.url.path}\n{trace}"))
    return _refused(refusal_of(error))


_GRACE_S = 5
"""Seconds that open requests get when the server stops."""
_LOOPBACK = ("127.0.0.1", "::1")


class FirstServer(Struct, frozen=True):
    """A server that serves the same workspace already, as far as its record says."""

    url: str = "an address that it has not written down yet"
    """Base URL."""
    pid: int = 0
    """Its process; 0: not known yet."""

    @property
    def described(self) -> str:
        """What it is, and how to stop it."""
        process = f" by process {self.pid} (kill -INT {self.pid} stops it)" if self.pid else ""
        return f"{self.url}{process}"


class ServerAddress(Struct, frozen=True):
    """Where a server listens, and its token."""

    url: str
    """Base URL."""
    token: str
    """Bearer token of its clients."""
    first: FirstServer | None = None
    """The server of the same workspace that was there before; `server.json` stays its own."""


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
    with _record(workspace) as record, _listening(workspace, settings, record.first) as listening:
        address = listening.address
        record.write({"url": address.url, "token": address.token, "pid": os.getpid()})
        asyncio.run(_until_signal(listening, on_ready))


class _Record:
    """`server.json`: how to reach the server of a workspace. Its lock ends with the process that holds it, however that ends."""

    def __init__(self, path: Path, opened: int | None, first: FirstServer | None) -> None:
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


def _read_first(text: bytes) -> FirstServer:
    try:
        found = orjson.loads(text)
        return FirstServer(str(found["url"]), int(found["pid"]))
    except (ValueError, KeyError, TypeError):
        return FirstServer()


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
def _listening(
    workspace: Workspace, settings: ServerSettings, first: FirstServer | None = None
) -> Iterator[_Listening]:
    import uvicorn

    bound = _bind(settings, first)
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
            headers=[(name.decode(), value.decode()) for name, value in ANSWER_HEADERS],
            http=BoundedProtocol,
            backlog=BACKLOG,
            timeout_graceful_shutdown=_GRACE_S,
            ws="none",
        )
        server = uvicorn.Server(config)
        host, port = bound.getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        with sparing_logs():
            yield _Listening(server, bound, ServerAddress(f"http://{shown}:{port}", token, first), state)
    finally:
        bound.close()
        state.close()


def _bind(settings: ServerSettings, first: FirstServer | None) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        served = f" This workspace is served at {first.described}." if first else ""
        raise UsageError(
            f"cannot listen on {settings.host}:{settings.port}: {error.strerror}.{served} Choose another --port, or 0 for a free one"
        ) from None
    bound.listen(BACKLOG)
    return bound
