"""Shows the progress of a run in a notebook: one line below the cell, which is replaced as the run goes on."""

from __future__ import annotations

import sys
import time
from typing import Any

from benchwright.core import shown
from benchwright.engine import Progress, Watcher

EVERY_S = 0.5
"""Seconds between two lines of a run."""


def notebook_watcher() -> Watcher | None:
    """A watcher if this process is a notebook's kernel; None elsewhere. Loads nothing that is not loaded."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return NotebookWatcher() if getattr(shell, "kernel", None) is not None else None


class NotebookWatcher:
    """Shows a line for each run."""

    def __init__(self) -> None:
        self._handles: dict[int, Any] = {}
        self._next: dict[int, float] = {}

    def show(self, progress: Progress) -> None:
        """Replace the run's line when it is time for that."""
        now, key = time.monotonic(), id(progress)
        if progress.phase != "done" and now < self._next.get(key, 0.0):
            return
        self._next[key] = now + EVERY_S
        content = {"text/plain": shown(line_of(progress))}
        if (handle := self._handles.get(key)) is not None:
            handle.update(content, raw=True)
            return
        from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

        self._handles[key] = display(content, raw=True, display_id=True)


def line_of(progress: Progress) -> str:
    """The state of a run in one line.

    >>> line_of(Progress("quiz"))
    'quiz: checking'
    """
    if not progress.total:
        return f"{progress.name}: {progress.phase}"
    parts = [f"{progress.name}: {progress.done:,} of {progress.total:,} samples"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if progress.cached:
        parts.append(f"{progress.cached:,} from earlier runs")
    fresh, rate = progress.done - progress.recorded, progress.rate_per_s()
    if progress.phase == "asking" and fresh > 0 and rate > 0:
        parts.append(f"{(progress.total - progress.done) / rate:,.0f} s left")
    elif progress.phase != "asking":
        parts.append(progress.phase)
    if progress.stopping:
        parts.append(progress.stopping)
    return ", ".join(parts)
