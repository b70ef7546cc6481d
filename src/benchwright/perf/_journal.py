"""A journal of the requests that have ended and are not committed yet, so that a killed test loses none of them.

Every record is handed to the system as it ends, which takes a few microseconds and survives the process. Two files take turns:
what one has is committed to the store before it is emptied, so both stay small.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from benchwright.perf._values import RequestRecord, decode_record

_SIZE_BYTES = 4


class Journal:
    """The journal of one test. `write` is called in one thread, everything else in another."""

    def __init__(self, folder: Path, run_id: int) -> None:
        self._paths = _paths(folder, run_id)
        self._files = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for path in self._paths]
        self._current = 0

    def write(self, record: bytes) -> None:
        """Append a record. A full disk is noticed when records are committed."""
        with suppress(OSError):
            os.write(self._files[self._current], len(record).to_bytes(_SIZE_BYTES, "big") + record)

    def turn(self) -> int:
        """Let further records go to the other file. Returns the file that they went to before."""
        before, self._current = self._current, 1 - self._current
        return before

    def empty(self, file: int) -> None:
        """Empty a file whose records are committed."""
        with suppress(OSError):
            os.ftruncate(self._files[file], 0)
            os.lseek(self._files[file], 0, os.SEEK_SET)

    def close(self, *, keep: bool) -> None:
        """Close the files, and remove them unless they have records that were not committed."""
        for file, path in zip(self._files, self._paths, strict=True):
            os.close(file)
            if not keep:
                path.unlink(missing_ok=True)


def _paths(folder: Path, run_id: int) -> list[Path]:
    return [folder / f".requests-{run_id}-{number}.journal" for number in (0, 1)]


def journaled(folder: Path, run_id: int) -> Iterator[RequestRecord]:
    """The records in the journal of a test that was killed; the last may be incomplete and is then left out."""
    for path in _paths(folder, run_id):
        try:
            data = path.read_bytes()
        except OSError:
            continue
        at = 0
        while at + _SIZE_BYTES <= len(data):
            start = at + _SIZE_BYTES
            at = start + int.from_bytes(data[at:start], "big")
            if at <= len(data):
                yield decode_record(data[start:at])
