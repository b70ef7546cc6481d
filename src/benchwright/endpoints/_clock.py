"""The clock of endpoints. It is a parameter, so that tests control time."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Protocol


class Timer(Protocol):
    """A scheduled callback that can be cancelled."""

    def cancel(self) -> None:
        """Cancel the callback."""
        ...


class Clock(Protocol):
    """The one clock for limiters, pauses, timeouts and the times of calls."""

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

    # asyncio is imported only when a timer is set, because `--help` loads this file and needs no loop.

    now = staticmethod(monotonic)

    def call_at(self, at: float, callback: Callable[[], None]) -> Timer:
        """Call back at `at`."""
        from asyncio import get_running_loop

        return get_running_loop().call_later(at - monotonic(), callback)

    async def sleep_until(self, at: float) -> None:
        """Wait until `at`. Timers of uvloop have a resolution of a millisecond and may fire early, so the rest is waited
        for again."""
        from asyncio import sleep

        while (left_s := at - monotonic()) > 0:  # noqa: ASYNC110  # time is not an event
            await sleep(left_s)


LOOP_CLOCK: Clock = LoopClock()
"""The usual clock. It has no state, so all event loops share it."""
