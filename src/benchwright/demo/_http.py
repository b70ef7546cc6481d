"""HTTP/1.1 for the demo server: parse requests from bytes, and write response heads. Does no I/O."""

from __future__ import annotations

from collections import deque
from http import HTTPStatus

import httptools
from msgspec import Struct

_MAX_HEAD_BYTES = 64 * 1024
"""Largest size of the request line and the headers together."""


class BadHttpError(Exception):
    """The bytes are not a request that this server can read; the connection cannot be used any further."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class HttpRequest(Struct):
    """One complete request."""

    method: str
    """GET, POST, …"""
    path: str
    """The path without the query."""
    body: bytes
    """The body, with chunked encoding removed."""
    keep_alive: bool
    """Whether the client will use the connection again."""
    chunks: bool
    """Whether the client understands chunked responses (HTTP/1.1)."""
    authorization: str = ""
    """The value of the Authorization header."""


class RequestReader:
    """Collects the bytes of one connection and returns complete requests in order. The `on_…` methods are called by the
    parser."""

    def __init__(self, max_body_bytes: int) -> None:
        self._parser = httptools.HttpRequestParser(self)
        self._max_body = max_body_bytes
        self._complete: deque[HttpRequest] = deque()
        self._error: BadHttpError | None = None
        self._in_head = True
        self._size = 0
        self._url = b""
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self.wants_continue = False

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        if self._error is not None:
            return
        if self._in_head:
            self._size += len(data)
        try:
            self._parser.feed_data(data)
        except BadHttpError as error:
            self._error = error
        except httptools.HttpParserUpgrade:
            self._error = BadHttpError(501, "this server serves no other protocol")
        except httptools.HttpParserError as error:
            told = error.__context__  # what one of our own methods raised
            unread = BadHttpError(400, f"this is not an HTTP/1.1 request: {error}")
            self._error = told if isinstance(told, BadHttpError) else unread
        if self._error is None and self._in_head and self._size > _MAX_HEAD_BYTES:
            self._error = BadHttpError(431, "the request head is longer than 64 KiB")

    def __len__(self) -> int:
        return sum(len(request.body) for request in self._complete)

    def next(self) -> HttpRequest | None:
        """Return the next complete request, or None if more bytes are needed. Raises `BadHttpError` for invalid bytes."""
        if self._complete:
            return self._complete.popleft()
        if self._error is not None:
            raise self._error
        return None

    def on_message_begin(self) -> None:
        self._url, self._headers, self._body = b"", {}, []

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self._in_head, self._size = False, 0
        if self._headers.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            raise BadHttpError(501, "this transfer encoding is not served; send Content-Length or chunks")
        self._count(int(self._headers.get(b"content-length", b"0")))
        self._size = 0
        self.wants_continue = self._headers.get(b"expect", b"").lower() == b"100-continue"

    def on_body(self, data: bytes) -> None:
        self._count(len(data))
        self._body.append(data)

    def on_message_complete(self) -> None:
        parser = self._parser
        path = self._url.partition(b"?")[0].decode("latin-1")
        self._complete.append(
            HttpRequest(
                parser.get_method().decode(),
                path,
                b"".join(self._body),
                parser.should_keep_alive(),
                parser.get_http_version() == "1.1",
                self._headers.get(b"authorization", b"").decode("latin-1"),
            )
        )
        self._in_head, self._size, self._body = True, 0, []
        self.wants_continue = False

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._max_body:
            raise BadHttpError(413, f"the body is larger than {self._max_body} bytes")


def response_head(
    status: int, content_type: str, length: int | None, *, keep_alive: bool, extra: str = ""
) -> bytes:
    """Return the status line and headers. Without a length the body is chunked, or ends with the connection."""
    framing = f"Content-Length: {length}" if length is not None else "Transfer-Encoding: chunked"
    if length is None and not keep_alive:
        framing = "Connection: close\r\nTransfer-Encoding: chunked"
    elif not keep_alive:
        framing += "\r\nConnection: close"
    reason = HTTPStatus(status).phrase
    return (
        f"HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\n{framing}\r\n{extra}\r\n"
    ).encode()


def chunk(data: bytes) -> bytes:
    """Return one piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"
"""Ends a chunked body."""
