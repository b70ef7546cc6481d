"""Waiting in tests: for events, with a limit that only a hang reaches.

A test that passes or fails by the machine's speed measures the machine. What must happen is waited for with `until`;
what must not take for ever gets `PATIENCE_S`, which a machine many times slower than ours still keeps.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 300.0
"""Seconds after which something hangs."""


def until(condition: Callable[[], object], what: str = "the expected event") -> None:
    """Return once `condition()` is true; fail after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s for {what}"
        time.sleep(0.01)


def until_delivered(pid: int, number: signal.Signals) -> None:
    """Return once no process of the tree below `pid` has the signal pending, nor is about to act on it: a further one counts
    for itself. Python notes that a signal came, and calls its handler a little later; two that come between are one."""
    until(lambda: not any(_pending(each, number) for each in _tree(pid)), f"{number.name} to arrive")
    begun = {each: _used(each) for each in _tree(pid)}
    until(
        lambda: not any(_works(each, begun.get(each, 0)) for each in _tree(pid)),
        f"{number.name} to be handled",
    )


_BUSY_TICKS = 2 * os.sysconf("SC_CLK_TCK")
"""Two seconds of a processor's time, after which one that never sleeps is taken for one that has acted on a signal. On a busy
machine that takes longer by the clock."""


def _stat(pid: int) -> list[str]:
    """State and times of the main thread of a process, from its third field on; none if it has ended."""
    try:
        return Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _used(pid: int) -> int:
    return sum(map(int, _stat(pid)[11:13]))


def _works(pid: int, begun: int) -> bool:
    """Whether the main thread of a process has something to do, such as to call its handler of a signal."""
    return _stat(pid)[:1] == ["R"] and _used(pid) < begun + _BUSY_TICKS


def _tree(pid: int) -> list[int]:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *(below for child in children for below in _tree(int(child)))]


def _pending(pid: int, number: signal.Signals) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:  # it has ended
        return False
    masks = [line.split()[1] for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))]
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)


def until_line(child: subprocess.Popen[str], text: str) -> str:
    """Return the first line of the child's standard error that holds `text`; fail if the stream ends first."""
    assert child.stderr is not None
    seen = []
    for line in child.stderr:
        seen.append(line)
        if text in line:
            return line
    raise AssertionError(f"the command ended without saying {text!r}; it said: {seen}")


async def until_in_loop(condition: Callable[[], object], what: str = "the expected event") -> None:
    """As `until`, and let the event loop work meanwhile."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s for {what}"
        await asyncio.sleep(0.001)


@contextmanager
def kept_port() -> Iterator[int]:
    """A port of loopback at which servers can end and start again: meanwhile the system gives it to nobody else."""
    with socket.socket() as kept:
        kept.setsockopt(
            socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
        )  # servers set it too, so that they can share it
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]
