"""What a program printed: passed on as it comes, and its last mebibyte kept with the run."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from benchwright.core import known_secrets

KEPT_BYTES = 1024 * 1024
"""Kept of each stream."""
_LONGEST_LINE = 65536
"""A line that is longer is kept in parts."""


class Captured:
    """The end of one stream, in memory and in a file, without secrets. A resumed run's output follows that of its
    former starts."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._tail = bytearray()
        self._line = bytearray()
        self._size = 0
        self._file: int | None = None
        with suppress(OSError):  # a full disk is told by the run's records; the output is seen all the same
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()

    def add(self, data: bytes) -> None:
        """Keep what was printed, by whole lines: a secret may come in pieces."""
        self._line += data
        end = max(self._line.rfind(b"\n"), self._line.rfind(b"\r")) + 1
        if end or len(self._line) > _LONGEST_LINE:
            end = end or len(self._line)
            whole = bytes(self._line[:end])
            del self._line[:end]
            self._keep(whole)

    def _keep(self, data: bytes) -> None:
        redactor = known_secrets()
        if redactor.found_in(data):
            data = redactor.clean_record(data.decode("utf-8", "replace")).encode()
        self._tail += data
        if len(self._tail) > 2 * KEPT_BYTES:
            del self._tail[:-KEPT_BYTES]
        if self._file is None:
            return
        try:
            os.write(self._file, data)
            self._size += len(data)
            if self._size > 2 * KEPT_BYTES:
                self._shorten()
        except OSError:
            self._release()

    def text(self) -> str:
        """What was printed in this start, or the end of it; whole after `close`."""
        return self._tail[-KEPT_BYTES:].decode("utf-8", "replace")

    def close(self) -> None:
        """Nothing more comes. A file without content goes away."""
        if self._line:
            self._keep(bytes(self._line))
            self._line.clear()
        with suppress(OSError):
            if self._file is not None and self._size > KEPT_BYTES:
                self._shorten()
            if self._size == 0:
                self._path.unlink()
        self._release()

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._size = os.fstat(self._file).st_size

    def _shorten(self) -> None:
        with open(self._path, "rb") as file:
            file.seek(-KEPT_BYTES, os.SEEK_END)
            kept = file.read()
        beside = self._path.with_suffix(".part")
        beside.write_bytes(kept)
        os.replace(beside, self._path)
        self._release()
        self._open()

    def _release(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


def pump(pipe: BinaryIO, captured: Captured, pass_on: Callable[[bytes], None]) -> None:
    """Read a stream to its end, and close it."""
    with pipe, suppress(OSError):
        while data := os.read(pipe.fileno(), 65536):
            captured.add(data)
            with suppress(OSError, ValueError):  # nobody reads any more; the run continues
                pass_on(data)
