"""Live progress of a load test, for watchers."""

from __future__ import annotations

from collections import deque
from time import monotonic
from typing import Protocol

from msgspec.structs import replace

from benchwright.core import RunProgress
from benchwright.perf._distributions import Distribution
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
        self.seconds = settings.seconds
        """How long the stage sends; None: until it has its requests."""
        self.phase: PhaseName = "measured"
        self.done = self.failed = 0
        """Requests of the phase that have ended, and those of them that failed: of the measured phase, measured ones only."""
        self.ended_so_far = self.failed_so_far = 0
        """Ended and failed requests of the whole test, including warm-ups."""
        self.in_flight = 0
        self.stopping = ""
        """Why the test is stopping; empty while it is not."""
        self.ended = False
        self.within: int | None = 0 if settings.slo and {name for name, _ in settings.slo} <= _LIVE else None
        """Measured requests of the stage within all limits; None: there are none, or they take longer to judge."""
        self.finished: list[tuple[float, int, int, RecentFigures, float | None]] = []
        """The levels that have ended: requests done and failed, their rate and the latencies of the last ones, and the share of requests
        within all limits."""
        self.started = monotonic()
        self._last: deque[tuple[float, float | None, float | None]] = deque(maxlen=_MOST_SHOWN)

    def begin(self, stage: int, phase: PhaseName, level: float, seconds: float | None) -> None:
        """Begin a phase, which sends for so long."""
        if self.phase == "measured" and self.done:
            ttft = sorted(value for _, value, _ in self._last if value is not None)
            share = None if self.within is None else self.within / self.done
            self.finished.append(
                (
                    self.level,
                    self.done,
                    self.failed,
                    RecentFigures(self.done / max(0.001, self.elapsed_s), _pair(ttft), None),
                    share,
                )
            )
        self.stage, self.phase, self.level, self.seconds = stage, phase, level, seconds
        self.done = self.failed = 0
        self.within = None if self.within is None else 0
        self.started = monotonic()
        self._last.clear()

    def add(self, record: RequestRecord) -> None:
        """Add a request that has ended."""
        own = record.phase == self.phase  # cool-down requests follow the measured ones in their phase
        self.done += own
        self.ended_so_far += 1
        if not record.ok:
            self.failed += own
            self.failed_so_far += 1
            return
        sent, first, arrivals = record.sent, record.first_token, record.arrivals
        ttft = None if sent is None or first is None else first - sent
        if self.within is not None and own:
            self.within += all(_kept(record, name, limit) for name, limit in self.settings.slo)
        gap = (arrivals[-1] - arrivals[0]) / (len(arrivals) - 1) if len(arrivals) > 1 else None
        self._last.append((monotonic(), ttft, gap))

    def told(self) -> RunProgress:
        """As other processes see it: the requests of the phase."""
        rate = self.recent().rate
        found = RunProgress.of(self.phase, self.done, self.wanted, self.failed, self.in_flight, rate)
        left = self.left_s(rate)
        return replace(found, seconds_left=None if left is None else round(left, 1))

    @property
    def wanted(self) -> int | None:
        """The requests that the phase sends; None: as many as its time allows."""
        if self.phase == "warmup":
            return self.settings.warmup
        return None if self.settings.search is not None else self.settings.requests

    def left_s(self, rate: float) -> float | None:
        """About how long the stage still takes, at this rate; None: unknown."""
        left = [] if self.seconds is None else [max(0.0, self.seconds - self.elapsed_s)]
        if (wanted := self.wanted) is not None and rate > 0:
            left.append(max(0, wanted - self.done) / rate)
        return min(left, default=None)

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


_LIVE = frozenset({"ttft", "ttft_planned", "ttft_answer", "e2e", "e2e_planned", "itl", "itl_mean"})
"""The limits that are judged while a test runs."""
_ENDS = {"ttft": "first_token", "ttft_answer": "first_answer", "e2e": "last_content"}


def _kept(record: RequestRecord, name: str, limit: float) -> bool:
    if name.startswith("itl"):
        arrivals = record.arrivals
        return len(arrivals) < 2 or (arrivals[-1] - arrivals[0]) / (len(arrivals) - 1) <= limit
    start = record.planned if name.endswith("_planned") else record.sent
    end: float | None = getattr(record, _ENDS[name.removesuffix("_planned")])
    return start is not None and end is not None and end - start <= limit


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
    late = percentile(ordered, 99) if Distribution.enough(len(ordered), "p99") else None
    return ordered[len(ordered) // 2], late


class LoadWatcher(Protocol):
    """Shows a test; called about four times a second."""

    def show(self, progress: LoadProgress) -> None:
        """Show the progress. Must be quick, because the test waits."""
        ...
