"""A clock that a test winds on: nothing waits for real time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class FakeTimer:
    def __init__(self, at: float, callback: Callable[[], None]) -> None:
        self.at, self.callback, self.cancelled = at, callback, False

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """Implements `Clock`. Time passes when somebody sleeps, and by `tick` whenever somebody looks."""

    def __init__(self, tick: float = 0.0) -> None:
        self.tick = tick
        self.time = 1000.0
        self.looks = 0
        """How often somebody has looked."""
        self.slept: list[float] = []
        """How long each sleep was."""
        self._timers: list[FakeTimer] = []

    @property
    def waits(self) -> bool:
        """Whether something is to happen later."""
        return any(not timer.cancelled for timer in self._timers)

    def now(self) -> float:
        self.looks += 1
        self.time += self.tick
        return self.time

    def call_at(self, at: float, callback: Callable[[], None]) -> FakeTimer:
        timer = FakeTimer(at, callback)
        self._timers.append(timer)
        return timer

    async def sleep_until(self, at: float) -> None:
        if at > self.time:
            self.slept.append(at - self.time)
            self.advance_to(at)
        await asyncio.sleep(0)

    def advance_to(self, at: float) -> None:
        """Let time pass, and what falls due happen in its order."""
        while True:
            self._timers = [timer for timer in self._timers if not timer.cancelled]
            due = min((timer for timer in self._timers if timer.at <= at), key=lambda t: t.at, default=None)
            if due is None:
                break
            self._timers.remove(due)
            self.time = max(self.time, due.at)
            due.callback()
        self.time = max(self.time, at)
