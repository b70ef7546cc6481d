"""Waiting in tests: for events, with a limit that only a hang reaches.

A test that passes or fails by the machine's speed measures the machine. What must happen is waited for with `until`;
what must not take for ever gets `PATIENCE_S`, which a machine many times slower than ours still keeps.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import time
from collections.abc import Callable
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
    deadline = time.monotonic() + _BUSY_S
    while any(_works(each) for each in _tree(pid)) and time.monotonic() < deadline:
        time.sleep(0.01)


_BUSY_S = 2.0
"""Seconds after which a process that never sleeps is taken for one that has acted on a signal."""


def _works(pid: int) -> bool:
    """Whether the main thread of a process has something to do, such as to call its handler of a signal."""
    try:
        return Path(f"/proc/{pid}/task/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"
    except OSError:  # it has ended
        return False


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
