"""Media files as requests carry them: read and encoded once, kept by content within a budget, known by hash."""

from __future__ import annotations

import base64
import hashlib
from collections import OrderedDict
from pathlib import Path
from threading import Lock
from typing import NamedTuple, TypeAlias

BUDGET_BYTES = 256_000_000
"""Most that is kept of encoded files."""

_KNOWN_FILES = 65_536
"""Files whose hash is remembered, at some 300 bytes each; beyond that all are forgotten and hashed again."""

_Place: TypeAlias = tuple[int, int, int, int]


class Encoded(NamedTuple):
    """One file, ready to be sent."""

    text: str
    """What goes into the request: `data:image/png;base64,…`, or the base64 alone."""
    sha256: str
    """Of the file's bytes, 64 hexadecimal digits."""
    size: int
    """Of the file, in bytes."""


class MediaFiles:
    """Encodes files. May be used from several threads.

    A file that did not change (by device, inode, size and time of change) is not read again, and files of equal
    content share one encoded form. The least recently used go first when the budget is full; a file larger than
    the budget is encoded each time.
    """

    def __init__(self, budget: int = BUDGET_BYTES) -> None:
        self._budget = budget
        self._kept: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._size = 0
        self._hashes: dict[_Place, str] = {}
        self._lock = Lock()
        self.reads = 0
        """Times a file was read to its end."""

    @property
    def kept_bytes(self) -> int:
        """What the encoded files take now."""
        return self._size

    def encoded(self, path: Path, prefix: str) -> Encoded:
        """The file as base64 after `prefix`. OSError for a file that cannot be read."""
        place, size = _place(path)
        with self._lock:
            known = self._hashes.get(place)
            text = None if known is None else self._kept.get((known, prefix))
            if known is not None and text is not None:
                self._kept.move_to_end((known, prefix))
                return Encoded(text, known, size)
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        text = prefix + base64.b64encode(content).decode("ascii")
        with self._lock:
            self.reads += 1
            self._remember(place, digest)
            text = self._keep((digest, prefix), text)
        return Encoded(text, digest, len(content))

    def fingerprint(self, path: Path) -> tuple[str, int]:
        """SHA-256 and size of a file that is not sent itself. OSError for one that cannot be read."""
        place, size = _place(path)
        with self._lock:
            known = self._hashes.get(place)
        if known is not None:
            return known, size
        with path.open("rb") as raw:
            digest = hashlib.file_digest(raw, "sha256").hexdigest()
        with self._lock:
            self.reads += 1
            self._remember(place, digest)
        return digest, size

    def _remember(self, place: _Place, digest: str) -> None:
        if len(self._hashes) >= _KNOWN_FILES:
            self._hashes.clear()
        self._hashes[place] = digest

    def _keep(self, key: tuple[str, str], text: str) -> str:
        there = self._kept.get(key)
        if there is not None:  # equal content under another name, or another thread was quicker
            self._kept.move_to_end(key)
            return there
        if len(text) <= self._budget:
            self._kept[key] = text
            self._size += len(text)
            while self._size > self._budget:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped)
        return text


def _place(path: Path) -> tuple[_Place, int]:
    found = path.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns), found.st_size
