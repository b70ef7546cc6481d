"""How long processes worked on a run: the seconds of all of its starts, without the time in between."""

from __future__ import annotations

import sqlite3

from benchwright.store._owner import begin_run
from benchwright.store._sqlite.database import database_of


def begin_work(connection: sqlite3.Connection, run_id: int, now: float) -> None:
    """This process begins to work on a run, or takes up a start that was handed over to it."""
    begin_run(database_of(connection), run_id, now)
    connection.execute(
        "UPDATE runs SET began = coalesce(began, ?), worked = coalesce(worked, 0) WHERE id = ?", (now, run_id)
    )


def end_work(connection: sqlite3.Connection, run_id: int, end: float | None) -> None:
    """Add the seconds of the last start, if it is open, to those of earlier ones.

    Without an `end` its process died: the start then counts up to its last sign of life. Runs that older versions
    recorded have only the time of their creation, which counts as that of their only start.
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


def _last_sign(connection: sqlite3.Connection, run_id: int) -> float:
    """Wall clock of the last heartbeat or record, whichever is later."""
    found = connection.execute(
        "SELECT (SELECT heartbeat FROM runs WHERE id = :run),"
        " (SELECT finished_at FROM steps WHERE rowid = (SELECT max(rowid) FROM steps WHERE run_id = :run)),"
        " (SELECT max(coalesce(finished_at, started_at)) FROM workflow_steps WHERE run_id = :run)",
        {"run": run_id},
    ).fetchone()
    return max((time for time in found if time is not None), default=0.0)
