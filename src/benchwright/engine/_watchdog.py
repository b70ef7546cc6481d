"""A process that ends a run whose scorer does not let go after the second Ctrl-C."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress

GRACE_S = 1.5
"""How long Python may take after the second signal to end the run by itself; longer on a busy machine, where each of the
watchdog's short sleeps takes longer too."""
_SLEEPS = 15

# Each byte that it reads is the number of a signal: it passes them on, and counts those that are in $2. It ends when the
# pipe is closed.
_SCRIPT = """
trap '' INT TERM HUP
signals=0
while number=$(head -c 1; echo .) && [ "$number" != . ]; do
    number=${number%.}
    printf %s "$number"
    case $2 in *"$number"*) signals=$((signals + 1)) ;; esac
    if [ $signals -ge 2 ]; then
        while [ $signals -lt $4 ]; do sleep $3; signals=$((signals + 1)); done
        if [ -t 2 ]; then printf '\\033[?25h' >&2; fi
        echo 'benchwright: ended a run whose scorer did not let go; what it recorded is kept. Continue: benchwright resume' >&2
        kill -KILL "$1"
        exit
    fi
done
"""


class Watchdog:
    """Watches this process from outside until it is closed.

    Python's own handler waits until C code returns, so signals are counted by what the system's handler does at once: it
    writes a byte to the wakeup descriptor. The watchdog reads it and passes it on to the event loop.
    """

    def __init__(
        self,
        numbers: Sequence[signal.Signals],
        loop: asyncio.AbstractEventLoop,
        hear: Callable[[int], None],
    ) -> None:
        """Watch for these signals, and call `hear` in the loop with how many have arrived."""
        self._numbers = bytes(numbers)
        self._loop = loop
        self._hear = hear
        self._signals = 0
        self._shell: int | None = None
        self._fds: list[int] = []
        try:
            self._fds += os.pipe()
            self._fds += os.pipe()
            source, written, back, passed_on = self._fds
            self._shell = os.posix_spawn(
                "/bin/sh",
                (
                    "sh",
                    "-c",
                    _SCRIPT,
                    "benchwright-watchdog",
                    str(os.getpid()),
                    self._numbers,
                    str(GRACE_S / _SLEEPS),
                    str(_SLEEPS + 2),
                ),
                os.environ,
                file_actions=(
                    (os.POSIX_SPAWN_DUP2, source, 0),
                    (os.POSIX_SPAWN_DUP2, passed_on, 1),
                ),
                setpgroup=0,  # it must not receive the terminal's Ctrl-C
            )
        except OSError:  # no processes or file descriptors left: the run has worse problems than this
            self._close_fds()
            return
        os.close(source)
        os.close(passed_on)
        self._fds = [written, back]
        os.set_blocking(written, False)
        os.set_blocking(back, False)
        self._before = signal.set_wakeup_fd(written, warn_on_full_buffer=False)
        loop.add_reader(back, self._passed_on)

    def _passed_on(self) -> None:
        numbers = os.read(self._fds[1], 64)
        self._signals += sum(number in self._numbers for number in numbers)
        if numbers:
            self._hear(self._signals)
        else:  # somebody has ended the watchdog: the loop wakes up by itself again
            self.close()

    def close(self) -> None:
        """Stop watching. May be called more than once."""
        if self._shell is None:
            return
        if (now := signal.set_wakeup_fd(self._before)) != self._fds[0]:
            signal.set_wakeup_fd(now)  # of somebody who came later
        self._loop.remove_reader(self._fds[1])
        self._close_fds()
        with suppress(OSError):
            os.killpg(self._shell, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._shell, 0)
        self._shell = None

    def leave(self) -> None:
        """Let go of the watchdog of a parent process."""
        if self._shell is not None:
            signal.set_wakeup_fd(-1)
            self._close_fds()
            self._shell = None

    def _close_fds(self) -> None:
        for fd in self._fds:
            os.close(fd)
        self._fds = []
