"""Waiting in tests: for events, with a limit that only a hang reaches.

A test that passes or fails by the machine's speed measures the machine. What must happen is waited for with `until`;
what must not take for ever gets `PATIENCE_S`, which a machine many times slower than ours still keeps.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Callable

PATIENCE_S = 300.0
"""Seconds after which something hangs."""


def until(condition: Callable[[], object], what: str = "the expected event") -> None:
    """Return once `condition()` is true; fail after `PATIENCE_S`."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"waited {PATIENCE_S:g} s for {what}"
        time.sleep(0.01)


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
