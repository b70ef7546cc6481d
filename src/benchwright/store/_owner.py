"""Identifies the process that executes a run, so that it cannot be confused with a later process of the same pid."""

from __future__ import annotations

import os
import socket
import time
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import orjson
from msgspec import Struct

from benchwright.core import RunOwnedError

HEARTBEAT_S = 2.0
"""Seconds between two heartbeats of an owner."""


class Lease(Struct, frozen=True):
    """The right to write to one run, until another process takes it over."""

    run_id: int
    """Number of the run."""
    token: str
    """A random text that the run's record contains too. A writer with another token is refused."""


class Owner(Struct, frozen=True):
    """One process."""

    dead_after_s: ClassVar[float] = 60.0
    """Silence after which an owner on another host counts as dead."""

    host: str
    """Host name."""
    pid: int
    """Process id on that host."""
    started: str
    """Start time of the process in kernel ticks and the boot id; pids are reused, this pair is not."""

    @classmethod
    def here(cls) -> Owner:
        """This process."""
        pid = os.getpid()
        return cls(socket.gethostname(), pid, _own_start(pid))

    def to_text(self) -> str:
        """The stored form."""
        return orjson.dumps([self.host, self.pid, self.started]).decode()

    @classmethod
    def from_text(cls, text: str) -> Owner:
        """Read the stored form."""
        try:
            host, pid, started = orjson.loads(text)
            return cls(str(host), int(pid), str(started))
        except (
            ValueError,
            TypeError,
        ):  # damaged: the heartbeat alone tells whether somebody works on the run
            return cls("", 0, "")

    def alive(self, heartbeat: float | None) -> bool:
        """Whether the process still runs. The kernel knows on this host, the heartbeat on others."""
        if self.host == socket.gethostname():
            own = self.pid == os.getpid()
            return self.started == (_own_start if own else _process_started)(self.pid)
        return heartbeat is not None and time.time() - heartbeat < Owner.dead_after_s


_BEGAN: dict[tuple[str, int], tuple[float, float]] = {}


def begin_run(store: str, run_id: int) -> None:
    """Note that this process starts or resumes a run of that store now. Both clocks are read together: what happens between two
    readings would be missing from the end of the run."""
    _BEGAN[store, run_id] = time.time(), _steady()


def end_of_run(store: str, run_id: int) -> float:
    """The end time of a run that ends now. If this process started it, the monotonic clock gives the duration, because
    a jump of the wall clock would turn minutes into days."""
    began = _BEGAN.pop((store, run_id), None)
    return time.time() if began is None else began[0] + _steady() - began[1]


def _steady() -> float:
    """Seconds on a monotonic clock, where possible one that also counts while the machine sleeps."""
    clock: int | None = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@lru_cache(maxsize=1)  # asked whenever a run is read; a fork has another pid
def _own_start(pid: int) -> str:
    return _process_started(pid)


def _process_started(pid: int) -> str:
    """A text that stays the same while that process lives; empty if it does not live."""
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
    try:  # no /proc (macOS): only whether it is alive is known
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except PermissionError:
        pass
    return "unknown"


_HELD: set[str] = set()


def new_lease(run_id: int) -> Lease:
    """A new lease, held by this process."""
    lease = Lease(run_id, os.urandom(8).hex())
    _HELD.add(lease.token)
    return lease


def hold(lease: Lease) -> Lease:
    """Accept a lease from another process."""
    _HELD.add(lease.token)
    return lease


def let_go(lease: Lease) -> None:
    """Note that this process no longer writes with that lease."""
    _HELD.discard(lease.token)


def live_owner(owner: str | None, heartbeat: float | None, token: str | None) -> Owner | None:
    """The process that executes a run, if it is alive."""
    if not owner:
        return None
    process = Owner.from_text(owner)
    if process == Owner.here():
        return process if token is None or token in _HELD else None
    return process if process.alive(heartbeat) else None


def lost_lease(run_id: int, owner: str | None, status: str | None) -> RunOwnedError:
    """The error for a writer that has lost its lease."""
    if owner:
        process = Owner.from_text(owner)
        now = f"process {process.pid} on {process.host} has taken it over"
    else:
        now = f"it was ended by another process ({status or 'deleted'})"
    return RunOwnedError(
        f"run {run_id} is no longer this process's: {now}. Nothing more is recorded from here."
    )
