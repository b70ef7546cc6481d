"""Journals of the requests that have ended and are not committed yet, so that a killed test keeps them.

Every record is handed to the system as it ends, which takes a few microseconds and survives the process. A journal is two files
that take turns: what one has is safe elsewhere before it is emptied, so both stay small. The process that commits has a journal,
and so has every sending process: a record is in one of them, or in two, until it is in the store.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from msgspec import DecodeError, Struct

from benchwright.core import Artifacts
from benchwright.perf._values import RequestRecord, decode_record

_SIZE_BYTES = 4


class Journals(Struct, frozen=True):
    """The journals of one test."""

    files: Artifacts
    run_id: int

    def of(self, process: int) -> Journal:
        """The journal that one process writes: 0 for the one that commits, from 1 on for workers."""
        return Journal(self.files, [f"{self._stem}{2 * process + turn}.journal" for turn in (0, 1)])

    def records(self) -> Iterator[RequestRecord]:
        """What a test that was killed left. A record may come twice; the last of a file may be incomplete and is then left out."""
        for name in self._names():
            try:
                data = self.files.read(name)
            except OSError:
                continue
            at = 0
            while at + _SIZE_BYTES <= len(data):
                start = at + _SIZE_BYTES
                at = start + int.from_bytes(data[at:start], "big")
                if at > len(data):
                    break
                try:
                    yield decode_record(data[start:at])
                except DecodeError:  # the disk was full, and what follows is out of step
                    break

    def remove(self) -> None:
        """Remove them after all records were committed."""
        self.files.remove(*self._names())

    @property
    def _stem(self) -> str:
        return f".requests-{self.run_id}-"

    def _names(self) -> list[str]:
        return [
            name for name in self.files.names() if name.startswith(self._stem) and name.endswith(".journal")
        ]


class Journal:
    """The journal of one process."""

    def __init__(self, files: Artifacts, names: list[str]) -> None:
        self._run, self._names = files, names
        self._files = [files.append(name) for name in names]
        for file in self._files:
            file.truncate(0)
        self._current = 0
        self._written = self._before_turn = 0

    def write(self, record: bytes) -> None:
        """Append a record. A full disk is noticed when records are committed."""
        self._written += 1
        try:  # noqa: SIM105  # a context manager would take as long as the rest
            self._files[self._current].write(len(record).to_bytes(_SIZE_BYTES, "big") + record)
        except OSError:
            pass

    def turn(self) -> int:
        """Let further records go to the other file. Returns the file that they went to before."""
        before, self._current = self._current, 1 - self._current
        return before

    def empty(self, file: int) -> None:
        """Empty a file whose records are safe elsewhere."""
        with suppress(OSError):
            self._files[file].truncate(0)

    def safe(self, count: int) -> None:
        """Drop the first `count` records that were written, as far as they fill a file: they are safe elsewhere."""
        if count >= self._before_turn:
            self.empty(1 - self._current)
            self.turn()
            self._before_turn = self._written

    def close(self, *, keep: bool) -> None:
        """Close the files, and remove them unless they have records that are not safe elsewhere."""
        for file in self._files:
            file.close()
        if not keep:
            self._run.remove(*self._names)
