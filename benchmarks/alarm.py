"""One precise timer on an event loop.

Event loops count in whole milliseconds: replies that fall due within one are then sent in a bunch, the next
requests come in a bunch, and with 64 in flight at 20 ms even a bare client loop saw 91 % of the ideal rate
for no fault of its own. Linux has timers with microseconds; elsewhere the loop's own timer serves.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable

CLOCK_MONOTONIC = 1


class _Spec(ctypes.Structure):
    """`struct itimerspec`: no interval, one expiry."""

    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class Alarm:
    """Calls `ring` once, a given time after `set`."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._timer = -1
        if sys.platform == "linux":
            self._libc = ctypes.CDLL(None, use_errno=True)
            self._timer = self._libc.timerfd_create(CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
            if self._timer >= 0:
                self._spec = _Spec()
                self._at = ctypes.byref(self._spec)
                loop.add_reader(self._timer, self._expired)

    def set(self, delay_s: float) -> None:
        """Ring in `delay_s` seconds, or at once when that has passed."""
        if self._timer < 0:
            self._loop.call_later(max(delay_s, 0.0), self._ring)
            return
        # Zero would switch the timer off.
        whole_ns = max(int(delay_s * 1e9), 1)
        self._spec.value_s, self._spec.value_ns = divmod(whole_ns, 1_000_000_000)
        self._libc.timerfd_settime(self._timer, 0, self._at, None)

    def _expired(self) -> None:
        os.read(self._timer, 8)
        self._ring()
