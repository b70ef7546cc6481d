"""The live view of a load test on standard error: one line that changes on a terminal, a line at intervals in logs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from benchwright.core import shown

if TYPE_CHECKING:
    from benchwright.perf import LoadProgress, LoadWatcher

EVERY_S = 5.0
"""Seconds between two lines in a log."""


@contextmanager
def watching_load(*, quiet: bool, stream: TextIO | None = None) -> Iterator[LoadWatcher | None]:
    """A watcher that suits the stream. What it drew is removed at the end, whatever happens."""
    stream = stream or sys.stderr
    if quiet:
        yield None
    elif stream.isatty() and os.environ.get("TERM") != "dumb":
        live = LiveLine(stream)
        try:
            yield live
        finally:
            live.close()
    else:
        yield LogLines(stream)


def load_line(progress: LoadProgress) -> str:
    """The state of a test in one line: where it stands, the rate and latencies of the last seconds, errors.

    Plain text, made and written in some 50 µs: whatever draws more would show up in the figures.
    """
    settings = progress.settings
    parts = [progress.name]
    if len(settings.levels) > 1:
        unit = "/s" if settings.open_loop else " in flight"
        parts[0] += (
            f" [{progress.stage + 1}/{len(settings.levels)}: {settings.levels[progress.stage]:g}{unit}]"
        )
    done = f"{progress.done:,}"
    if settings.requests is not None and progress.phase != "warmup":
        done += f" of {settings.requests:,}"
    if settings.seconds is not None:
        done += f" in {min(progress.elapsed_s, settings.seconds):.0f} of {settings.seconds:g} s"
    parts.append(f"warming up: {done}" if progress.phase == "warmup" else done)
    recent = progress.recent()
    parts.append(f"{recent.rate:,.1f}/s")
    parts.append(f"{progress.in_flight:,} in flight")
    for name, pair in (("TTFT", recent.ttft_s), ("ITL", recent.itl_s)):
        if pair is not None:
            parts.append(f"{name} {pair[0] * 1000:,.0f} (p99 {pair[1] * 1000:,.0f}) ms")
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.stopping:
        parts.append(progress.stopping)
    return shown(", ".join(parts))


class LiveLine:
    """Redraws one line of a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._drawn = False

    def show(self, progress: LoadProgress) -> None:
        """Draw."""
        if progress.ended:
            self.close()
            return
        try:
            width = os.get_terminal_size(self._stream.fileno()).columns
        except (OSError, ValueError):
            width = 80
        try:
            self._stream.write("\r\x1b[K" + load_line(progress)[: max(20, width - 1)])
            self._stream.flush()
            self._drawn = True
        except OSError:  # the terminal has gone; the test continues
            self._drawn = False

    def close(self) -> None:
        """Remove the line."""
        if self._drawn:
            self._drawn = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()


class LogLines:
    """Writes a line every few seconds, and one at once when the test starts to stop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._next = time.monotonic() + EVERY_S
        self._stopping = False

    def show(self, progress: LoadProgress) -> None:
        """Write when it is time."""
        begins_to_stop = bool(progress.stopping) and not self._stopping
        if progress.ended or not (begins_to_stop or time.monotonic() >= self._next):
            return
        self._stopping = bool(progress.stopping)
        self._next = time.monotonic() + EVERY_S
        try:
            self._stream.write(load_line(progress) + "\n")
            self._stream.flush()
        except OSError:
            self._next = float("inf")
