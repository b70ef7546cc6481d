"""Server-sent events out of bytes that may be cut anywhere. Pure; knows nothing of models."""

from __future__ import annotations

from collections.abc import Iterator


class SseReader:
    """Feeds on pieces of a stream, gives the data of whole events.

    Lines end with LF or CRLF; `data:` may or may not be followed by a space; comments and other fields are
    skipped; several data lines of one event are joined. Bytes are only cut at line ends, so a character
    split over two pieces stays whole.

    >>> reader = SseReader()
    >>> list(reader.feed(b': hi\\n\\ndata:{"a"')), list(reader.feed(b':1}\\r\\n\\r\\n'))
    ([], [b'{"a":1}'])
    """

    __slots__ = ("_data", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Data of each event that `piece` completes."""
        lines = (self._rest + piece if self._rest else piece).split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            if line[-1:] == b"\r":
                line = line[:-1]
            if line:
                if line.startswith(b"data:"):
                    self._data.append(line[6:] if line[5:6] == b" " else line[5:])
            elif self._data:
                yield self._take()

    def finish(self) -> Iterator[bytes]:
        """The stream is over: an event whose closing empty line is missing still counts."""
        yield from self.feed(b"\n\n")

    def _take(self) -> bytes:
        data = self._data[0] if len(self._data) == 1 else b"\n".join(self._data)
        self._data.clear()
        return data
