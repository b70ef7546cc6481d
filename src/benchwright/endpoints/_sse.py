"""Parses server-sent events from bytes that may be cut anywhere. Pure; knows nothing of models."""

from __future__ import annotations


class EventTooLargeError(ValueError):
    """An event exceeds the limit. Memory is finite, and no event of an answer is that long."""


class SseReader:
    """Takes pieces of a stream and returns the data of complete events.

    Lines end with LF or CRLF; `data:` may or may not be followed by a space; comments and other fields are
    skipped; several data lines of one event are joined. Bytes are only cut at line endings, so a character
    split over two pieces stays whole. An event that has the id and the data of an earlier one is left out, if events have
    different ids.

    >>> reader = SseReader()
    >>> reader.feed(b': hi\\n\\ndata:{"a"'), reader.feed(b':1}\\r\\n\\r\\n')
    ([], [b'{"a":1}'])
    """

    __slots__ = ("_data", "_id", "_ids", "_limit", "_pieces", "_size", "copies", "too_large")

    def __init__(self, limit: int = 16 * 1024 * 1024) -> None:
        self._limit = limit
        self._pieces: list[bytes] = []  # of a line that has not ended; joined once, at its end
        self._data: list[bytes] = []
        self._size = 0
        self._id = b""
        self._ids: dict[bytes, int] = {}  # and the hash of the event that has it
        self.copies = 0
        """Events that were left out."""
        self.too_large: EventTooLargeError | None = None
        """Set once an event exceeded the limit. Events before it are returned; nothing after it is read."""

    @property
    def clean(self) -> bool:
        """Whether an event begins with the next piece."""
        return not self._pieces and not self._data

    def feed(self, piece: bytes) -> list[bytes]:
        """Data of each event that `piece` completes."""
        size = len(piece)
        if (
            piece.startswith(b"data: ")
            and piece.endswith(b"\n\n")
            and size <= self._limit
            and not (self._pieces or self._data or b"\r" in piece)
        ):
            # The usual case, complete events of one line each, is split in one step.
            if piece.find(b"\n") == size - 2:
                return [piece[6:-2]]
            events = piece[6:-2].split(b"\n\ndata: ")
            if piece.count(b"\n") == 2 * len(events):
                return events
        return self._feed_lines(piece)

    def finish(self) -> list[bytes]:
        """End the stream. An event whose closing empty line is missing still counts."""
        return self._feed_lines(b"\n\n") if self._pieces or self._data else []

    def _feed_lines(self, piece: bytes) -> list[bytes]:
        found: list[bytes] = []
        if self.too_large is not None:
            return found
        if self._pieces or b"\n" not in piece:
            self._pieces.append(piece)
            self._size += len(piece)
            if b"\n" not in piece:
                self._check(self._size)
                return found
            piece = b"".join(self._pieces)
            self._pieces.clear()
        lines = piece.split(b"\n")
        rest = lines.pop()
        data = self._data
        for line in lines:
            if line[-1:] == b"\r":
                line = line[:-1]
            if line:
                if line.startswith(b"data:"):
                    data.append(line[6:] if line[5:6] == b" " else line[5:])
                elif line.startswith(b"id:"):
                    self._id = line[3:].strip()
                elif line.startswith(b"\xef\xbb\xbfdata:"):  # a byte order mark in front of the stream
                    data.append(line[8:].removeprefix(b" "))
            elif data:
                event = data[0] if len(data) == 1 else b"\n".join(data)
                data.clear()
                if not self._check(len(event)):
                    return found
                if self._id and self._came_before(event):
                    continue
                found.append(event)
        self._size = 0
        if rest:
            self._pieces.append(rest)
        if rest or data:  # an event that has not ended
            self._size = len(rest) + sum(map(len, data))
            self._check(self._size)
        return found

    def _came_before(self, event: bytes) -> bool:
        identity, self._id = self._id, b""
        mark = hash(event)
        came = self._ids.get(identity) == mark and len(self._ids) > 1
        self._ids[identity] = mark
        self.copies += came
        return came

    def _check(self, size: int) -> bool:
        if size > self._limit:
            self.too_large = EventTooLargeError(f"an event of the stream is larger than {self._limit} bytes")
        return size <= self._limit
