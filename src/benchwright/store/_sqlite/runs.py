"""The life of runs: creates, claims, resumes, finishes and finds them."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import orjson
from msgspec.structs import replace

from benchwright.core import (
    RUN_STATUSES,
    JsonObject,
    NotFoundError,
    RunKind,
    RunOwnedError,
    RunStatus,
    StepValues,
    UsageError,
    encode_json,
    expand_home,
    kind_title,
    known_run_status,
    suggest,
)
from benchwright.store._owner import Owner, end_of_run, let_go, live_owner, new_lease, this_process
from benchwright.store._places import folder_here, kept_path, kept_settings, settings_here
from benchwright.store._records import (
    EVENT_COLUMNS,
    Event,
    RunRecord,
    event_of,
    load_json,
    storable,
    storable_json,
    storable_message,
    storable_settings,
)
from benchwright.store._sqlite.database import Connected, begin_work, check_lease, database_of, end_work
from benchwright.store._workflow_records import Lease
from benchwright.store._workspace import Workspace

_RUN_COLUMNS = (
    "id, name, target, model, status, folder, settings, manifest, summary, error, created_at, finished_at,"
    " owner, heartbeat, kind, input, output, tags, starts, worked"
)


_STEP_VALUES = (
    "INTO steps (run_id, key, input_hash, input, output, reusable, started_at, finished_at,"
    " call_hash, call_input, call_output) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)


class _Counted(NamedTuple):
    """The steps that `evaluated` in the summary of a run counts."""

    step: str
    noun: str


_COUNTED: dict[str, _Counted] = {
    RunKind.BENCHMARK: _Counted("score", "samples"),
    RunKind.LOAD: _Counted("request", "requests"),
}


def _partial(run: RunRecord, lost: str) -> JsonObject:
    """The summary of a run that has lost records."""
    summary: dict[str, Any] = dict(run.summary or {})
    note = {"kind": "lost_records", "text": lost} if run.kind == RunKind.LOAD else lost
    notes = [*summary.get("notes", ())]
    return {
        **summary, "partial": True, "comparable": False, "notes": notes if note in notes else [*notes, note],
    }  # fmt: skip


def _loss(run: RunRecord) -> str:
    """The note of `_partial`."""
    note: Any = (run.summary or {})["notes"][-1]  # type: ignore[index]  # as `whole` wrote it
    return str(note["text"] if isinstance(note, dict) else note)


class Runs(Connected):
    """The table of runs and their audit trail.

    This store remembers the leases of the benchmark runs that it created or claimed, and checks them whenever it
    writes to one of these runs.
    """

    def __init__(self, workspace: Workspace, *, read_only: bool = False) -> None:
        super().__init__(workspace, read_only=read_only)
        self._leases: dict[int, Lease] = {}

    def close(self) -> None:
        """Close the database, and release runs that were not finished."""
        for lease in self._leases.values():
            let_go(lease)
        super().close()

    def create_run(
        self,
        *,
        name: str,
        target: str,
        model: str,
        folder: Path | None,
        settings: JsonObject,
        manifest: JsonObject,
        status: RunStatus = "running",
        kind: str = RunKind.BENCHMARK,
    ) -> RunRecord:
        """Record a new run, owned by this process. Work on a queued run begins with `start_run`."""
        now = time.time()
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (id, kind, name, target, model, status, folder, settings, manifest, owner, heartbeat,"
                " created_at, worked) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,0)",
                (self._next_run(), kind, name, storable(target), storable(model), status, "", storable_settings(kept_settings(settings, self.workspace.root)), encode_json(manifest),
                 this_process().to_text(), now, now),
            )  # fmt: skip
            run_id = int(cursor.lastrowid or 0)
            if status != "queued":
                begin_work(connection, run_id, now)
            place = folder if folder is not None else self.workspace.run_folder(run_id, name)
            kept = kept_path(place, self.workspace.root)
            self._refuse_shared(run_id, kept)
            connection.execute(
                "UPDATE runs SET folder = ?, lease = ? WHERE id = ?",
                (kept, self._new_lease(run_id).token, run_id),
            )
            self._event(run_id, "run.started", f"started on {target}")
        return self.run(run_id)

    def adopt_run(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record a run that was read from its folder, with its samples. Returns the number of samples."""
        count = 0
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO runs (kind, id, name, target, model, status, folder, settings, manifest, summary, error,"
                " created_at, finished_at) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)",
                (run.kind, run.id, run.name, storable(run.target), storable(run.model), run.status, kept_path(run.folder, self.workspace.root),
                 encode_json(kept_settings(run.settings, self.workspace.root)), encode_json(run.manifest),
                 None if run.summary is None else encode_json(run.summary), run.error, run.created_at,
                 run.finished_at),
            )  # fmt: skip
            for step in steps:
                # Those that are still on record are more than the files hold.
                connection.execute(f"INSERT OR IGNORE {_STEP_VALUES}", (run.id, *step))
                count += 1
            self._event(run.id, "run.adopted", f"read from {run.folder.name}; its record was lost")
        return count

    def start_run(self, run_id: int, manifest: JsonObject) -> RunRecord:
        """Turn a queued run into a running one. Its time counts from now."""
        now = time.time()
        with self._transaction() as connection:
            self._check_held(run_id)
            connection.execute(
                "UPDATE runs SET status = 'running', manifest = ?, created_at = ?, finished_at = NULL WHERE id = ?",
                (encode_json(manifest), now, run_id),
            )
            begin_work(connection, run_id, now)
        return self.run(run_id)

    def restart_run(self, run_id: int) -> RunRecord:
        """Begin to work on a claimed run once more."""
        with self._transaction() as connection:
            self._check_held(run_id)
            connection.execute(
                "UPDATE runs SET starts = starts + 1, finished_at = NULL WHERE id = ?", (run_id,)
            )
            begin_work(connection, run_id, time.time())
        return self.run(run_id)

    def delete_run(self, run_id: int) -> None:
        """Delete a run that could not start. Nothing was sent, so there is nothing to keep."""
        with self._transaction() as connection:
            for table in ("events", "metrics", "workflow_steps"):
                connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))
            connection.execute("DELETE FROM runs WHERE id = ?", (run_id,))
        self._let_go(run_id)

    def claim_run(self, run_id: int, *, force: bool = False) -> RunRecord:
        """Become the owner of an existing run, unless a live process owns it and is not forced out.

        Each claim writes a new lease, so that the former owner can record nothing more. A claim is not a start: the run keeps
        its end and its duration until `restart_run`.
        """
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT owner, heartbeat, kind, lease, folder FROM runs WHERE id = ?", (run_id,)
            ).fetchone()
            if row is None:
                raise self._no_such_run(str(run_id))
            if row[2] == RunKind.WORKFLOW:
                raise UsageError(
                    f"run {run_id} is a workflow: its own script resumes it, as in "
                    f"python my_eval.py --resume {run_id}"
                )
            if row[2] == RunKind.LOAD:
                raise UsageError(
                    f"run {run_id} is a load test, and load tests cannot be resumed. Start it again with benchwright perf"
                )
            if row[2] != RunKind.BENCHMARK:
                raise UsageError(f"run {run_id} is {kind_title(row[2])}")
            owner = live_owner(row[0], row[1], row[3])
            if owner is not None and not force:
                raise RunOwnedError(
                    f"run {run_id} is being executed by process {owner.pid} on {owner.host}. "
                    f"Wait for it, or stop it first (kill -INT {owner.pid})."
                )
            self._refuse_shared(run_id, row[4])
            end_work(connection, run_id, None)
            connection.execute(
                "UPDATE runs SET status = 'running', owner = ?, heartbeat = ?, lease = ?, error = NULL WHERE id = ?",
                (this_process().to_text(), time.time(), self._new_lease(run_id).token, run_id),
            )
            self._event(run_id, "run.resumed", "resumed")
        return self.run(run_id)

    def _refuse_shared(self, run_id: int, folder: str) -> None:
        """Raise if a live run writes to the same folder, because it would mix the files of both."""
        found = self._connection.execute(
            "SELECT id, owner, heartbeat, lease FROM runs WHERE folder = ? AND id != ? AND owner IS NOT NULL",
            (folder, run_id),
        )
        for other, *held in found:
            owner = live_owner(*held)
            if owner is not None:
                raise RunOwnedError(
                    f"run {other}, which process {owner.pid} on {owner.host} executes, writes its files into {self.run(run_id).folder}. Wait "
                    "for it, or choose another --output-dir"
                )

    def heartbeat(self, run_id: int) -> None:
        """Show other hosts that the owner is alive. A run that was taken over gets no heartbeat; its next record is refused."""
        lease = self._leases.get(run_id)
        self._connection.execute(
            "UPDATE runs SET heartbeat = ? WHERE id = ? AND (? IS NULL OR lease = ?)",
            (time.time(), run_id, lease and lease.token, lease and lease.token),
        )

    def update_manifest(self, run_id: int, manifest: JsonObject) -> None:
        """Replace the manifest, because some of it is learned only while running."""
        self._update(run_id, "manifest = ?", encode_json(manifest))

    def record_change(self, run_id: int, manifest: JsonObject, message: str) -> None:
        """Replace the manifest of a run that resumes with a changed benchmark, and add an event."""
        with self._transaction() as connection:
            self._check_held(run_id)
            connection.execute("UPDATE runs SET manifest = ? WHERE id = ?", (encode_json(manifest), run_id))
            self._event(run_id, "run.changed", message)

    def update_settings(self, run_id: int, settings: JsonObject) -> None:
        """Replace the recorded settings, because a resumed run may change budgets or parallelism."""
        self._update(run_id, "settings = ?", encode_json(kept_settings(settings, self.workspace.root)))

    def record_end(self, run_id: int, summary: JsonObject) -> RunRecord:
        """Record the end and the figures of a run that this store owns, without its status and without releasing it."""
        with self._transaction() as connection:
            self._check_held(run_id)
            end = end_of_run(database_of(connection), run_id)
            end_work(connection, run_id, end)
            connection.execute(
                "UPDATE runs SET summary = ?, finished_at = coalesce(finished_at, ?) WHERE id = ?",
                (storable_json(encode_json(summary)), end, run_id),
            )
        return self.run(run_id)

    def finish_run(
        self, run_id: int, status: RunStatus, *, summary: JsonObject | None, error: str | None = None
    ) -> None:
        """End a run: write status and numbers and release ownership in one transaction, synced to disk.

        Raises `RunOwnedError` if it was taken over, or if this store never owned it and a live process does.
        """
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction() as connection:
                end = end_of_run(database_of(connection), run_id)
                if run_id in self._leases:
                    self._check_held(run_id)
                    end_work(connection, run_id, end)
                    finished = (
                        "coalesce(finished_at, ?)"  # one that was claimed and not restarted keeps its end
                    )
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
                self._event(
                    run_id, "run.finished" if status == "completed" else "run.stopped", error or status
                )
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")
        self._let_go(run_id)

    def run(self, run_id: int) -> RunRecord:
        """One run by number."""
        found = self._select_runs("WHERE id = ?", (run_id,))
        if not found:
            raise self._no_such_run(str(run_id))
        return self.whole(found[0])

    def whole(self, run: RunRecord) -> RunRecord:
        """The run as its records allow it: a completed one that has lost samples or requests counts as interrupted, and its
        figures as partial. Everything that reads one run reads it through this; lists, which read many, call it."""
        counted, summary = _COUNTED.get(run.kind), run.summary
        if counted is None or summary is None or RUN_STATUSES[run.status].live:
            return run
        expected = summary.get("evaluated")
        (recorded,) = self._connection.execute(
            "SELECT count(*) FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
            (run.id, f"{counted.step}/", f"{counted.step}0"),
        ).fetchone()
        if not isinstance(expected, int) or recorded >= expected:
            return run
        lost = f"{expected - recorded:,} of {expected:,} {counted.noun} are missing from the records"
        found = replace(run, lost=expected - recorded, summary=_partial(run, lost))
        if run.status != "completed":
            return found
        return replace(
            found,
            status="interrupted",
            error=f"{lost}. Restore them, if its files have them, with: benchwright doctor",
        )

    def record_loss(self, run: RunRecord, cure: str) -> RunRecord:
        """Record that a run, as `whole` returns it, has lost samples that cannot be restored."""
        error = f"{_loss(run)}. {cure}"
        with self._transaction() as connection:
            connection.execute(
                "UPDATE runs SET status = ?, error = ?, summary = ? WHERE id = ?",
                (run.status, error, encode_json(run.summary), run.id),
            )
            self._event(run.id, "run.damaged", error)
        return self.run(run.id)

    def restore_steps(self, run: RunRecord, steps: Iterable[StepValues]) -> int:
        """Record steps that a run has lost, and leave alone those that it still has. Returns the number of those added."""
        added = 0
        with self._transaction() as connection:
            for step in steps:
                added += connection.execute(f"INSERT OR IGNORE {_STEP_VALUES}", (run.id, *step)).rowcount
            if added:
                self._event(run.id, "run.restored", f"{added:,} lost records read from {run.folder.name}")
        return added

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Runs, newest first. Whether their records are all there is not checked: see `whole`."""
        return self._select_runs("ORDER BY id DESC LIMIT ?", (-1 if limit is None else limit,))

    def find_run(self, target: str) -> RunRecord:
        """A run by number, by `last`, by benchmark name (its newest run), or by its folder. A folder that no longer exists
        stands for no run: who removed it wants to see results of a later one there."""
        if target.isdigit():
            return self.run(int(target))
        runs = self.runs()
        if target in ("last", "latest") and runs:
            return self.whole(runs[0])
        place = expand_home(target).resolve()
        for run in runs:
            there = (
                run.finished_at is None or place.exists()
            )  # a run that has not ended may have written nothing yet
            if target == run.name or (place == run.folder and there):
                return self.whole(run)
        gone = next((run.id for run in runs if place == run.folder), None)
        raise self._no_such_run(target, gone)

    def events(self, run_id: int) -> list[Event]:
        """The audit trail, oldest first."""
        rows = self._connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events WHERE run_id = ? ORDER BY id",
            (run_id,),
        )
        return [event_of(row) for row in rows]

    def held_lease(self, run_id: int) -> Lease:
        """The lease with which this store writes to a run. Raises `RunOwnedError` if it has none."""
        lease = self._leases.get(run_id)
        if lease is None:
            raise RunOwnedError(f"run {run_id} is not owned by this store; claim it before recording")
        return lease

    def _new_lease(self, run_id: int) -> Lease:
        self._let_go(run_id)
        lease = self._leases[run_id] = new_lease(run_id)
        return lease

    def _let_go(self, run_id: int) -> None:
        if (lease := self._leases.pop(run_id, None)) is not None:
            let_go(lease)

    def _check_held(self, run_id: int) -> None:
        """Raise `RunOwnedError` if this store owned the run and no longer does. Runs inside a transaction."""
        if (lease := self._leases.get(run_id)) is not None:
            check_lease(self._connection, lease)

    def _refuse_owned(self, run_id: int) -> None:
        row = self._connection.execute(
            "SELECT owner, heartbeat, lease FROM runs WHERE id = ?", (run_id,)
        ).fetchone()
        owner = None if row is None else live_owner(*row)
        if owner is not None:
            raise RunOwnedError(f"run {run_id} is being executed by process {owner.pid} on {owner.host}.")

    def _update(self, run_id: int, what: str, *values: object) -> None:
        with self._transaction() as connection:
            self._check_held(run_id)
            connection.execute(f"UPDATE runs SET {what} WHERE id = ?", (*values, run_id))

    def _select_runs(self, condition: str, values: tuple[object, ...]) -> list[RunRecord]:
        rows = self._connection.execute(f"SELECT {_RUN_COLUMNS} FROM runs {condition}", values)
        return [_run_record(row, self.workspace) for row in rows]

    def _event(self, run_id: int, kind: str, message: str) -> None:
        self._connection.execute(
            "INSERT INTO events (run_id, kind, message, created_at) VALUES (?,?,?,?)",
            (run_id, kind, storable_message(message), time.time()),
        )

    def _no_such_run(self, target: str, gone: int | None = None) -> NotFoundError:
        if gone is not None:
            return NotFoundError(
                f"no run {target!r}: this folder does not exist any more. Run {gone} wrote into it: name that run by its number"
            )
        runs = self.runs(limit=50)
        if not runs:
            return NotFoundError(f"no run {target!r}: {self.workspace.without_runs()}")
        known = ["last", *sorted({run.name for run in runs})]
        return NotFoundError(
            f"no run {target!r} in the workspace {self.workspace.root}; the newest is {runs[0].id}."
            f"{suggest(target, known)} See: benchwright list"
        )


def _run_record(row: tuple[Any, ...], workspace: Workspace) -> RunRecord:
    (run_id, name, target, model, status, folder, settings, manifest, summary, error, created, finished,
     owner, heartbeat, kind, given, output, tags, starts, worked) = row  # fmt: skip
    status = known_run_status(status, run_id)
    if RUN_STATUSES[status].live and not (owner and Owner.from_text(str(owner)).alive(heartbeat)):
        status = "interrupted"
    place, before = folder_here(str(folder), workspace.root, workspace.run_folder(run_id, name))
    return RunRecord(
        id=run_id,
        name=name,
        target=target,
        model=model,
        status=status,
        folder=place,
        settings=settings_here(orjson.loads(settings), workspace.root, before),
        manifest=orjson.loads(manifest),
        summary=None if summary is None else orjson.loads(summary),
        error=error,
        created_at=created,
        finished_at=finished,
        kind=kind,
        input=load_json(given),
        output=load_json(output),
        tags=None if tags is None else orjson.loads(tags),
        starts=starts,
        worked=worked,
    )
