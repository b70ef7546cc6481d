"""The display of a running program: its output, and below it one line about its steps."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from typing import TYPE_CHECKING, BinaryIO

from benchwright.cli._progress import EVERY_S

if TYPE_CHECKING:
    from benchwright.workflows import ProgramProgress

_METRICS_SHOWN = 3


class CodeDisplay:
    """Passes the output of a program on and, on a terminal, keeps a line about its progress below."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet = quiet
        # With --json, standard output is for JSON only.
        self._streams = {"stdout": sys.stderr if as_json else sys.stdout, "stderr": sys.stderr}
        self._terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not quiet
        self._lock = threading.Lock()
        self._drawn = False
        self._line_open = False
        self._next = time.monotonic() + EVERY_S

    def begun(self, run_id: int) -> None:
        """Print the number of the run, for use in another terminal."""
        if not self._quiet:
            self._say(f"run {run_id} has started; see it with: benchwright show {run_id}\n")

    def output(self, stream: str, data: bytes) -> None:
        """Pass on what was printed."""
        target = self._streams[stream]
        with self._lock:
            self._wipe()
            target.flush()
            binary: BinaryIO | None = getattr(target, "buffer", None)
            if binary is None:  # a test's own stream
                target.write(data.decode("utf-8", "replace"))
            else:
                binary.write(data)
                binary.flush()
            self._line_open = not data.endswith(b"\n")

    def progress(self, progress: ProgramProgress) -> None:
        """Draw the line, or write one now and then where there is no terminal."""
        if self._quiet:
            return
        text = progress_text(progress)
        if not self._terminal:
            if time.monotonic() >= self._next:
                self._next = time.monotonic() + EVERY_S
                self._say(text + "\n")
            return
        with self._lock:
            if not self._line_open:  # an unfinished line of the program is not overwritten
                width = shutil.get_terminal_size().columns - 1
                sys.stderr.write(f"\r\x1b[2K{text[:width]}")
                sys.stderr.flush()
                self._drawn = True

    def close(self) -> None:
        """Remove the line."""
        with self._lock:
            self._wipe()

    def _wipe(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._drawn = False

    def _say(self, text: str) -> None:
        with self._lock:
            try:
                sys.stderr.write(text)
                sys.stderr.flush()
            except OSError:  # the reader has gone; the run continues
                self._quiet = True


def progress_text(progress: ProgramProgress) -> str:
    """A run in one line."""
    from benchwright.core import shown
    from benchwright.reports import duration

    steps = progress.steps
    done = steps.get("completed", 0)
    parts = [f"{progress.name}: {done:,} {'step' if done == 1 else 'steps'} done"]
    parts += [f"{steps[status]:,} {status}" for status in ("running", "failed") if steps.get(status)]
    metrics = list(progress.metrics.items())
    parts += [f"{name} {value:.4g}" for name, value in metrics[:_METRICS_SHOWN]]
    if len(metrics) > _METRICS_SHOWN:
        parts.append(f"{len(metrics) - _METRICS_SHOWN} more metrics")
    parts.append(duration(progress.seconds))
    if progress.stopping:
        parts.append(progress.stopping)
    return shown(", ".join(parts)).replace("\n", " ")
