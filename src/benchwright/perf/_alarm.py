"""Waits until an exact time without using the CPU.

The timers of event loops have a resolution of a millisecond. Repeating a sleep that is too short until the time has come
takes a whole core at 2,000 requests a second. Linux has timers that are files, with a resolution of nanoseconds.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from contextlib import suppress
from time import monotonic
from typing import Protocol

_MONOTONIC = 1
_ABSOLUTE = 1
_NANOSECONDS = 1_000_000_000


class Alarm(Protocol):
    """Wakes one task at a time."""

    async def at(self, due: float) -> None:
        """Return at that time by the machine's clock, or a little earlier or later."""

    def close(self) -> None:
        """Release what was opened."""


class _LoopAlarm:
    """Implements `Alarm` with the timers of the event loop."""

    async def at(self, due: float) -> None:
        await asyncio.sleep(due - monotonic())

    def close(self) -> None:
        """Nothing was opened."""


class _FileAlarm:
    """Implements `Alarm` with a timer of Linux. The numbers are those of its system calls."""

    def __init__(self) -> None:
        system = ctypes.PyDLL(
            None, use_errno=True
        )  # the calls are too short to let other threads run meanwhile
        self._set = system.timerfd_settime
        self._file = system.timerfd_create(_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no timer")
        self._spec = (ctypes.c_long * 4)()  # interval, then due time, in seconds and nanoseconds
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._file, self._ring)
        self._waiting: asyncio.Future[None] | None = None

    async def at(self, due: float) -> None:
        self._spec[2], self._spec[3] = divmod(int(due * _NANOSECONDS), _NANOSECONDS)
        waiting = self._waiting = self._loop.create_future()
        if self._set(self._file, _ABSOLUTE, self._spec, None):
            await asyncio.sleep(due - monotonic())
        else:
            await waiting

    def _ring(self) -> None:
        try:
            os.read(self._file, 8)
        except BlockingIOError:  # it was set again meanwhile
            return
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)

    def close(self) -> None:
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
