"""HTTP/1.1 replies as bytes: heads, body framings, content encodings. Pure; no sockets, no clock."""

from __future__ import annotations

import zlib
from functools import lru_cache

from msgspec import Struct

from benchwright.endpoints._transport import TransportFailure

MAX_HEAD_BYTES = 64 * 1024
"""A longer head is not a reply to us."""


class RawHeaders:
    """Headers of a reply, parsed only when somebody asks: most replies are never asked."""

    __slots__ = ("_block", "_parsed")

    def __init__(self, block: bytes) -> None:
        self._block = block
        self._parsed: dict[str, str] | None = None

    def get(self, name: str, /) -> str | None:
        """The first value of a header, by its lower-case name."""
        if self._parsed is None:
            parsed: dict[str, str] = {}
            for line in self._block.split(b"\r\n")[1:]:
                key, colon, value = line.partition(b":")
                if colon:
                    parsed.setdefault(key.decode("latin-1").lower(), value.decode("latin-1").strip())
            self._parsed = parsed
        return self._parsed.get(name)


class Head(Struct, frozen=True):
    """What decides how a reply's body is read."""

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


@lru_cache(maxsize=256)  # replies of one server look alike; those that do not cost little more
def parse_head(block: bytes) -> Head:
    """Read a head without its closing empty line. Raises `TransportFailure` for what is not HTTP."""
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
    if b"chunked" in _value(lower, b"\r\ntransfer-encoding:"):
        return Head(status, None, True, keep_alive, encoding)
    if status in (204, 304) or status < 200:
        return Head(status, 0, False, keep_alive, encoding)
    text = _value(lower, b"\r\ncontent-length:")
    if not text:
        return Head(status, None, False, False, encoding)
    if not text.isdigit():
        raise TransportFailure("bad_reply", f"the reply's Content-Length is {text.decode('latin-1')!r}")
    return Head(status, int(text), False, keep_alive, encoding)


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

    def feed(self, data: bytes) -> bytes:
        """The part of `data` that belongs to the body."""
        if len(data) > self._left:
            self.surplus = True
            data = data[: self._left]
        self._left -= len(data)
        self.done = self._left == 0
        return data


class OpenBody:
    """A body that ends with the connection."""

    __slots__ = ("done", "surplus")

    def __init__(self) -> None:
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> bytes:
        """All of it."""
        return data


_SIZES = {b"%x" % size: size for size in range(2048)}
"""Sizes of chunks as they are usually written: looked up quicker than read and checked."""


class ChunkedBody:
    """A body in chunks; extensions and trailers are read and dropped."""

    __slots__ = ("_left", "_pending", "_trailer", "done", "surplus")

    def __init__(self) -> None:
        self._pending = b""
        self._left = 0  # bytes of the current chunk still to come, its closing line break (2) included
        self._trailer = False
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> bytes:
        """The payload inside `data`."""
        if self._pending:
            data, self._pending = self._pending + data, b""
        if not self._left and not self._trailer and data[-2:] == b"\r\n":
            # Whole chunks, as those of most streams are; usually one, an event.
            end = data.find(b"\r\n", 0, 12)
            size = _SIZES.get(data[:end])
            if size and len(data) == end + size + 4:
                return data[end + 2 : -2]
            whole = self._whole_chunks(data)
            if whole is not None:
                return whole
        payload: list[bytes] = []
        at = 0
        while at < len(data) and not self.done:
            if self._left:
                piece = data[at : at + self._left]
                at += len(piece)
                # The last two bytes of `_left` are the line break, not payload.
                if wanted := self._left - 2:
                    payload.append(piece[:wanted] if wanted > 0 else b"")
                self._left -= len(piece)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                if len(data) - at > MAX_HEAD_BYTES:
                    raise TransportFailure("bad_reply", "a chunk's size line does not end")
                break
            line = data[at:end].strip()
            at = end + 1
            if self._trailer:
                self.done = not line
            else:
                size = _chunk_size(line)
                self._trailer = size == 0
                self._left = size + 2 if size else 0
        if self.done:
            self.surplus = at < len(data)
        else:
            self._pending = data[at:]
        return b"".join(payload)

    def _whole_chunks(self, data: bytes) -> bytes | None:
        """The payload of `data` if it is whole chunks without a line break inside; None if it is not. Taken apart at
        once; chunk by chunk it took four times as long."""
        lines = data.split(b"\r\n")  # size, chunk, size, chunk, …, and nothing after the last line break
        if not len(lines) & 1:
            return None
        sizes, chunks = lines[:-1:2], lines[1::2]
        last = sizes[-1] == b"0" and not chunks[-1]
        if last:
            del sizes[-1], chunks[-1]
        if list(map(_SIZES.get, sizes)) != list(map(len, chunks)) or not all(chunks):
            return None
        self.done = self._trailer = last
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _chunk_size(line: bytes) -> int:
    digits = line.partition(b";")[0].strip()
    try:
        if digits[:1] in (b"+", b"-") or b"_" in digits:  # int() would take these
            raise ValueError
        return int(digits, 16)
    except ValueError:
        raise TransportFailure("bad_reply", f"a chunk's size line is {line[:40]!r}") from None


class Inflater:
    """Undoes gzip and deflate, in case a server compresses although we ask it not to."""

    __slots__ = ("_decoder", "_encoding", "_room")

    def __init__(self, encoding: str, limit: int) -> None:
        if encoding not in ("gzip", "x-gzip", "deflate"):
            raise TransportFailure(
                "bad_reply", f"the reply is encoded as {encoding!r} although plain bytes were asked for"
            )
        self._encoding = encoding
        self._decoder = zlib.decompressobj(47)  # gzip or zlib, by its header
        self._room = limit

    def feed(self, data: bytes) -> bytes:
        """Decoded bytes; raises when they are no such encoding or grow beyond the limit."""
        try:
            plain = self._decoder.decompress(data, self._room + 1)
        except zlib.error as error:
            if self._encoding != "deflate" or not data:
                raise TransportFailure("broken_stream", f"the compressed reply is damaged: {error}") from None
            # "deflate" without the zlib wrapper is common enough.
            self._encoding = "raw"
            self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)
            return self.feed(data)
        self._room -= len(plain)
        if self._room < 0:
            raise too_large()
        return plain

    def check_end(self) -> None:
        """The body is over: its compressed form must be as well."""
        if not self._decoder.eof:
            raise TransportFailure("broken_stream", "the compressed reply ends half-way")


def too_large() -> TransportFailure:
    """The failure for a body beyond the limit."""
    return TransportFailure("bad_reply", "the reply is larger than any answer can be; reading was stopped")
