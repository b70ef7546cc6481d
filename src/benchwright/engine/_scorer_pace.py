"""Where a scorer runs: in the event loop while it is quick, else in threads. Found out by doing, not declared."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

SLOW_SCORER_S = 0.003
"""A call that takes longer holds up others' replies, if it runs in the event loop."""
BLOCKING_SCORER_S = 0.05
"""One call that takes so long is enough: signals and timeouts wait with everybody else."""

_SLOW_CALLS = 3
_SLOW_SHARE = 0.1
"""Share of the loop's time that slow calls may take. A quick scorer on a busy machine has slow calls, too, whenever
another process interrupts it; these stay far below its own small share."""
_QUICK_AGAIN = 32
"""Quick calls in a row after which a scorer that was slow comes back; doubled each time that it leaves."""


class ScorerPace:
    """How long a scorer takes, and where it runs therefore."""

    __slots__ = ("_asks", "_now", "_quick", "_quick_needed", "_since", "_slow", "_slow_s", "in_threads")

    def __init__(self, *, in_threads: bool, now: Callable[[], float] = perf_counter) -> None:
        """The first samples are scored `in_threads` until one was quick: a scorer that blocks or asks a model is found
        out there without holding up the loop."""
        self.in_threads = in_threads
        """Whether the next answer is scored in a thread."""
        self._now = now
        self._asks = False
        self._quick = 0
        self._quick_needed = 1
        self._enter_loop()

    def asks_a_model(self) -> None:
        """A scorer that waits for replies stays in threads for good."""
        self._asks = self.in_threads = True

    def slow_in_loop(self, took: float) -> None:
        """A call in the loop took longer than `SLOW_SCORER_S`. It leaves if it takes too much of the time."""
        self._slow += 1
        self._slow_s += took
        often = self._slow >= _SLOW_CALLS and self._slow_s > _SLOW_SHARE * (self._now() - self._since)
        if often or took > BLOCKING_SCORER_S:
            self.in_threads = True
            self._quick = 0
            self._quick_needed = max(_QUICK_AGAIN, 2 * self._quick_needed)

    def took_in_thread(self, took: float) -> None:
        """A call in a thread took so long. The scorer comes back once it is quick, call after call."""
        self._quick = self._quick + 1 if took <= SLOW_SCORER_S else 0
        if self._quick >= self._quick_needed and self.in_threads and not self._asks:
            self._enter_loop()
            self.in_threads = False

    def _enter_loop(self) -> None:
        self._since = self._now()
        self._slow = 0
        self._slow_s = 0.0
