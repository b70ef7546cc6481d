"""Leases and the working time of runs, for all writers."""

from __future__ import annotations

from benchwright.store._driver import Connection
from benchwright.store._owner import Lease, begin_run, lost_lease


def check_lease(connection: Connection, lease: Lease) -> None:
    """Raise `RunOwnedError` for a run that another process has taken over or ended."""
    held = "SELECT 1 FROM runs WHERE lease = ? AND id = ?"  # answered from an index alone
    if connection.execute(held, (lease.token, lease.run_id)).fetchone() is not None:
        return
    row = connection.execute("SELECT lease, owner, status FROM runs WHERE id = ?", (lease.run_id,)).fetchone()
    if row is None or row[0] != lease.token:
        raise lost_lease(lease.run_id, row and row[1], row and row[2])


def begin_work(connection: Connection, run_id: int, now: float) -> None:
    """Note that this process begins to work on a run, or continues a start that was handed over to it."""
    begin_run(connection.place, run_id)
    connection.execute(
        "UPDATE runs SET began = coalesce(began, ?), worked = coalesce(worked, 0) WHERE id = ?", (now, run_id)
    )


def end_work(connection: Connection, run_id: int, end: float | None) -> None:
    """Add the seconds of the last start, if it is open, to those of earlier ones.

    Without an `end` the process died, and the start counts up to its last sign of life. A run that was read from its folder
    has only the time of its creation, which counts as its only start.
    """
    row = connection.execute(
        "SELECT began, worked, created_at, finished_at FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return
    began, worked, created, finished = row
    if began is None:
        if worked is not None:
            return
        began, end = created, finished
    if end is None:
        end = _last_sign(connection, run_id)
    connection.execute(
        "UPDATE runs SET began = NULL, worked = ? WHERE id = ?",
        ((worked or 0.0) + max(0.0, end - began), run_id),
    )


def _last_sign(connection: Connection, run_id: int) -> float:
    """Wall clock of the last heartbeat or record, whichever is later."""
    found = connection.execute(
        "SELECT (SELECT heartbeat FROM runs WHERE id = ?),"
        " (SELECT finished_at FROM steps WHERE rowid = (SELECT max(rowid) FROM steps WHERE run_id = ?)),"
        " (SELECT max(coalesce(finished_at, started_at)) FROM workflow_steps WHERE run_id = ?)",
        (run_id,) * 3,
    ).fetchone()
    return max((time for time in found if time is not None), default=0.0)
