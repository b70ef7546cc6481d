"""The last resort of a user who has pressed Ctrl-C twice: a process that ends this one when Python cannot.

A scorer can hold Python's interpreter lock for ever (a regular expression in a thread, a library in C). No thread and no
signal handler in Python runs then. `faulthandler` handles signals below Python, and writes to a pipe; at its other
end a shell counts the signals. Everything that was done is committed by then, so the run can be resumed.
"""

from __future__ import annotations

import faulthandler
import os
import signal
from collections.abc import Iterable
from contextlib import suppress

GRACE_S = 1.5
"""How long after the second signal Python may take to end the run by itself."""

# One line per dump begins with one of these words. The shell ends when the pipe is closed.
_SCRIPT = """
trap '' INT TERM HUP
signals=0
while IFS= read -r line; do
    case $line in Stack*|Current*) signals=$((signals + 1)) ;; esac
    if [ $signals -ge 2 ]; then
        sleep "$2"
        if [ -t 2 ]; then printf '\\033[?25h' >&2; fi
        echo 'benchwright: ended a run whose scorer did not let go; what it recorded is kept. Continue: benchwright resume' >&2
        kill -KILL "$1"
        exit
    fi
done
"""


class Watchdog:
    """Watches this process from outside until it is closed."""

    def __init__(self, numbers: Iterable[signal.Signals]) -> None:
        """Watch for these signals, which have handlers already: those are still called."""
        self._numbers: list[signal.Signals] = []
        self._shell: int | None = None
        try:
            source, self._pipe = os.pipe()
        except OSError:  # no more files: there are graver worries than this
            return
        try:
            self._shell = os.posix_spawn(
                "/bin/sh",
                ("sh", "-c", _SCRIPT, "benchwright-watchdog", str(os.getpid()), str(GRACE_S)),
                os.environ,
                file_actions=((os.POSIX_SPAWN_DUP2, source, 0),),
                setpgroup=0,  # a terminal's Ctrl-C is not for it
            )
        except OSError:
            os.close(self._pipe)
            return
        finally:
            os.close(source)
        os.set_blocking(self._pipe, False)
        for number in numbers:
            faulthandler.register(number, file=self._pipe, all_threads=False, chain=True)
            self._numbers.append(number)

    def close(self) -> None:
        """Stop watching. May be called again."""
        for number in self._numbers:
            faulthandler.unregister(number)
        self._numbers = []
        if self._shell is None:
            return
        os.close(self._pipe)
        with suppress(OSError):
            os.killpg(self._shell, signal.SIGKILL)
        with suppress(OSError):
            os.waitpid(self._shell, 0)
        self._shell = None
