"""Who executes a run: a process identity that cannot be confused with a later process of the same pid."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path

import orjson

HEARTBEAT_S = 10.0
"""How often an owner gives a sign of life."""
DEAD_AFTER_S = 60.0
"""Silence after which an owner on another host counts as dead."""


@dataclass(frozen=True, slots=True)
class Owner:
    """One process."""

    host: str
    """Host name."""
    pid: int
    """Process id on that host."""
    started: str
    """Start time of the process in kernel ticks and the boot id; pids are reused, this pair is not."""

    def to_text(self) -> str:
        """The stored form."""
        return orjson.dumps([self.host, self.pid, self.started]).decode()

    @classmethod
    def from_text(cls, text: str) -> Owner:
        """The reverse of `to_text`."""
        return cls(*orjson.loads(text))

    def alive(self, heartbeat: float | None) -> bool:
        """Whether the process still runs: asked of the kernel on this host, of the heartbeat elsewhere."""
        if self.host == socket.gethostname():
            return self.started == _process_started(self.pid)
        return heartbeat is not None and time.time() - heartbeat < DEAD_AFTER_S


def this_process() -> Owner:
    """The identity of the current process."""
    pid = os.getpid()
    return Owner(socket.gethostname(), pid, _process_started(pid))


def _process_started(pid: int) -> str:
    """A text that is the same for as long as that process lives, and empty when it does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        fields = stat.rpartition(")")[2].split()
        if fields[0] in "ZX":  # a zombie does no work
            return ""
        return f"{boot}:{fields[19]}"
    except FileNotFoundError:
        pass
    if Path("/proc/self/stat").exists():
        return ""
    try:  # no /proc (macOS): only liveness can be told
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "unknown"
