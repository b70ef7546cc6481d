"""`--debug`: a line for every stage and every failure, and tracebacks of internal errors."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from benchwright.engine import Progress


class DebugWatcher:
    """Prints lines instead of a bar, for logs."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._phases: dict[int, str] = {}

    def show(self, progress: Progress) -> None:
        """Write the stages that began and the samples that failed since the last call."""
        if self._phases.get(id(progress)) != progress.phase:
            self._phases[id(progress)] = progress.phase
            self._line(f"{progress.name}: {progress.phase}{_size(progress)}")
        while progress.recent_failures:
            self._line(f"{progress.name}: failed: {progress.recent_failures.popleft()}")

    def _line(self, text: str) -> None:
        from benchwright.core import shown

        try:
            self._stream.write(shown(text) + "\n")
            self._stream.flush()
        except OSError:  # the reader has gone; the run continues
            pass


def _size(progress: Progress) -> str:
    if progress.phase == "asking":
        recorded = f", {progress.recorded:,} recorded" if progress.recorded else ""
        return f" {progress.total:,} samples{recorded}"
    if progress.phase == "done":
        return f", {progress.done:,} of {progress.total:,} samples, {progress.failed:,} failed"
    return ""


@contextmanager
def tracebacks(enabled: bool) -> Iterator[None]:
    """Print the traceback of an internal error."""
    try:
        yield
    except Exception as error:
        from benchwright.core import BenchwrightError

        if enabled and not isinstance(error, BenchwrightError):
            import traceback

            from benchwright.core import shown

            sys.stderr.write(shown(traceback.format_exc()))
        raise
