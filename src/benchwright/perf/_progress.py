"""Live progress of a load test, for watchers."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import Protocol

from benchwright.perf._distributions import enough_values
from benchwright.perf._values import LoadSettings, PhaseName, RequestRecord
from benchwright.stats import percentile

_WINDOW_S = 5.0
"""Seconds that live figures cover."""
_MOST_SHOWN = 2000
"""The most recent requests from which live percentiles are computed."""


class LoadProgress:
    """Counters and the last seconds of a test. Adding a request costs a few hundred nanoseconds."""

    def __init__(self, name: str, settings: LoadSettings) -> None:
        self.name = name
        self.settings = settings
        self.stage = 0
        """Index of the current stage."""
        self.level = settings.levels[0]
        self.phase: PhaseName = "measured"
        self.done = self.failed = 0
        """Measured requests of the stage that have ended, and those of them that failed."""
        self.ended_so_far = self.failed_so_far = 0
        """Ended and failed requests of the whole test, including warm-ups."""
        self.in_flight = 0
        self.stopping = ""
        """Why the test is stopping; empty while it is not."""
        self.ended = False
        self.started = monotonic()
        self._last: deque[tuple[float, float | None, float | None]] = deque(maxlen=_MOST_SHOWN)

    def begin(self, stage: int, phase: PhaseName, level: float) -> None:
        """Begin a phase."""
        self.stage, self.phase, self.level = stage, phase, level
        self.done = self.failed = 0
        self.started = monotonic()
        self._last.clear()

    def add(self, record: RequestRecord) -> None:
        """Add a request that has ended."""
        self.done += 1
        self.ended_so_far += 1
        if not record.ok:
            self.failed += 1
            self.failed_so_far += 1
            return
        sent, first, arrivals = record.sent, record.first_token, record.arrivals
        ttft = None if sent is None or first is None else first - sent
        gap = (arrivals[-1] - arrivals[0]) / (len(arrivals) - 1) if len(arrivals) > 1 else None
        self._last.append((monotonic(), ttft, gap))

    @property
    def elapsed_s(self) -> float:
        """Seconds since the phase began."""
        return monotonic() - self.started

    def recent(self) -> RecentFigures:
        """Figures of the last seconds."""
        now = monotonic()
        window = min(_WINDOW_S, max(0.001, now - self.started))
        last = [entry for entry in self._last if entry[0] >= now - window]
        if len(last) == _MOST_SHOWN:  # more came than are kept
            window = max(0.001, now - last[0][0])
        ttft = sorted(value for _, value, _ in last if value is not None)
        gaps = sorted(value for _, _, value in last if value is not None)
        return RecentFigures(len(last) / window, _pair(ttft), _pair(gaps))


class RecentFigures:
    """Rate, and median and 99th percentile of two latencies, of the last seconds. With too few requests for a 99th percentile it
    is None."""

    __slots__ = ("itl_s", "rate", "ttft_s")

    def __init__(
        self,
        rate: float,
        ttft_s: tuple[float, float | None] | None,
        itl_s: tuple[float, float | None] | None,
    ) -> None:
        self.rate, self.ttft_s, self.itl_s = rate, ttft_s, itl_s


def _pair(ordered: list[float]) -> tuple[float, float | None] | None:
    if not ordered:
        return None
    late = percentile(ordered, 99) if enough_values(len(ordered), "p99") else None
    return ordered[len(ordered) // 2], late


class LoadWatcher(Protocol):
    """Shows a test; called about four times a second."""

    def show(self, progress: LoadProgress) -> None:
        """Show the progress. Must be quick, because the test waits."""
        ...
