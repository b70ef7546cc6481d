"""The life of runs: creates, claims, starts, hands over, ends and removes them, never for two processes at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from benchwright.core import (
    JsonObject,
    JsonValue,
    RunKind,
    RunOwnedError,
    RunProgress,
    RunStatus,
    StepValues,
    encode_json,
    normalise_name,
)
from benchwright.store._driver import Connection
from benchwright.store._owner import Lease, Owner, end_of_run, hold, let_go, live_owner
from benchwright.store._places import kept_path, kept_settings
from benchwright.store._records import (
    RunRecord,
    checked_input,
    encoded_progress,
    storable,
    storable_input,
    storable_json,
    storable_message,
    storable_settings,
)
from benchwright.store._statements.leases import begin_work, end_work
from benchwright.store._statements.marks import lower_marks
from benchwright.store._statements.run_lists import RunLists
from benchwright.store._statements.workflow_samples import ROWS
from benchwright.store._statements.workflow_statements import (
    close_run,
    has_steps,
    interrupt_steps,
    restore_events,
)

_ADD_STEP = (
    "INSERT INTO steps (run_id, key, input_hash, input, output, reusable, started_at, finished_at,"
    " call_hash, call_input, call_output) VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (run_id, key) DO NOTHING"
)
_OF_RUNS = ("steps", "events", "metrics", "workflow_steps", "sample_index", "sample_metrics", "trials")
"""Tables with rows of runs. Labels are of rows, and stay."""


class Runs(RunLists):
    """Writes the table of runs and their audit trail.

    This store remembers the leases of the runs that it created or claimed, and checks them whenever it writes to one of
    these runs.
    """

    def create_run(
        self,
        *,
        name: str,
        target: str,
        model: str = "",
        folder: Path | None = None,
        settings: JsonObject | None = None,
        manifest: JsonObject | None = None,
        status: RunStatus = "running",
        kind: str = RunKind.BENCHMARK,
        input_json: bytes | None = None,
        tags: JsonObject | None = None,
        message: str | None = None,
    ) -> RunRecord:
        """Record a new run, owned by this process. Work on a queued run begins with `start_run`."""
        now = time.time()
        root = self.workspace.root
        with self._transaction() as connection:
            run_id = self._next_run()
            connection.execute(
                "INSERT INTO runs (id, kind, name, target, model, status, folder, settings, manifest, owner, heartbeat,"
                " created_at, input, tags, worked) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,0)",
                (run_id, str(kind), storable(name), storable(target), storable(model), status, "",
                 storable_settings(kept_settings(settings or {}, root)), encode_json(manifest or {}),
                 Owner.here().to_text(), now, now, None if input_json is None else checked_input(input_json),
                 None if not tags else storable_settings(tags)),
            )  # fmt: skip
            if status != "queued":
                begin_work(connection, run_id, now)
            place = folder or self.workspace.run_folder(
                run_id, normalise_name(name, any_script=True) or str(kind)
            )
            kept = kept_path(place, root)
            self._refuse_shared(run_id, kept)
            connection.execute(
                "UPDATE runs SET folder = ?, lease = ? WHERE id = ?",
                (kept, self._new_lease(run_id).token, run_id),
            )
            self._event(run_id, "run.started", message or f"started on {target}")
        return self.run(run_id)

    def claim_run(
        self,
        run_id: int,
        *,
        check: Callable[[RunRecord], None] | None = None,
        token: str | None = None,
        force: bool = False,
        start: bool = False,
        data: JsonValue = None,
    ) -> RunRecord:
        """Become the owner of an existing run, unless a live process owns it and is not forced out; or, with its `token`, because
        it was handed over.

        Each claim writes a new lease, so that the former owner can record nothing more, and its open steps become
        `interrupted`. A claim is not a start: without `start`, the run keeps its end and its duration until `start_run`.
        """
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT owner, heartbeat, lease, folder FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            if row is None:
                raise self._no_such_run(str(run_id))
            if check is not None:
                check(self._recorded_run(run_id))
            *held, folder = row
            now = time.time()
            if token is not None and token == held[2]:
                self._let_go(run_id)
                lease = self._leases[run_id] = hold(Lease(run_id, token))
            else:
                owner = live_owner(*held)
                if owner is not None and not force:
                    raise RunOwnedError(
                        f"run {run_id} is being executed by process {owner.pid} on {owner.host}. "
                        f"Wait for it, or stop it first (kill -INT {owner.pid})."
                    )
                self._refuse_shared(run_id, folder)
                lease = self._new_lease(run_id)
                forced = "" if owner is None else "taken over by force"
                end_work(connection, run_id, None)
                if has_steps(connection, run_id):
                    restore_events(connection, run_id)
                    interrupt_steps(connection, run_id, forced or "its process died", now)
                self._event(run_id, "run.resumed", forced or "resumed", data)
                if start:
                    connection.execute("UPDATE runs SET starts = starts + 1 WHERE id = ?", (run_id,))
            if start:
                begin_work(connection, run_id, now)
                connection.execute("UPDATE runs SET finished_at = NULL WHERE id = ?", (run_id,))
            connection.execute(
                "UPDATE runs SET status = 'running', owner = ?, heartbeat = ?, lease = ?, error = NULL WHERE id = ?",
                (Owner.here().to_text(), now, lease.token, run_id),
            )
        return self.run(run_id)

    def start_run(self, run_id: int, manifest: JsonObject | None = None) -> RunRecord:
        """Begin to work on a run. The time of a queued run counts from here; one that was started before counts one start more."""
        now = time.time()
        with self._transaction() as connection:
            self._check_held(run_id)
            row = connection.execute("SELECT status FROM runs WHERE id = ?", (run_id,)).fetchone()
            if row is not None and row[0] == "queued":
                connection.execute(
                    "UPDATE runs SET status = 'running', created_at = ?, finished_at = NULL WHERE id = ?",
                    (now, run_id),
                )
            else:
                connection.execute(
                    "UPDATE runs SET starts = starts + 1, finished_at = NULL WHERE id = ?", (run_id,)
                )
            if manifest is not None:
                connection.execute(
                    "UPDATE runs SET manifest = ? WHERE id = ?", (encode_json(manifest), run_id)
                )
            begin_work(connection, run_id, now)
        return self.run(run_id)

    def beat(self, run_id: int, progress: RunProgress | None = None) -> bool:
        """Show that the owner is alive, and how far it has come. Returns whether the run is still this store's. A run that was taken over gets
        no heartbeat; its next record is refused. A database that is away gets none either, and is not waited for."""
        lease = self._leases.get(run_id)
        if lease is None:
            return False
        connection = self._beats()
        try:
            found = connection.execute(
                "UPDATE runs SET heartbeat = ?, progress = coalesce(?, progress) WHERE id = ? AND lease = ?",
                (time.time(), encoded_progress(progress), run_id, lease.token),
            )
        except connection.errors as error:
            if connection.is_away(error):
                return True
            raise connection.not_written(error) from error
        return bool(found.rowcount > 0)

    def update_run(
        self,
        run_id: int,
        *,
        settings: JsonObject | None = None,
        manifest: JsonObject | None = None,
        summary: JsonObject | None = None,
        status: RunStatus | None = None,
        error: str | None = None,
        input_value: JsonValue = None,
        output: bytes | None = None,
        event: tuple[str, str] | None = None,
    ) -> None:
        """Replace what is given, and add an event, given as its kind and its message."""
        with self._transaction() as connection:
            self._check_held(run_id)
            changes: dict[str, object] = {}
            if settings is not None:
                changes["settings"] = encode_json(kept_settings(settings, self.workspace.root))
            if manifest is not None:
                changes["manifest"] = encode_json(manifest)
            if summary is not None:
                changes["summary"] = storable_json(encode_json(summary))
            if status is not None:
                changes["status"] = status
            if error is not None:
                changes["error"] = storable_message(error)
            if input_value is not None:
                changes["input"] = storable_input(input_value)
            if output is not None:
                changes["output"] = storable_json(output)
            if changes:
                assigned = ", ".join(f"{column} = ?" for column in changes)
                connection.execute(f"UPDATE runs SET {assigned} WHERE id = ?", (*changes.values(), run_id))
            if event is not None:
                self._event(run_id, *event)

    def relabel_run(
        self,
        run_id: int,
        *,
        name: str | None = None,
        tags: JsonObject | None = None,
        verdict: JsonObject | None = None,
    ) -> None:
        """Give a run, whoever owns it, another name, other tags or the verdict of a gate, and record what it was called before."""
        with self._transaction() as connection:
            before = self._recorded_run(run_id).name
            if tags is not None:
                kept = storable_settings(tags) if tags else None
                connection.execute("UPDATE runs SET tags = ? WHERE id = ?", (kept, run_id))
                self._event(run_id, "run.tagged", ", ".join(f"{key}={value}" for key, value in tags.items()))
            if name is not None:
                connection.execute("UPDATE runs SET name = ? WHERE id = ?", (storable(name), run_id))
                self._event(run_id, "run.renamed", f"from {before} to {name}", {"from": before, "to": name})
            if verdict is not None:
                self._event(run_id, "run.judged", f"{verdict['verdict']} by {verdict['policy']}", verdict)

    def record_end(self, run_id: int, summary: JsonObject) -> RunRecord:
        """Record the end and the figures of a run that this store owns, without its status and without releasing it."""
        with self._transaction() as connection:
            self._check_held(run_id)
            end = end_of_run(connection.place, run_id)
            end_work(connection, run_id, end)
            connection.execute(
                "UPDATE runs SET summary = ?, finished_at = coalesce(finished_at, ?) WHERE id = ?",
                (storable_json(encode_json(summary)), end, run_id),
            )
        return self.run(run_id)

    def keep_overview(self, run: RunRecord, found: JsonObject) -> None:
        """Keep what was found in all samples of a run that has ended. A later end makes it void."""
        if run.finished_at is not None and not self._read_only:
            kept = encode_json({"finished_at": run.finished_at, **found})
            with self._transaction() as connection:
                connection.execute("UPDATE runs SET overview = ? WHERE id = ?", (kept, run.id))

    def finish_run(
        self, run_id: int, status: RunStatus, *, summary: JsonObject | None, error: str | None = None
    ) -> None:
        """End a run: write status and numbers and release ownership in one transaction, synced to disk.

        Raises `RunOwnedError` if it was taken over, or if this store never owned it and a live process does.
        """
        with self._transaction(durable=True) as connection:
            end = end_of_run(connection.place, run_id)
            if run_id in self._leases:
                self._check_held(run_id)
                end_work(connection, run_id, end)
                finished = "coalesce(finished_at, ?)"  # one that was claimed and not restarted keeps its end
            else:
                self._refuse_owned(run_id)
                end_work(connection, run_id, None)
                finished = "?"
            connection.execute(
                f"UPDATE runs SET status = ?, summary = ?, error = ?, finished_at = {finished}, owner = NULL,"
                " lease = NULL WHERE id = ?",
                (
                    status,
                    None if summary is None else storable_json(encode_json(summary)),
                    storable_message(error),
                    end,
                    run_id,
                ),
            )
            self._event(run_id, "run.finished" if status == "completed" else "run.stopped", error or status)
        self._let_go(run_id)

    def conclude_run(
        self, run_id: int, status: RunStatus, *, error: str | None = None, whoever_owns_it: bool = False
    ) -> None:
        """End a run with the figures of its recorded steps, and correct the status that its process recorded meanwhile."""
        lease = self._leases.get(run_id)
        with self._transaction(durable=True) as connection:
            row = connection.execute("SELECT status, lease FROM runs WHERE id = ?", (run_id,)).fetchone()
            if whoever_owns_it or (row is not None and lease is not None and row[1] == lease.token):
                restore_events(connection, run_id)
                close_run(connection, run_id, status, None, error)
            elif row is None or row[1] is not None or row[0] == "canceled":
                return
            elif row[0] != status:
                connection.execute(
                    "UPDATE runs SET status = ?, error = ? WHERE id = ?",
                    (status, storable_message(error), run_id),
                )
                self._event(run_id, f"run.{status}", error or status)
        self._let_go(run_id)

    def release_run(self, run_id: int) -> None:
        """Give up a run. If it has not ended, it now counts as interrupted, and any process may resume it."""
        lease = self._leases.get(run_id)
        if lease is None:
            return
        self._let_go(run_id)
        with suppress(
            *self._connection.errors
        ):  # if the disk is full, the end of this process will free the run
            self._connection.execute(
                "UPDATE runs SET owner = NULL WHERE id = ? AND lease = ? AND owner = ?",
                (run_id, lease.token, Owner.here().to_text()),
            )

    def interrupt_dead(self, kind: str) -> list[int]:
        """Mark runs whose process died as `interrupted`, with their open steps. Returns their numbers.

        Readers see such runs as interrupted anyway; a server does this when it starts, so that the record says so.
        """
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT id, owner, heartbeat, lease FROM runs WHERE kind = ?"
                " AND status IN ('queued', 'running') ORDER BY id",
                (str(kind),),
            ).fetchall()
            dead = [run_id for run_id, *who in rows if live_owner(*who) is None]
            for run_id in dead:
                restore_events(connection, run_id)
                close_run(connection, run_id, "interrupted", None, "its process died", died=True)
        return dead

    def restore_run(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record a run that was read from its folder, or steps that it has lost; those that it still has are left alone, because
        they are more than the files hold."""
        with self._transaction() as connection:
            known = connection.execute("SELECT 1 FROM runs WHERE id = ?", (run.id,)).fetchone() is not None
            if not known:
                self._adopt(connection, run)
            read = added = 0
            for step in steps:
                added += connection.execute(_ADD_STEP, (run.id, *step)).rowcount
                read += 1
            if not known:
                self._event(run.id, "run.adopted", f"read from {run.folder.name}; its record was lost")
            elif added:
                self._event(run.id, "run.restored", f"{added:,} lost records read from {run.folder.name}")
        return added if known else read

    def _adopt(self, connection: Connection, run: RunRecord) -> None:
        root = self.workspace.root
        connection.execute(
            "INSERT INTO runs (kind, id, name, target, model, status, folder, settings, manifest, summary, error,"
            " created_at, finished_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (str(run.kind), run.id, run.name, storable(run.target), storable(run.model), run.status,
             kept_path(run.folder, root), encode_json(kept_settings(run.settings, root)), encode_json(run.manifest),
             None if run.summary is None else encode_json(run.summary), run.error, run.created_at, run.finished_at),
        )  # fmt: skip

    def remove_run(self, run_id: int, *, number_is_free: bool = False) -> None:
        """Delete a run's record with everything recorded under it, for good. Its number is not given out again, because users may
        have noted it, unless the run never started."""
        with self._transaction() as connection:
            connection.execute(
                "DELETE FROM reply_index WHERE step IN (SELECT rowid FROM steps WHERE run_id = ?)", (run_id,)
            )
            for table in _OF_RUNS:
                connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
            lower_marks(connection)
            connection.execute(
                "DELETE FROM marks WHERE name >= ? AND name < ?", (f"{ROWS}{run_id}/", f"{ROWS}{run_id}0")
            )
            if not number_is_free:
                connection.execute(
                    "INSERT INTO marks VALUES ('removed_run', ?)"
                    " ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE excluded.value > marks.value",
                    (run_id,),
                )
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        self._let_go(run_id)

    def _refuse_shared(self, run_id: int, folder: str) -> None:
        """Raise if a live run writes to the same folder, because it would mix the files of both."""
        found = self._connection.execute(
            "SELECT id, owner, heartbeat, lease FROM runs WHERE folder = ? AND id != ? AND owner IS NOT NULL",
            (folder, run_id),
        ).fetchall()
        for other, *held in found:
            owner = live_owner(*held)
            if owner is not None:
                raise RunOwnedError(
                    f"run {other}, which process {owner.pid} on {owner.host} executes, writes its files into {self.run(run_id).folder}. Wait "
                    "for it, or choose another --output-dir"
                )

    def _refuse_owned(self, run_id: int) -> None:
        row = self._connection.execute(
            "SELECT owner, heartbeat, lease FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        owner = None if row is None else live_owner(*row)
        if owner is not None:
            raise RunOwnedError(f"run {run_id} is being executed by process {owner.pid} on {owner.host}.")

    def _event(self, run_id: int, kind: str, message: str, data: JsonValue = None) -> None:
        facts = None if data is None else storable_input(data)
        self._connection.execute(
            "INSERT INTO events (run_id, kind, message, created_at, data) VALUES (?,?,?,?,?)",
            (run_id, kind, storable_message(message), time.time(), facts),
        )

    def close(self) -> None:
        """Close the database, and let go of runs that were not finished."""
        for lease in self._leases.values():
            let_go(lease)
        super().close()
