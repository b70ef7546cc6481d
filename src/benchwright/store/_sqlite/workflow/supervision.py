"""What the starter of a workflow's process may do to its run: keep it alive, correct its end, cancel it, change its input."""

from __future__ import annotations

import time

from benchwright.core import JsonValue, RunStatus
from benchwright.store._owner import Owner
from benchwright.store._sqlite.connected import check_lease
from benchwright.store._sqlite.runs import Runs
from benchwright.store._sqlite.steps import lower_marks
from benchwright.store._sqlite.workflow.statements import EventRow, close_run, put_events, restore_events
from benchwright.store._texts import storable_input, storable_message
from benchwright.store._workflow.leases import let_go, live_owner
from benchwright.store._workflow.records import Lease


class WorkflowSupervision(Runs):
    """For whoever started the process that executes a run."""

    def run_owner(self, run_id: int) -> Owner | None:
        """The live process that executes a run of either kind."""
        row = self._connection.execute(
            "SELECT owner, heartbeat, lease FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise self._no_such_run(str(run_id))
        return live_owner(*row)

    def beat_workflow(self, lease: Lease) -> bool:
        """A sign of life; whether the run is still under this lease."""
        found = self._connection.execute(
            "UPDATE runs SET heartbeat = ? WHERE id = ? AND lease = ?",
            (time.time(), lease.run_id, lease.token),
        )
        return found.rowcount > 0

    def conclude_workflow(self, lease: Lease, status: RunStatus, *, error: str | None = None) -> None:
        """How the run ended, as its process's exit tells. Corrects what the process itself recorded.

        A run that somebody else has taken over meanwhile, or canceled, is left alone.
        """
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction() as connection:
                row = connection.execute(
                    "SELECT status, lease FROM runs WHERE id = ?", (lease.run_id,)
                ).fetchone()
                if row is None or row[1] not in (None, lease.token) or row[0] == "canceled":
                    return
                if row[1] == lease.token:
                    restore_events(connection, lease.run_id)
                    close_run(connection, lease.run_id, status, None, error)
                elif row[0] != status:
                    connection.execute(
                        "UPDATE runs SET status = ?, error = ? WHERE id = ?",
                        (status, storable_message(error), lease.run_id),
                    )
                    event = EventRow(
                        lease.run_id,
                        None,
                        f"run.{status}",
                        storable_message(error or status),
                        None,
                        time.time(),
                    )
                    put_events(connection, [event])
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")
        let_go(lease)

    def cancel_workflow(self, run_id: int, why: str) -> None:
        """End a run as `canceled`, whoever executes it: that process can record nothing more."""
        with self._transaction() as connection:
            restore_events(connection, run_id)
            close_run(connection, run_id, "canceled", None, why)

    def change_workflow_input(self, lease: Lease, value: JsonValue) -> None:
        """A resumed run goes on with another input, because its starter wants so."""
        with self._transaction() as connection:
            check_lease(connection, lease)
            connection.execute(
                "UPDATE runs SET input = ? WHERE id = ?", (storable_input(value), lease.run_id)
            )

    def remove_run(self, run_id: int) -> None:
        """Delete a run's record with everything recorded under it, for good."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM reply_index WHERE step IN (SELECT rowid FROM steps WHERE run_id = ?)", (run_id,)
            )
            for table in ("steps", "events", "metrics", "workflow_steps", "sample_index", "sample_metrics"):
                connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
            lower_marks(connection)
            connection.execute(
                "INSERT INTO marks VALUES ('removed_run', ?)"
                " ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value)",
                (run_id,),
            )
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
