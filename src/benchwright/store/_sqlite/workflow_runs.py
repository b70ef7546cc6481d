"""The life of workflow runs: creates, claims, hands over and ends them, never for two processes at once."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress

import orjson

from benchwright.core import (
    RUN_STATUSES,
    JsonObject,
    JsonValue,
    RunKind,
    RunOwnedError,
    RunStatus,
    encode_json,
    kind_title,
    known_run_status,
    normalise_name,
)
from benchwright.store._owner import Owner, hold, let_go, live_owner, new_lease, this_process
from benchwright.store._places import kept_path, kept_settings
from benchwright.store._records import (
    checked_input,
    storable,
    storable_input,
    storable_message,
    storable_settings,
)
from benchwright.store._sqlite.database import begin_work, check_lease, end_work
from benchwright.store._sqlite.runs import Runs
from benchwright.store._sqlite.steps import lower_marks
from benchwright.store._sqlite.workflow_statements import (
    EventRow,
    close_run,
    interrupt_steps,
    put_events,
    restore_events,
)
from benchwright.store._workflow_records import Lease, RunClosedError


class WorkflowRuns(Runs):
    """The life of workflow runs. They are read like all runs."""

    def create_workflow(
        self,
        name: str,
        *,
        input_json: bytes | None = None,
        settings: JsonObject | None = None,
        manifest: JsonObject | None = None,
        target: str = "",
        tags: JsonObject | None = None,
        status: RunStatus = "running",
    ) -> Lease:
        """Record a new run, owned by this process. `queued` is for a run that another process will execute."""
        now = time.time()
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (id, kind, name, target, model, status, folder, settings, manifest, owner,"
                " heartbeat, created_at, input, tags, worked)"
                " VALUES (?,?,?,?,'',?,'',?,?,?,?,?,?,?,0)",
                (self._next_run(), RunKind.WORKFLOW.value, storable(name), storable(target or name), status, storable_settings(kept_settings(settings or {}, self.workspace.root)),
                 encode_json(manifest or {}), this_process().to_text(), now, now,
                 None if input_json is None else checked_input(input_json), None if not tags else storable_settings(tags)),
            )  # fmt: skip
            lease = new_lease(int(cursor.lastrowid or 0))
            begin_work(connection, lease.run_id, now)
            folder = self.workspace.run_folder(lease.run_id, normalise_name(name) or "workflow")
            connection.execute(
                "UPDATE runs SET folder = ?, lease = ? WHERE id = ?",
                (kept_path(folder, self.workspace.root), lease.token, lease.run_id),
            )
            put_events(connection, [EventRow(lease.run_id, None, "run.started", storable(name), None, now)])
        return lease

    def claim_workflow(
        self, run_id: int, *, token: str | None = None, force: bool = False, data: JsonValue = None
    ) -> Lease:
        """Become the owner of an existing run, to resume it or, with its `token`, because it was handed over.

        Raises `RunOwnedError` (exit 5) while a live process owns it, unless forced; that process can then record nothing more.
        Raises `RunClosedError` for a completed run. Open steps of a former owner become `interrupted`.
        """
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT owner, heartbeat, lease, status, kind, settings FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            if row is None:
                raise self._no_such_run(str(run_id))
            owner_text, heartbeat, held, status, kind, settings = row
            if kind != RunKind.WORKFLOW:
                raise RunClosedError(
                    f"run {run_id} is not a workflow but {kind_title(kind)}. Resume it with: benchwright resume {run_id}"
                )
            if status == "completed":
                raise RunClosedError(f"run {run_id} is complete. See: benchwright show {run_id}")
            if orjson.loads(settings).get("adopted"):
                raise RunClosedError(
                    f"run {run_id} cannot be resumed: its record was lost, and its folder holds neither input nor steps. "
                    "Start it again"
                )
            now = time.time()
            if token is not None and token == held:
                lease = hold(Lease(run_id, token))
            else:
                owner = live_owner(owner_text, heartbeat, held)
                if owner is not None and not force:
                    raise RunOwnedError(
                        f"run {run_id} is being executed by process {owner.pid} on {owner.host}. "
                        f"Wait for it, or stop it first (kill -INT {owner.pid})."
                    )
                lease = new_lease(run_id)
                why = "taken over by force" if owner is not None else "its process died"
                end_work(connection, run_id, None)
                restore_events(connection, run_id)
                interrupt_steps(connection, run_id, why, now)
                message = "taken over by force" if owner is not None else "resumed"
                event = EventRow(run_id, None, "run.resumed", message, _json(data), now)
                put_events(connection, [event])
                connection.execute("UPDATE runs SET starts = starts + 1 WHERE id = ?", (run_id,))
            begin_work(connection, run_id, now)
            connection.execute(
                "UPDATE runs SET status = 'running', owner = ?, heartbeat = ?, lease = ?, finished_at = NULL,"
                " error = NULL WHERE id = ?",
                (this_process().to_text(), now, lease.token, run_id),
            )
        return lease

    def finish_workflow(
        self, lease: Lease, status: RunStatus, *, output: bytes | None = None, error: str | None = None
    ) -> None:
        """End a run: write open steps, status, output and numbers and release it in one transaction, synced to disk.

        Ending it again with the same status changes nothing; another status is refused.
        """
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction() as connection:
                row = connection.execute(
                    "SELECT status, lease FROM runs WHERE id = ?", (lease.run_id,)
                ).fetchone()
                if row is not None and row[1] is None and row[0] == status:
                    return
                if (
                    row is not None
                    and row[1] is None
                    and RUN_STATUSES[known_run_status(row[0], lease.run_id)].final
                ):
                    raise RunClosedError(f"run {lease.run_id} has ended already ({row[0]})")
                check_lease(connection, lease)
                close_run(connection, lease.run_id, status, output, error)
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")
        let_go(lease)

    def release_workflow(self, lease: Lease) -> None:
        """Give up the lease. A run that has not ended now counts as interrupted, and any process may resume it."""
        let_go(lease)
        with suppress(sqlite3.Error):  # if the disk is full, the end of this process will free the run
            self._connection.execute(
                "UPDATE runs SET owner = NULL WHERE id = ? AND lease = ? AND owner = ?",
                (lease.run_id, lease.token, this_process().to_text()),
            )

    def set_workflow_output(self, lease: Lease, output: bytes) -> None:
        """Record the result of the handler; the run continues."""
        with self._transaction() as connection:
            check_lease(connection, lease)
            connection.execute("UPDATE runs SET output = ? WHERE id = ?", (output, lease.run_id))

    def interrupt_dead_workflows(self) -> list[int]:
        """Mark workflow runs whose process died as `interrupted`, with their open steps. Returns their numbers.

        Readers see such runs as interrupted anyway; a server does this when it starts, so that the record says so.
        """
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT id, owner, heartbeat, lease FROM runs WHERE kind = ?"
                " AND status IN ('queued', 'running') ORDER BY id",
                (RunKind.WORKFLOW.value,),
            ).fetchall()
            dead = [run_id for run_id, *who in rows if live_owner(*who) is None]
            for run_id in dead:
                restore_events(connection, run_id)
                close_run(connection, run_id, "interrupted", None, "its process died", died=True)
        return dead


def _json(value: JsonValue) -> bytes | None:
    return None if value is None else storable_input(value)


class WorkflowSupervision(Runs):
    """For a process that started the process of a run."""

    def run_owner(self, run_id: int) -> Owner | None:
        """The live process that executes a run of either kind."""
        row = self._connection.execute(
            "SELECT owner, heartbeat, lease FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        if row is None:
            raise self._no_such_run(str(run_id))
        return live_owner(*row)

    def beat_workflow(self, lease: Lease) -> bool:
        """Show that the owner is alive. Returns whether the run is still under this lease."""
        found = self._connection.execute(
            "UPDATE runs SET heartbeat = ? WHERE id = ? AND lease = ?",
            (time.time(), lease.run_id, lease.token),
        )
        return found.rowcount > 0

    def conclude_workflow(self, lease: Lease, status: RunStatus, *, error: str | None = None) -> None:
        """Record how the run ended, by the exit of its process. This corrects what the process itself recorded.

        A run that another process has taken over or canceled meanwhile is left alone.
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
        """End a run as `canceled`. The process that executes it can record nothing more."""
        with self._transaction() as connection:
            restore_events(connection, run_id)
            close_run(connection, run_id, "canceled", None, why)

    def change_workflow_input(self, lease: Lease, value: JsonValue) -> None:
        """Replace the input of a resumed run."""
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
