"""Refusals: every error becomes a body of one form, and a status that tells clients what to do. The guard refuses requests for
other servers and from web pages of other origins, and gives every answer its headers.

Plain ASGI around the application, so that no part of a refused request is parsed.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import msgspec

from benchwright.core import (
    BenchwrightError,
    DamagedRecordError,
    DatasetError,
    NotFoundError,
    RunOwnedError,
    UsageError,
    redact,
)
from benchwright.datasets import HubError
from benchwright.server._bodies import ErrorBody, ErrorDetail
from benchwright.server._settings import ServerSettings, plain_name
from benchwright.store import RecordRefusedError, StoreError


class Refusal(Exception):
    """A request that the server refuses: the HTTP status, the reason for programs and for people, what to do about it, and
    whether the same request may succeed later."""

    def __init__(
        self, status: int, code: str, message: str, hint: str | None = None, retryable: bool = False
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint, self.retryable = (
            status,
            code,
            message,
            hint,
            retryable,
        )

    def body(self) -> ErrorBody:
        """The body of the response."""
        # What is at fault may be half of a character pair, which no encoding has.
        message = redact(self.message).encode("utf-8", "replace").decode()
        return ErrorBody(ErrorDetail(self.code, message, self.hint, self.retryable))

    @property
    def headers(self) -> dict[str, str]:
        """Headers of the response besides its type and length."""
        return {"www-authenticate": "Bearer"} if self.status == 401 else {}


_SAID = re.compile(
    r"""(?P<kept>`[^`]*` | (?<!\w)'[^']*' | (?<!\w)"[^"]*" | \b(?:benchwright|python)\ [^\s].*?(?=[,;)]|\.\ |\.?$))
    | (?<![\w-])--(?P<flag>[a-z][a-z-]*)(?:\ [A-Z]{2,}\b)?""",
    re.VERBOSE | re.DOTALL,
)
_FIELD_OF_FLAG = {"as": "name"}


def in_fields(text: str) -> str:
    """A message with fields in place of flags: who sends requests has no command line. Commands that are written out stay, and so does
    what is quoted.

    >>> in_fields("it is 'a --b'. Choose one with --as NAME, or add --accept-cached; see: benchwright show 7 --steps")
    "it is 'a --b'. Choose one with name, or add accept_cached; see: benchwright show 7 --steps"
    """

    def said(found: re.Match[str]) -> str:
        flag = found["flag"]
        return found[0] if flag is None else _FIELD_OF_FLAG.get(flag, flag.replace("-", "_"))

    return _SAID.sub(said, text)


def refusal_of(error: Exception) -> Refusal:
    """The refusal that reports an error over HTTP."""
    if isinstance(error, Refusal):
        return error
    text = in_fields(str(error)) or type(error).__name__
    match error:
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
        case DamagedRecordError():
            return Refusal(422, "damaged", text)
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


_ONCE = (
    "host", "origin", "authorization", "content-length", "content-encoding", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest",
    "x-forwarded-host",
)  # fmt: skip
"""Headers that decide something, and so must not be there twice: which one counts would differ from reader to reader."""
_ALONE = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'"
"""What an answer with data may do in a browser: nothing."""
PAGE_POLICY = f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; {_ALONE}"
"""What a page may do: run and fetch what this server has. Nothing inline, so that no text of data can become a script or a style."""
ANSWER_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", DATA_POLICY.encode()),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
)
"""Headers of every response, unless it has its own of that name."""
_FRAMES = ("iframe", "frame", "embed", "object", "fencedframe")

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = Mapping[str, str]


class Guard:
    """Refuses what must not come in, and adds the headers of every answer."""

    def __init__(
        self, app: Callable[[Scope, Receive, Send], Awaitable[None]], settings: ServerSettings
    ) -> None:
        self._app, self._settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request and pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def closed(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower() for name, _ in message["headers"]}
                added = [pair for pair in ANSWER_HEADERS if pair[0] not in own]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        try:
            headers = _headers(scope)
            _check_host(headers, self._settings, (scope.get("server") or (None,))[0])
        except Refusal as refusal:
            await refuse(closed, refusal)
            return
        scope["headers_by_name"] = headers
        await self._app(scope, receive, closed)


def _check_host(headers: Headers, settings: ServerSettings, reached: str | None) -> None:
    """Check the name by which the client called the server: a page whose name was made to lead here still sends its own name."""
    forwarded = headers.get("x-forwarded-host") if settings.behind_proxy else None
    host = headers.get("host", "") if forwarded is None else forwarded
    if forwarded is not None and plain_name(forwarded) is None:
        raise Refusal(
            403, "forbidden_host", f"X-Forwarded-Host {host[:100]!r} is not one name, with or without a port"
        )
    if forwarded is None and not settings.answers_to(host, reached):
        known = ", ".join(sorted(settings.names(reached)))
        raise Refusal(403, "forbidden_host", f"Host {host[:100]!r} is not this server; it answers to {known}")
    origin = headers.get("origin")
    if origin is not None and origin not in settings.origins(host):
        raise Refusal(403, "forbidden_origin", f"pages of {origin[:100]!r} may not use this server")


def check_sender(headers: Headers, *, navigable: bool) -> None:
    """Refuse what a browser sends for pages of other sites. Only a link to a page of this server may be there."""
    if headers.get("sec-fetch-dest") in _FRAMES:
        raise Refusal(403, "framed", "this server is shown in no other page")
    link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (navigable and link):
        raise Refusal(403, "forbidden_origin", "other web pages may not use this server")


async def read_body(headers: Headers, receive: Receive, most: int) -> bytes:
    """The body of a request, whole and decompressed; refused if it has more than `most` bytes."""
    announced = headers.get("content-length", "")
    if announced.isdigit() and int(announced) > most:
        raise _too_large(most)
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
                piece = unpack.decompress(piece, most + 1 - size)
            except zlib.error as error:
                raise Refusal(400, "bad_gzip", f"the body is not gzip: {error}") from None
        size += len(piece)
        if size > most or (unpack is not None and unpack.unconsumed_tail):
            raise _too_large(most)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


def _too_large(most: int) -> Refusal:
    return Refusal(
        413,
        "too_large",
        f"the body is larger than {most} bytes",
        "send less in one request, or start the server with a larger limit: `benchwright serve --max-body-mb`",
    )


async def refuse(send: Send, refusal: Refusal) -> None:
    """Answer with a refusal."""
    body = msgspec.json.encode(refusal.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.encode(), value.encode()) for name, value in refusal.headers.items()]
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
