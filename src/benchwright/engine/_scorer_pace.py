"""Decides by measuring where a scorer runs: in the event loop while it is fast, else in threads."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

SLOW_SCORER_S = 0.003
"""A call in the event loop that takes longer delays the replies of other samples."""
BLOCKING_SCORER_S = 0.05
"""A single call this long moves the scorer to threads, because signals and timeouts wait for it too."""

_SLOW_CALLS = 3
_SLOW_SHARE = 0.1
"""Share of the loop's time that slow calls may take. On a busy machine a fast scorer has slow calls too, whenever another
process interrupts it, but these take a far smaller share."""
_QUICK_AGAIN = 32
"""Fast calls in a row after which a slow scorer returns to the event loop; doubled each time it leaves."""


class ScorerPace:
    """Measures how long a scorer takes and decides where it runs."""

    __slots__ = ("_asks", "_now", "_quick", "_quick_needed", "_since", "_slow", "_slow_s", "in_threads")

    def __init__(self, *, in_threads: bool, now: Callable[[], float] = perf_counter) -> None:
        """With `in_threads`, samples are scored in threads until one was fast, so that a scorer that blocks or calls a model
        does not delay the loop."""
        self.in_threads = in_threads
        """Whether the next answer is scored in a thread."""
        self._now = now
        self._asks = False
        self._quick = 0
        self._quick_needed = 1
        self._enter_loop()

    def asks_a_model(self) -> None:
        """Keep the scorer in threads for good, because it waits for replies."""
        self._asks = self.in_threads = True

    def slow_in_loop(self, took: float) -> None:
        """Note a call in the loop longer than `SLOW_SCORER_S`. If such calls take too much time, leave the loop."""
        self._slow += 1
        self._slow_s += took
        often = self._slow >= _SLOW_CALLS and self._slow_s > _SLOW_SHARE * (self._now() - self._since)
        if often or took > BLOCKING_SCORER_S:
            self.in_threads = True
            self._quick = 0
            self._quick_needed = max(_QUICK_AGAIN, 2 * self._quick_needed)

    def took_in_thread(self, took: float) -> None:
        """Note the time of a call in a thread. The scorer returns to the loop after enough fast calls in a row."""
        self._quick = self._quick + 1 if took <= SLOW_SCORER_S else 0
        if self._quick >= self._quick_needed and self.in_threads and not self._asks:
            self._enter_loop()
            self.in_threads = False

    def _enter_loop(self) -> None:
        self._since = self._now()
        self._slow = 0
        self._slow_s = 0.0
