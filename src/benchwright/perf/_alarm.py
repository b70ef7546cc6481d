"""Waits until an exact time without using the CPU.

The timers of event loops have a resolution of a millisecond. Repeating a sleep that is too short until the time has come
takes a whole core at 2,000 requests a second. Linux has timers that are files, with a resolution of nanoseconds.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Protocol

_MONOTONIC = 1
_ABSOLUTE = 1
_NANOSECONDS = 1_000_000_000


class Alarm(Protocol):
    """Calls back at one time after the other."""

    def call_at(self, due: float, callback: Callable[[], None]) -> None:
        """Call back at that time by the machine's clock, or a little earlier or later, and not at the time that was set before."""

    async def at(self, due: float) -> None:
        """Return at that time, or a little earlier or later."""

    def close(self) -> None:
        """Release what was opened."""


class _LoopAlarm:
    """Implements `Alarm` with the timers of the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None

    def call_at(self, due: float, callback: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(max(0.0, due - monotonic()), callback)

    async def at(self, due: float) -> None:
        rung = asyncio.Event()
        self.call_at(due, rung.set)
        await rung.wait()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


class _FileAlarm(_LoopAlarm):
    """Implements `Alarm` with a timer of Linux. The numbers are those of its system calls."""

    def __init__(self) -> None:
        super().__init__()
        system = ctypes.PyDLL(
            None, use_errno=True
        )  # the calls are too short to let other threads run meanwhile
        self._set = system.timerfd_settime
        self._file = system.timerfd_create(_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no timer")
        self._spec = (ctypes.c_long * 4)()  # interval, then due time, in seconds and nanoseconds
        self._callback: Callable[[], None] | None = None
        self._due = 0.0
        self._loop.add_reader(self._file, self._ring)

    def call_at(self, due: float, callback: Callable[[], None]) -> None:
        self._callback, self._due = callback, due
        self._spec[2], self._spec[3] = divmod(int(due * _NANOSECONDS), _NANOSECONDS)
        if self._set(self._file, _ABSOLUTE, self._spec, None):
            super().call_at(due, callback)

    def _ring(self) -> None:
        if self._due > monotonic():  # it was set again meanwhile
            return
        callback, self._callback = self._callback, None
        if callback is not None:
            callback()
        if self._callback is None:  # else it was set again, which empties the file
            with suppress(BlockingIOError):
                os.read(self._file, 8)

    def close(self) -> None:
        super().close()
        self._loop.remove_reader(self._file)
        os.close(self._file)


def open_alarm() -> Alarm:
    """The most exact alarm that this machine has."""
    if sys.platform.startswith("linux"):
        with suppress(
            AttributeError, OSError
        ):  # a system without such timers, or no file may be opened any more
            return _FileAlarm()
    return _LoopAlarm()
