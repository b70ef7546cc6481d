"""Refusals: every error becomes a body of one form, and a status that tells clients what to do. The guard refuses requests from
other machines, from web pages of other origins, and without the token.

Plain ASGI around the application, so that no part of a refused request is parsed.
"""

from __future__ import annotations

import hmac
import re
import zlib
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

import orjson

from benchwright.core import (
    BenchwrightError,
    DatasetError,
    JsonObject,
    NotFoundError,
    RunOwnedError,
    UsageError,
    redact,
)
from benchwright.datasets import HubError
from benchwright.store import RecordRefusedError, StoreError


@dataclass
class Refusal(Exception):
    """A request that the server refuses."""

    status: int
    """HTTP status."""
    code: str
    """Name of the reason, for programs."""
    message: str
    """The reason, for people."""
    hint: str | None = None
    """What to do about it."""
    retryable: bool = False
    """Whether the same request may succeed later."""

    def body(self) -> JsonObject:
        """The body of the response."""
        return {
            "error": {
                "code": self.code,
                "message": redact(self.message),
                "hint": self.hint,
                "retryable": self.retryable,
            }
        }


def refusal_of(error: Exception) -> Refusal:
    """The refusal that reports an error over HTTP."""
    text = str(error) or type(error).__name__
    match error:
        case Refusal():
            return error
        case RecordRefusedError():
            return Refusal(409, error.code, text)
        case RunOwnedError():
            return Refusal(409, "run_owned", text, "wait for that process, or stop it")
        case NotFoundError():
            return Refusal(404, "not_found", text)
        case StoreError():
            return Refusal(
                503, "store", text, "free disk space or repair the disk; the records so far are safe", True
            )
        case DatasetError():
            return _of_dataset(error, text)
        case UsageError():
            return Refusal(422, "invalid", text)
        case BenchwrightError():
            return Refusal(422, "refused", text)
    return Refusal(
        500, "internal", f"{type(error).__name__}: {text}", "this is a defect of the server; please report it"
    )


def _of_dataset(error: DatasetError, text: str) -> Refusal:
    """Distinguish failures of the hub from missing datasets and wrong names."""
    kind = error.kind if isinstance(error, HubError) else None
    if kind == "not_found":
        return Refusal(404, "dataset_not_found", text)
    if kind == "forbidden":
        return Refusal(
            403, "dataset_forbidden", text, "accept the dataset's conditions and set HF_TOKEN for the server"
        )
    if kind == "timeout":
        return Refusal(504, "hub_timeout", text, "the hub did not answer in time; try again", True)
    if kind == "unreachable":
        return Refusal(502, "hub_unreachable", text, "check the network, HF_ENDPOINT and HF_TOKEN", True)
    return Refusal(422, "dataset", text)


MAX_BODY_BYTES = 64 * 1024 * 1024
"""Largest body after decompression."""

_HOST = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::([0-9]{1,5}))?", re.ASCII | re.IGNORECASE)
"""The only hosts a request may name. A name that has to be interpreted is read in one way here and in another elsewhere."""
_ONCE = ("host", "origin", "authorization", "content-length", "content-encoding", "sec-fetch-site")
"""Headers that decide something, and so must not be there twice: which one counts would differ from reader to reader."""
ANSWER_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
"""Headers of every response."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Guard:
    """Refuses what must not come in, and passes the body on, whole and decompressed."""

    def __init__(
        self,
        app: Callable[[Scope, Receive, Send], Awaitable[None]],
        *,
        token: str,
        needs_token: Callable[[str, str], bool],
        max_body: int = MAX_BODY_BYTES,
    ) -> None:
        self._app = app
        self._token = token.encode()
        self._needs_token = needs_token
        self._max_body = max_body

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = _headers(scope)
            self._check_host(headers)
            self._check_token(scope, headers)
            body = await self._read(headers, receive)
        except Refusal as refusal:
            await refuse(send, refusal)
            return

        given = False

        async def once() -> MutableMapping[str, Any]:
            nonlocal given
            if given:  # only a disconnect can follow
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, once, send)

    def _check_host(self, headers: dict[str, str]) -> None:
        """Check the Host header: a page whose name resolves to this machine still sends its own name."""
        host = headers.get("host", "")
        if not _is_this_machine(host):
            raise Refusal(
                403,
                "forbidden_host",
                f"Host {host[:100]!r} is not this machine; use http://127.0.0.1:PORT",
            )
        origin = headers.get("origin")
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            raise Refusal(403, "forbidden_origin", f"pages of {origin[:100]!r} may not use this server")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            raise Refusal(403, "forbidden_origin", "other web pages may not use this server")

    def _check_token(self, scope: Scope, headers: dict[str, str]) -> None:
        if not self._needs_token(scope["method"], scope["path"]):
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not hmac.compare_digest(given.strip().encode(), self._token):
            raise Refusal(
                401,
                "unauthorized",
                "this request needs the server's token" if not given else "the token is wrong",
                "send it as: Authorization: Bearer TOKEN (printed by `benchwright serve`; in BENCHWRIGHT_TOKEN of runs)",
            )

    async def _read(self, headers: dict[str, str], receive: Receive) -> bytes:
        announced = headers.get("content-length", "")
        if announced.isdigit() and int(announced) > self._max_body:
            raise self._too_large()
        encoding = headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "", "gzip"):
            raise Refusal(
                415,
                "encoding",
                f"Content-Encoding {encoding[:40]!r} is not supported; send gzip or no encoding",
            )
        unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if encoding == "gzip" else None
        pieces: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, "disconnected", "the request ended before its body")
            piece: bytes = message.get("body", b"")
            if unpack is not None and piece:
                try:
                    piece = unpack.decompress(piece, self._max_body + 1 - size)
                except zlib.error as error:
                    raise Refusal(400, "bad_gzip", f"the body is not gzip: {error}") from None
            size += len(piece)
            if size > self._max_body or (unpack is not None and unpack.unconsumed_tail):
                raise self._too_large()
            pieces.append(piece)
            if not message.get("more_body"):
                return b"".join(pieces)

    def _too_large(self) -> Refusal:
        return Refusal(
            413,
            "too_large",
            f"the body is larger than {self._max_body} bytes",
            "send less in one request, or raise --max-body-mb",
        )


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer with a refusal."""
    body = orjson.dumps(refusal.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name, if they and the target are of the plain form that can be understood in one way only."""
    target: bytes = scope.get("state", {}).get("target", b"/")
    if not target.startswith(b"/"):
        raise Refusal(
            400,
            "target",
            f"the request's target is {target[:100].decode('latin-1')!r}; expected a path such as /runs",
            "benchwright serve is no proxy: take it out of http_proxy",
        )
    headers: dict[str, str] = {}
    for raw, value in scope["headers"]:
        name = raw.decode("latin-1").lower()
        if name in headers and name in _ONCE:
            raise Refusal(400, "repeated_header", f"the header {name} is there more than once")
        headers[name] = value.decode("latin-1").strip(" \t")
    return headers


def _is_this_machine(host: str) -> bool:
    """Whether a Host header names this machine, in one of the three ways that need no interpretation.

    >>> [_is_this_machine(host) for host in ("127.0.0.1:8765", "[::1]:8765", "LocalHost", "evil@localhost", "localhost:abc")]
    [True, True, True, False, False]
    """
    found = _HOST.fullmatch(host)
    return found is not None and (found[1] is None or 0 < int(found[1]) < 65536)
