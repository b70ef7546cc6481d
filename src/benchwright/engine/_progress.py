"""Progress of a run, which watchers may read at any time: plain counters, because the hot path adds to them."""

from __future__ import annotations

import time
from collections import deque
from typing import Literal, Protocol, TypeAlias

from benchwright.core import FailureTally, RunProgress

Phase: TypeAlias = Literal["checking", "few-shot", "probing", "warming up", "asking", "summing up", "done"]
"""What the run is doing."""


class Progress:
    """Live counters of one run."""

    __slots__ = (
        "_failures",
        "cached",
        "done",
        "failed",
        "in_flight",
        "judge_retries",
        "limit",
        "name",
        "phase",
        "recent_failures",
        "recorded",
        "recorded_failed",
        "started",
        "stopping",
        "total",
        "unread",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.phase: Phase = "checking"
        self.total = 0
        """Samples × repeats."""
        self.done = 0
        """Samples with an outcome, including those of earlier starts."""
        self.recorded = 0
        """Samples that an earlier start of this run had recorded."""
        self.recorded_failed = 0
        """How many of those failed."""
        self.failed = 0
        """Samples without a usable score."""
        self.cached = 0
        """Replies taken from earlier runs."""
        self.in_flight = 0
        """Samples being worked on."""
        self.judge_retries = 0
        """Requests to judges that failed and are sent again. Their samples are not done yet."""
        self.limit = 0
        """Requests that the limiter currently allows at once."""
        self.unread: list[str] = []
        """Why rows could not be read, for each sample of them that this start recorded."""
        self._failures = FailureTally()
        self.recent_failures: deque[str] = deque(maxlen=200)
        """The latest failures, each as `row 12: why`. Watchers that show them remove them from here."""
        self.stopping = ""
        """Why the run starts no more samples; empty while it does."""
        self.started = time.monotonic()

    def count_failure(self, error: str) -> None:
        """Count a failed sample of this start. Messages that differ only in numbers count as one reason."""
        self._failures.add(error)

    @property
    def commonest_failure(self) -> str:
        """The most common failure in plain words (the earliest of equals), and its share if there are others. A failure of the
        model or of the scorer tells more than a row that could not be read, so it comes first."""
        if not self._failures.total:
            return self.unread[0] if self.unread else ""
        count, error = self._failures.commonest()
        total = self._failures.total + len(self.unread)
        return error if count == total else f"{error} ({count} of {total} failures)"

    def told(self) -> RunProgress:
        """As other processes see it."""
        return RunProgress.of(
            self.phase, self.done, self.total, self.failed, self.in_flight, self.rate_per_s()
        )

    def rate_per_s(self) -> float:
        """Samples per second of this start."""
        return (self.done - self.recorded) / max(time.monotonic() - self.started, 1e-9)


class Watcher(Protocol):
    """Shows progress. Called a few times per second from the event loop, and once at the end."""

    def show(self, progress: Progress) -> None:
        """Draw the current state; must return quickly."""
