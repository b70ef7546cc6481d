"""Which leases this process holds. A run whose owner is this process, but whose lease nobody here holds any more, is free."""

from __future__ import annotations

import secrets

from benchwright.core import RunOwnedError
from benchwright.store._owner import Owner, this_process
from benchwright.store._workflow.records import Lease

_HELD: set[str] = set()


def new_lease(run_id: int) -> Lease:
    """A lease that nobody else has."""
    lease = Lease(run_id, secrets.token_hex(8))
    _HELD.add(lease.token)
    return lease


def hold(lease: Lease) -> Lease:
    """Take up a lease that was handed over by another process."""
    _HELD.add(lease.token)
    return lease


def let_go(lease: Lease) -> None:
    """This process writes no more with that lease."""
    _HELD.discard(lease.token)


def live_owner(owner: str | None, heartbeat: float | None, token: str | None) -> Owner | None:
    """The process that executes a run, if it is alive."""
    if not owner:
        return None
    process = Owner.from_text(owner)
    if process == this_process():
        return process if token is None or token in _HELD else None
    return process if process.alive(heartbeat) else None


def lost_lease(run_id: int, owner: str | None, status: str | None) -> RunOwnedError:
    """Why a writer is no longer wanted."""
    if owner:
        process = Owner.from_text(owner)
        now = f"process {process.pid} on {process.host} has taken it over"
    else:
        now = f"it has been ended by somebody else ({status or 'deleted'})"
    return RunOwnedError(
        f"run {run_id} is no longer this process's: {now}. Nothing more is recorded from here."
    )
