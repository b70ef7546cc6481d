"""Chunked bodies. `httptools` parses them; this module limits the size of chunks and finds the end of a body."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Protocol

from benchwright.core import late_pattern
from benchwright.endpoints._http1 import MAX_HEAD_BYTES
from benchwright.endpoints._transport import TransportFailure

if TYPE_CHECKING:
    from collections.abc import Callable

_HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
"""A substitute for the reply's head, which is parsed elsewhere; the library needs one."""
_SIZE = late_pattern(rb"([0-9A-Fa-f]{1,16})[ \t]*(?:;|\Z)")


class ChunkedBody(Protocol):
    """A chunked body; extensions and trailers are read and dropped."""

    done: bool
    """Whether the body is complete."""
    surplus: bool
    """Whether data came after it."""

    def feed(self, data: bytes) -> list[bytes]:
        """The chunks, or parts of chunks, inside `data`."""
        ...

    def restart(self) -> None:
        """Begin another body on the same connection, after a complete one with nothing after it."""
        ...


def chunked_body() -> ChunkedBody:
    """A body that has not begun."""
    return _implementation()()


@cache
def _implementation() -> type[ChunkedBody]:
    try:
        import httptools  # noqa: F401  # looked for once
    except ImportError:
        return PlainChunks
    return LibraryChunks


class _Callbacks:
    """The callbacks of the library. They have no reference to the body, because a cycle would need the garbage collector."""

    __slots__ = ("on_body", "on_message_begin", "on_message_complete")

    def __init__(self, chunks: list[bytes], ends: list[int]) -> None:
        self.on_body: Callable[[bytes], None] = chunks.append
        self.on_message_complete: Callable[[], None] = lambda: ends.append(len(chunks))
        self.on_message_begin = self.on_message_complete  # another reply after this one


class LibraryChunks:
    """Implements `ChunkedBody`."""

    __slots__ = ("_chunks", "_ends", "_idle", "_last", "_parse", "done", "surplus")

    def __init__(self) -> None:
        from httptools import HttpResponseParser  # only if a reply has chunks

        self._chunks: list[bytes] = []
        # The number of chunks when the body ended, and when another reply began or ended after it.
        self._ends: list[int] = []
        parser = HttpResponseParser(_Callbacks(self._chunks, self._ends))
        parser.set_dangerous_leniencies(lenient_spaces_after_chunk_size=True)  # some servers pad their sizes
        self._parse = parser.feed_data
        self.restart()

    def restart(self) -> None:
        """Another body begins."""
        self._parse(_HEAD)
        self._chunks.clear()
        self._ends.clear()
        self._idle = 0  # bytes since the last payload
        self._last = b""
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> list[bytes]:
        """The chunks, or parts of chunks, inside `data`."""
        chunks, ends = self._chunks, self._ends
        try:
            self._parse(data)
        except Exception as error:  # the library's exceptions have no common base class
            if not ends:
                raise TransportFailure("bad_reply", f"a chunk's size line is wrong: {error}") from None
            self.surplus = True
        found = chunks.copy()
        chunks.clear()
        self._last = data if len(data) >= 6 else self._last[-6:] + data
        if ends:
            self.done = True
            # Another reply, part of one, or empty lines, which the library takes for the start of another.
            last = self._last[-6:]
            if len(ends) > 1 or last[-4:] != b"\r\n\r\n" or last == b"\r\n\r\n\r\n":
                self.surplus = True
            del found[ends[0] :]
            ends.clear()
        elif found:
            self._idle = 0
        else:
            self._idle += len(data)
            if self._idle > MAX_HEAD_BYTES:
                raise TransportFailure("bad_reply", "a chunk's size line does not end")
        return found


class PlainChunks:
    """Reads chunks in pure Python, for systems without `httptools`."""

    __slots__ = ("_left", "_pending", "_trailer", "done", "surplus")

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Another body begins."""
        self._pending = b""
        self._left = 0  # bytes of the current chunk still to come, its closing line break (2) included
        self._trailer = False
        self.done = False
        self.surplus = False

    def feed(self, data: bytes) -> list[bytes]:
        """The chunks, or parts of chunks, inside `data`."""
        if self._pending:
            data, self._pending = self._pending + data, b""
        payload: list[bytes] = []
        at = 0
        while at < len(data) and not self.done:
            if self._left:
                piece = data[at : at + self._left]
                at += len(piece)
                # The last two bytes of `_left` are the line break, not payload.
                if (wanted := self._left - 2) > 0:
                    payload.append(piece[:wanted])
                self._left -= len(piece)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                if len(data) - at > MAX_HEAD_BYTES:
                    raise TransportFailure("bad_reply", "a chunk's size line does not end")
                break
            line = data[at:end].rstrip(b"\r")
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
        return payload


def _chunk_size(line: bytes) -> int:
    found = _SIZE.match(line)
    if found is None:
        raise TransportFailure("bad_reply", f"a chunk's size line is wrong: {line[:40]!r}")
    return int(found[1], 16)
