"""Progress on standard error: bars on a terminal, lines at intervals in logs, and with `--debug` a line for every stage and
failure."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from benchwright.engine import Progress, Watcher

EVERY_S = 5.0
"""Seconds between two lines in a log. A shorter run prints none until it is done."""


@contextmanager
def watching(*, quiet: bool, debug: bool = False, stream: TextIO | None = None) -> Iterator[Watcher | None]:
    """Yield a watcher that suits the stream. Its bars are removed at the end in any case."""
    stream = stream or sys.stderr
    if debug:
        yield DebugWatcher(stream)
    elif quiet:
        yield None
    elif stream.isatty() and os.environ.get("TERM") != "dumb":
        bar = BarWatcher()
        try:
            yield bar
        finally:
            bar.close()
    else:
        yield LineWatcher(stream)


@contextmanager
def aside(watcher: Watcher | None) -> Iterator[None]:
    """Remove the bars to print while runs continue; the next update draws them again."""
    if isinstance(watcher, BarWatcher):
        watcher.close()
    yield


def _judge_retries(progress: Progress) -> str:
    count = progress.judge_retries
    return f"{count:,} failed judge request{'' if count == 1 else 's'} sent again"


def progress_line(progress: Progress) -> str:
    """The state of a run in one line."""
    parts = [f"{progress.name}: {progress.phase}"]
    if progress.total:
        from benchwright.core import percent

        parts[0] = (
            f"{progress.name}: {progress.done:,} of {progress.total:,} ({percent(progress.done / progress.total)})"
        )
    if progress.phase == "asking":
        from benchwright.results import rate

        parts.append(f"{rate(progress.rate_per_s())} per second")
        parts.append(f"{progress.in_flight} in flight")
        parts.append(f"{progress.failed:,} failed")
        if progress.judge_retries:
            parts.append(_judge_retries(progress))
    if progress.cached:
        parts.append(f"{progress.cached:,} from earlier runs")
    left = time_left_s(progress)
    if left is not None:
        from benchwright.results import duration

        parts.append(f"{duration(left)} left")
    if progress.stopping:
        parts.append(progress.stopping)
    from benchwright.core import shown

    return shown(", ".join(parts))


def time_left_s(progress: Progress) -> float | None:
    """Estimated seconds to the end; None while there is no estimate."""
    rate = progress.rate_per_s()
    if progress.phase != "asking" or progress.done == progress.recorded or rate <= 0:
        return None
    return (progress.total - progress.done) / rate


class LineWatcher:
    """Prints a line every few seconds for each active run, and one at once when a run starts to stop."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._first = time.monotonic() + EVERY_S
        self._next: dict[int, float] = {}
        self._stopping: set[int] = set()

    def show(self, progress: Progress) -> None:
        """Write a line when it is time for one."""
        now = time.monotonic()
        begins_to_stop = bool(progress.stopping) and id(progress) not in self._stopping
        due = begins_to_stop or now >= self._next.get(id(progress), self._first)
        if not due or progress.phase == "done":
            return
        if begins_to_stop:
            self._stopping.add(id(progress))
        self._next[id(progress)] = now + EVERY_S
        try:
            self._stream.write(progress_line(progress) + "\n")
            self._stream.flush()
        except OSError:  # the reader has gone; the run continues
            self._next[id(progress)] = self._first = float("inf")


class BarWatcher:
    """Draws a bar per run, and removes it when the run is done."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._tasks: dict[int, Any] = {}
        self._gone = False

    def show(self, progress: Progress) -> None:
        """Draw. Called about eight times a second, so rich needs no separate thread."""
        if self._gone:
            return
        try:
            self._draw(progress)
        except OSError:  # the terminal has gone; the run continues
            self._gone, self._bar = True, None

    def _draw(self, progress: Progress) -> None:
        from benchwright.core import shown
        from benchwright.results import rate

        if progress.phase == "done":
            self._remove(progress)
            return
        if self._bar is None:
            self._open()
        if id(progress) not in self._tasks:
            fields = dict.fromkeys(("rate", "flight", "failed", "left", "stopping"), "")
            self._tasks[id(progress)] = self._bar.add_task(shown(progress.name), total=None, **fields)
        # The reason for stopping replaces rate and time left, because everything must fit into eighty characters.
        going = progress.phase == "asking" and not progress.stopping
        self._bar.update(
            self._tasks[id(progress)],
            total=progress.total or None,
            completed=progress.done,
            description=shown(
                progress.name if progress.phase == "asking" else f"{progress.name}: {progress.phase}"
            ),
            rate=f"{rate(progress.rate_per_s())}/s" if going else "",
            flight=f"{progress.in_flight} in flight",
            # In red, so only if there are any.
            failed=f"{progress.failed:,} failed"
            if progress.failed
            else _judge_retries(progress)
            if progress.judge_retries
            else "",
            left=_left(progress) if going else "",
            stopping=shown(progress.stopping),
        )
        self._bar.refresh()

    def close(self) -> None:
        """Remove all bars; the next update draws those that are needed."""
        if self._bar is not None:
            with suppress(OSError):
                self._bar.stop()
            self._bar = None
            self._tasks.clear()

    def _remove(self, progress: Progress) -> None:
        task = self._tasks.pop(id(progress), None)
        if task is not None and self._tasks:
            self._bar.remove_task(task)
        elif not self._tasks:
            self.close()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bar, TextColumn

        def column(text: str, style: str = "none") -> TextColumn:
            return TextColumn(text, style=style, markup=False)

        self._bar = Bar(
            column("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            column("{task.fields[rate]}"),
            column("{task.fields[flight]}", "dim"),
            column("{task.fields[failed]}", "red"),
            column("{task.fields[left]}", "cyan"),
            column("{task.fields[stopping]}", "yellow"),
            console=Console(stderr=True),
            auto_refresh=False,
            transient=True,
        )
        self._bar.start()


def _left(progress: Progress) -> str:
    left = time_left_s(progress)
    if left is None:
        return ""
    from benchwright.results import duration

    return f"{duration(left)} left"


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
