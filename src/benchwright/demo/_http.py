"""HTTP/1.1 for the demo server: parse requests from bytes, and write response heads. Does no I/O."""

from __future__ import annotations

import re

from msgspec import Struct

MAX_HEAD_BYTES = 64 * 1024
"""Largest size of the request line and the headers together."""

_REASONS = {
    200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
}  # fmt: skip
_REQUEST_LINE = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.([01])")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([^\r]*)")
_ENCODING = re.compile(rb"\r\ntransfer-encoding:[ \t]*([^\r]*)")
_CONNECTION = re.compile(rb"\r\nconnection:[ \t]*([^\r]*)")
_AUTHORIZATION = re.compile(rb"\r\nauthorization:[ \t]*([^\r]*)", re.IGNORECASE)
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]*)?\r\n")
_MAX_CHUNK_LINE = 1024


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
    """Collects the bytes of one connection and returns complete requests in order."""

    __slots__ = ("_buffer", "_head", "_max_body", "_remaining", "_scanned", "_unchunked", "wants_continue")

    def __init__(self, max_body_bytes: int) -> None:
        self._buffer = bytearray()
        self._max_body = max_body_bytes
        self._head: HttpRequest | None = None
        self._remaining = 0
        self._unchunked: bytearray | None = None
        self._scanned = 0
        self.wants_continue = False

    def feed(self, data: bytes) -> None:
        """Add received bytes."""
        self._buffer += data

    def __len__(self) -> int:
        return len(self._buffer)

    def next(self) -> HttpRequest | None:
        """Return the next complete request, or None if more bytes are needed. Raises `BadHttpError` for invalid bytes."""
        if self._head is None and not self._read_head():
            return None
        head = self._head
        assert head is not None
        if self._unchunked is None:
            if len(self._buffer) < self._remaining:
                return None
            head.body = bytes(self._buffer[: self._remaining])
            del self._buffer[: self._remaining]
        else:
            if not self._read_chunks(self._unchunked):
                return None
            head.body = bytes(self._unchunked)
        self._head = self._unchunked = None
        self.wants_continue = False
        return head

    def _read_head(self) -> bool:
        buffer = self._buffer
        while buffer.startswith(b"\r\n"):  # allowed between requests
            del buffer[:2]
        end = buffer.find(b"\r\n\r\n", max(self._scanned - 3, 0))
        if end < 0:
            self._scanned = len(buffer)
            if len(buffer) > MAX_HEAD_BYTES:
                raise BadHttpError(431, "the request head is longer than 64 KiB")
            return False
        head = bytes(buffer[:end]) + b"\r\n"
        del buffer[: end + 4]
        self._scanned = 0
        line = _REQUEST_LINE.match(head)
        if line is None:
            raise BadHttpError(400, "the first line is not an HTTP/1.1 request")
        method, target, minor = line.groups()
        fields = head.lower()
        modern = minor == b"1"
        connection = _CONNECTION.search(fields)
        says = connection.group(1) if connection else b""
        keep = (b"close" not in says) if modern else (b"keep-alive" in says)
        path = target.partition(b"?")[0].decode("latin-1")
        given = _AUTHORIZATION.search(head)
        authorization = "" if given is None else given.group(1).decode("latin-1").strip()
        self._head = HttpRequest(method.decode(), path, b"", keep, modern, authorization)
        self._read_framing(fields)
        self.wants_continue = b"\r\nexpect: 100-continue" in fields
        return True

    def _read_framing(self, fields: bytes) -> None:
        encoding = _ENCODING.search(fields)
        if encoding is not None:
            if encoding.group(1).strip() != b"chunked":
                raise BadHttpError(501, "this transfer encoding is not served; send Content-Length or chunks")
            self._unchunked = bytearray()
            self._remaining = 0
            return
        length = _LENGTH.search(fields)
        value = length.group(1).strip() if length is not None else b"0"
        if not value.isdigit() or len(value) > 15:
            raise BadHttpError(400, "Content-Length is not a whole number")
        self._remaining = int(value)
        if self._remaining > self._max_body:
            raise BadHttpError(413, f"the body is larger than {self._max_body} bytes")

    def _read_chunks(self, body: bytearray) -> bool:
        """Move complete chunks into the body; return True if the last one has arrived."""
        buffer = self._buffer
        while True:
            size = _CHUNK_SIZE.match(buffer)
            if size is None:
                if len(buffer) > _MAX_CHUNK_LINE or (b"\r\n" in buffer):
                    raise BadHttpError(400, "a chunk does not start with its size")
                return False
            length = int(size.group(1), 16)
            start = size.end()
            if len(body) + length > self._max_body:
                raise BadHttpError(413, f"the body is larger than {self._max_body} bytes")
            if length == 0:
                end = buffer.find(b"\r\n", start) if buffer[start : start + 2] == b"\r\n" else -1
                if end < 0:  # trailers: up to an empty line
                    end = buffer.find(b"\r\n\r\n", start)
                    if end < 0:
                        return False
                    end += 2
                del buffer[: end + 2]
                return True
            if len(buffer) < start + length + 2:
                return False
            if buffer[start + length : start + length + 2] != b"\r\n":
                raise BadHttpError(400, "a chunk is longer than its size says")
            body += buffer[start : start + length]
            del buffer[: start + length + 2]


def response_head(
    status: int, content_type: str, length: int | None, *, keep_alive: bool, extra: str = ""
) -> bytes:
    """Return the status line and headers. Without a length the body is chunked, or ends with the connection."""
    framing = f"Content-Length: {length}" if length is not None else "Transfer-Encoding: chunked"
    if length is None and not keep_alive:
        framing = "Connection: close\r\nTransfer-Encoding: chunked"
    elif not keep_alive:
        framing += "\r\nConnection: close"
    return (
        f"HTTP/1.1 {status} {_REASONS.get(status, 'Unknown')}\r\nContent-Type: {content_type}\r\n{framing}\r\n{extra}\r\n"
    ).encode()


def chunk(data: bytes) -> bytes:
    """Return one piece of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"
"""Ends a chunked body."""
