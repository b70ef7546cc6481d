"""Time as endpoints see it: a parameter, so that a test decides how it passes."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Protocol


class Timer(Protocol):
    """Something that will happen, unless it is cancelled."""

    def cancel(self) -> None:
        """Let it not happen."""
        ...


class Clock(Protocol):
    """Limiters, pauses, timeouts and the times of calls all use one clock."""

    def now(self) -> float:
        """Monotonic seconds."""
        ...

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        """Call back in the running event loop, at `at` or a little later."""
        ...

    async def sleep_until(self, at: float) -> None:
        """Return at `at`, never before."""
        ...


class LoopClock:
    """Implements `Clock` with the time of this machine and the timers of the running event loop."""

    # The event loop is imported where a timer is set: the front names this file, and `--help` needs no loop.

    now = staticmethod(monotonic)

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        """Call back at `at`."""
        from asyncio import get_running_loop

        return get_running_loop().call_later(at - monotonic(), callback)

    async def sleep_until(self, at: float) -> None:
        """Timers of uvloop have a millisecond's grain and may come early: whatever is left is waited for again."""
        from asyncio import sleep

        while (left_s := at - monotonic()) > 0:  # noqa: ASYNC110  # time is not an event
            await sleep(left_s)


LOOP_CLOCK: Clock = LoopClock()
"""The usual clock. It keeps nothing, so all event loops share it."""
