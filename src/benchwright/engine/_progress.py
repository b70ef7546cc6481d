"""What a watcher of a run may read at any time. Plain counters: the hot path only adds to them."""

from __future__ import annotations

import time
from collections import deque
from typing import Literal, Protocol, TypeAlias

Phase: TypeAlias = Literal["checking", "few-shot", "probing", "warming up", "asking", "summing up", "done"]
"""What the run is doing."""


class Progress:
    """Live counters of one run."""

    __slots__ = (
        "cached", "done", "failed", "first_failure", "in_flight", "limit", "name", "phase", "recent_failures",
        "recorded", "recorded_failed", "started", "stopping", "total",
    )  # fmt: skip

    def __init__(self, name: str) -> None:
        self.name = name
        self.phase: Phase = "checking"
        self.total = 0
        """Samples × repeats."""
        self.done = 0
        """Samples with an outcome, those of an earlier start included."""
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
        self.limit = 0
        """Requests the endpoint is trusted with at the moment."""
        self.first_failure = ""
        """The first failure in plain words."""
        self.recent_failures: deque[str] = deque(maxlen=200)
        """The latest failures, each as `row 12: why`, for watchers that show every one and take them from here."""
        self.stopping = ""
        """Why the run takes on no more samples, once it does."""
        self.started = time.monotonic()

    def rate_per_s(self) -> float:
        """Samples per second of this start."""
        return (self.done - self.recorded) / max(time.monotonic() - self.started, 1e-9)


class Watcher(Protocol):
    """Whoever shows progress. Called a few times per second from the event loop, and once at the end."""

    def show(self, progress: Progress) -> None:
        """Draw the current state; must return quickly."""
