"""Parses HTTP/1.1 replies: heads, body framing, content encodings. Pure; no sockets, no clock."""

from __future__ import annotations

import zlib
from functools import lru_cache

from msgspec import Struct

from benchwright.endpoints._transport import TransportFailure

MAX_HEAD_BYTES = 64 * 1024
"""Replies with a longer head are refused."""


class RawHeaders(Struct):
    """Headers of a reply, parsed only when one is read, because most never are."""

    block: bytes
    """The head as received."""
    _parsed: dict[str, str] | None = None

    def get(self, name: str, /) -> str | None:
        """The first value of a header, by its lower-case name."""
        if self._parsed is None:
            if name.encode() not in self.block.lower():
                return None
            parsed: dict[str, str] = {}
            for line in self.block.split(b"\r\n")[1:]:
                key, colon, value = line.partition(b":")
                if colon:
                    parsed.setdefault(key.decode("latin-1").lower(), value.decode("latin-1").strip())
            self._parsed = parsed
        return self._parsed.get(name)


class Head(Struct, frozen=True):
    """The parts of a reply's head that decide how its body is read."""

    status: int
    """Status code."""
    length: int | None
    """Content-Length; None when the body is chunked or runs until the connection closes."""
    chunked: bool
    """Whether the body comes in chunks."""
    keep_alive: bool
    """Whether the connection can carry another request."""
    encoding: str
    """Content-Encoding; empty for none."""
    plain_length: int = -1
    """Length of the body if nothing else needs checking: a good status, no encoding, and a connection that is kept.
    Else -1."""
    plain_chunks: bool = False
    """Whether the body comes in chunks and nothing else needs checking: status 200, no encoding, a connection that is kept."""


@lru_cache(maxsize=256)  # the heads of one server are mostly equal; others cost little more
def parse_head(block: bytes) -> Head:
    """Parse a head without its closing empty line. Raises `TransportFailure` if it is not HTTP."""
    if not block.startswith(b"HTTP/1.") or not block[9:12].isdigit():
        raise TransportFailure("bad_reply", f"not an HTTP reply: it starts with {block[:40]!r}")
    status = int(block[9:12])
    # One lower-cased copy and three searches; splitting all lines took three times as long.
    lower = block.lower()
    connection = _value(lower, b"\r\nconnection:")
    keep_alive = b"close" not in connection and (block[7:8] != b"0" or b"keep-alive" in connection)
    encoding = _value(lower, b"\r\ncontent-encoding:").decode("latin-1")
    if encoding == "identity":
        encoding = ""
    plain = keep_alive and not encoding
    if b"chunked" in _value(lower, b"\r\ntransfer-encoding:"):
        return Head(status, None, True, keep_alive, encoding, plain_chunks=plain and status == 200)
    if status in (204, 304) or status < 200:
        return Head(status, 0, False, keep_alive, encoding)
    text = _value(lower, b"\r\ncontent-length:")
    if not text:
        return Head(status, None, False, False, encoding)
    if not text.isdigit():
        raise TransportFailure("bad_reply", f"the reply's Content-Length is {text.decode('latin-1')!r}")
    return Head(
        status, int(text), False, keep_alive, encoding, int(text) if plain and 200 <= status < 400 else -1
    )


def _value(lower: bytes, name: bytes) -> bytes:
    start = lower.find(name)
    if start < 0:
        return b""
    start += len(name)
    end = lower.find(b"\r\n", start)
    return lower[start : end if end >= 0 else len(lower)].strip()


class SizedBody:
    """A body with a known length."""

    __slots__ = ("_left", "done", "surplus")

    def __init__(self, length: int) -> None:
        self._left = length
        self.done = length == 0
        self.surplus = False

    def feed(self, data: bytes) -> list[bytes]:
        """The part of `data` that belongs to the body."""
        if len(data) > self._left:
            self.surplus = True
            data = data[: self._left]
        self._left -= len(data)
        self.done = self._left == 0
        return [data] if data else []


class OpenBody:
    """A body that ends with the connection."""

    __slots__ = ("done", "surplus")

    def __init__(self) -> None:
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> list[bytes]:
        return [data] if data else []


class Inflater:
    """Decodes gzip and deflate, for servers that compress although the request asks for plain bytes."""

    __slots__ = ("_decoder", "_encoding", "_room")

    def __init__(self, encoding: str, limit: int) -> None:
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise TransportFailure(
                "bad_reply", f"the reply is encoded as {encoding!r} although plain bytes were requested"
            )
        self._encoding = encoding
        self._decoder = zlib.decompressobj(47)  # gzip or zlib, by its header
        self._room = limit

    def feed(self, data: bytes) -> bytes:
        """Decode bytes. Raises if they are not in this encoding or exceed the limit."""
        try:
            plain = self._decoder.decompress(data, self._room + 1)
        except zlib.error as error:
            if self._encoding != "deflate" or not data:
                raise TransportFailure("broken_stream", f"the compressed reply is damaged: {error}") from None
            # "deflate" without the zlib wrapper is fairly common.
            self._encoding = "raw"
            self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)
            return self.feed(data)
        self._room -= len(plain)
        if self._room < 0:
            raise too_large()
        return plain

    def check_end(self) -> None:
        """Check, at the end of the body, that its compressed form is complete too."""
        if not self._decoder.eof:
            raise TransportFailure("broken_stream", "the compressed reply ends half-way")


def too_large() -> TransportFailure:
    """The failure for a body beyond the limit."""
    return TransportFailure("bad_reply", "the reply is larger than any answer can be; reading was stopped")
