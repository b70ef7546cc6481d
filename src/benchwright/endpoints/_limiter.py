"""Limits the requests in flight and adapts to what the server can take.

The limit starts at the configured parallelism. A refusal for lack of capacity (429, 503) halves it, at most once per
round trip: refusals of requests that were sent before the last cut tell nothing new. Each success raises it a little, up
to the parallelism. As long as the server does not refuse, this costs one comparison.
"""

from __future__ import annotations

import asyncio
from collections import deque

from benchwright.endpoints._clock import LOOP_CLOCK, Clock, Timer
from benchwright.endpoints._gate import POLL_S, Allowance

_CUT = 0.5
# Share of the parallelism regained per round trip: from half to full in eight round trips. One place per round trip, as
# in TCP, would take 1,500 successes from 32 to 64.
_GROWTH = 1 / 16


class Limiter:
    """Hands out places; belongs to one event loop."""

    __slots__ = ("_clock", "_cut_at", "_held_until", "_interval_s", "_limit", "_next_at", "_timer", "_waiting",
                 "in_flight", "parallelism")  # fmt: skip

    def __init__(self, parallelism: int, per_minute: float | None = None, clock: Clock = LOOP_CLOCK) -> None:
        self._clock = clock
        self.parallelism = parallelism
        """The most places."""
        self.in_flight = 0
        """Places taken."""
        self._limit = float(parallelism)
        self._interval_s = 60.0 / per_minute if per_minute else 0.0
        self._next_at = float("-inf")
        self._cut_at = float("-inf")
        self._held_until = float("-inf")
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._timer: Timer | None = None

    @property
    def limit(self) -> int:
        """The current number of places; at least one."""
        return int(self._limit)

    def try_acquire(self) -> bool:
        """Take a place if one is free and no other request waits for it."""
        taken = self.in_flight + 1
        if taken > self._limit or self._waiting or self._timer is not None:
            return False
        if self._interval_s and not self._in_time():
            return False
        self.in_flight = taken
        return True

    async def acquire(self, *, first: bool = False, allowance: Allowance | None = None) -> bool:
        """Wait for a place; `first` is for requests that have waited before. Returns False, without a place, once the run of
        `allowance` is over."""
        if self.try_acquire():
            return True
        place = asyncio.get_running_loop().create_future()
        if first:
            self._waiting.appendleft(place)
        else:
            self._waiting.append(place)
        self._hand_out()
        try:
            if allowance is None or not allowance.gated:
                await place
                return True
            while not place.done() and not allowance.over:
                await asyncio.wait((place,), timeout=max(0.0, min(POLL_S, allowance.left_s())))
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.release()  # the place came in the same turn of the loop
            else:
                place.cancel()
            raise
        if not place.done():
            place.cancel()
            return False
        if allowance.over:  # the place came, but the run is already stopping
            self.release()
            return False
        return True

    def release(self) -> None:
        """Give a place back."""
        self.in_flight -= 1
        if self._waiting:
            self._hand_out()

    def succeeded(self) -> None:
        """Release the place of a successful request, and raise the limit a little."""
        self.in_flight -= 1
        if self._waiting:
            self._hand_out()
        if self._limit < self.parallelism:
            step = max(1.0, self.parallelism * _GROWTH) / self._limit
            self._limit = min(float(self.parallelism), self._limit + step)
            self._hand_out()

    def refused(self, sent_at: float) -> bool:
        """Lower the limit after a refusal of a request sent at `sent_at`. Returns whether the refusal was news."""
        if sent_at < self._cut_at:
            return False
        self._cut_at = self._clock.now()
        # The caller's place is still taken. The requests in flight were too many, even if the limit allowed more.
        under_way = min(self._limit, max(1, self.in_flight))
        self._limit = max(1.0, under_way * _CUT)
        return True

    def hold(self, seconds: float) -> None:
        """Hand out no place for a while, because the server asked for it (Retry-After)."""
        until = self._clock.now() + seconds
        if until <= self._held_until:
            return
        self._held_until = until
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._clock.call_at(until, self._resume)

    def widen(self, parallelism: int) -> None:
        """Allow at least this many places, because endpoints that share a limiter may have different settings."""
        if parallelism > self.parallelism:
            self._limit += parallelism - self.parallelism
            self.parallelism = parallelism
            self._hand_out()

    def close(self) -> None:
        """Cancel the timer, if one runs."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _resume(self) -> None:
        self._timer = None
        self._hand_out()

    def _hand_out(self) -> None:
        if self._timer is not None:
            return
        while self._waiting and self.in_flight < int(self._limit):
            if self._waiting[0].done():  # the caller was cancelled
                self._waiting.popleft()
                continue
            if self._interval_s and not self._in_time():
                self._timer = self._clock.call_at(self._next_at, self._resume)
                return
            self.in_flight += 1
            self._waiting.popleft().set_result(None)

    def _in_time(self) -> bool:
        """Whether enough time has passed since the last place was handed out. If so, the next one has to wait."""
        now = self._clock.now()
        if now < self._next_at:
            return False
        self._next_at = max(now, self._next_at) + self._interval_s
        return True
