"""The workspace's records: runs and their life, and readers of steps that never hold a whole run in memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import JsonObject, NotFoundError, RunOwnedError, encode_json, suggest
from benchwright.store._database import open_database
from benchwright.store._keys import key_range, parse_key
from benchwright.store._owner import Owner, this_process
from benchwright.store._records import Event, RunRecord, RunStatus, SampleSteps, StepOutput
from benchwright.store._workspace import Workspace

_RUN_COLUMNS = (
    "id, name, target, model, status, folder, settings, manifest, summary, error, created_at, finished_at,"
    " owner, heartbeat"
)


class Store:
    """One workspace database, opened by one process. Steps are written by `StepWriter`, all else here."""

    def __init__(self, workspace: Workspace) -> None:
        workspace.create()
        self.workspace = workspace
        self._connection = open_database(workspace.database)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    # --- runs -------------------------------------------------------------------------------------------

    def create_run(
        self,
        *,
        name: str,
        target: str,
        model: str,
        folder: Path | None,
        settings: JsonObject,
        manifest: JsonObject,
    ) -> RunRecord:
        """Record a new run, owned by this process and `running`."""
        now = time.time()
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (name, target, model, status, folder, settings, manifest, owner, heartbeat,"
                " created_at) VALUES (?,?,?,?,?,?,?,?,?,?)",
                (name, target, model, "running", "", encode_json(settings), encode_json(manifest),
                 this_process().to_text(), now, now),
            )  # fmt: skip
            run_id = int(cursor.lastrowid or 0)
            place = folder if folder is not None else self.workspace.run_folder(run_id, name)
            connection.execute("UPDATE runs SET folder = ? WHERE id = ?", (str(place), run_id))
            self._event(run_id, "run.started", f"started on {target}")
        return self.run(run_id)

    def claim_run(self, run_id: int) -> RunRecord:
        """Become the owner of an existing run, unless a live process owns it."""
        with self._transaction() as connection:
            row = connection.execute("SELECT owner, heartbeat FROM runs WHERE id = ?", (run_id,)).fetchone()
            if row is None:
                raise self._no_such_run(str(run_id))
            owner = Owner.from_text(row[0]) if row[0] else None
            if owner is not None and owner != this_process() and owner.alive(row[1]):
                raise RunOwnedError(
                    f"run {run_id} is being executed by process {owner.pid} on {owner.host}. "
                    f"Wait for it, or stop it first (kill -INT {owner.pid})."
                )
            connection.execute(
                "UPDATE runs SET status = 'running', owner = ?, heartbeat = ?, finished_at = NULL, error = NULL"
                " WHERE id = ?",
                (this_process().to_text(), time.time(), run_id),
            )
            self._event(run_id, "run.resumed", "resumed")
        return self.run(run_id)

    def heartbeat(self, run_id: int) -> None:
        """A sign of life, for other hosts."""
        self._connection.execute("UPDATE runs SET heartbeat = ? WHERE id = ?", (time.time(), run_id))

    def update_manifest(self, run_id: int, manifest: JsonObject) -> None:
        """Replace the manifest, for what is learned only while running."""
        self._connection.execute("UPDATE runs SET manifest = ? WHERE id = ?", (encode_json(manifest), run_id))

    def update_settings(self, run_id: int, settings: JsonObject) -> None:
        """Replace the frozen settings, when a resume changes budgets or parallelism."""
        self._connection.execute("UPDATE runs SET settings = ? WHERE id = ?", (encode_json(settings), run_id))

    def finish_run(
        self, run_id: int, status: RunStatus, *, summary: JsonObject | None, error: str | None = None
    ) -> None:
        """End a run: state, numbers and release of ownership in one transaction, synced to disk."""
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction() as connection:
                connection.execute(
                    "UPDATE runs SET status = ?, summary = ?, error = ?, finished_at = ?, owner = NULL WHERE id = ?",
                    (status, None if summary is None else encode_json(summary), error, time.time(), run_id),
                )
                self._event(
                    run_id, "run.finished" if status == "completed" else "run.stopped", error or status
                )
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")

    def run(self, run_id: int) -> RunRecord:
        """One run by number."""
        row = self._connection.execute(f"SELECT {_RUN_COLUMNS} FROM runs WHERE id = ?", (run_id,)).fetchone()
        if row is None:
            raise self._no_such_run(str(run_id))
        return _run_record(row)

    def runs(self, limit: int | None = None) -> list[RunRecord]:
        """Runs, newest first."""
        rows = self._connection.execute(
            f"SELECT {_RUN_COLUMNS} FROM runs ORDER BY id DESC LIMIT ?", (-1 if limit is None else limit,)
        )
        return [_run_record(row) for row in rows]

    def find_run(self, wanted: str) -> RunRecord:
        """A run by number, by `last`, by benchmark name (its newest run), or by its folder."""
        if wanted.isdigit():
            return self.run(int(wanted))
        runs = self.runs()
        if wanted in ("last", "latest") and runs:
            return runs[0]
        place = Path(wanted).expanduser().resolve()
        for run in runs:
            if wanted == run.name or place == run.folder:
                return run
        raise self._no_such_run(wanted)

    def add_event(self, run_id: int, kind: str, message: str) -> None:
        """Append to the run's audit trail."""
        self._event(run_id, kind, message)

    def events(self, run_id: int) -> list[Event]:
        """The audit trail, oldest first."""
        rows = self._connection.execute(
            "SELECT kind, message, created_at FROM events WHERE run_id = ? ORDER BY id", (run_id,)
        )
        return [Event(*row) for row in rows]

    # --- steps ------------------------------------------------------------------------------------------

    def recorded(self, run_id: int, kind: str, first_index: int, last_index: int) -> dict[str, StepOutput]:
        """Recorded steps of a range of samples, by key."""
        low, high = key_range(kind, first_index, last_index)
        rows = self._connection.execute(
            "SELECT key, input_hash, output FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
            (run_id, low, high),
        )
        return {key: StepOutput(input_hash, output) for key, input_hash, output in rows}

    def has_steps(self, run_id: int) -> bool:
        """Whether the run has recorded anything yet."""
        row = self._connection.execute("SELECT 1 FROM steps WHERE run_id = ? LIMIT 1", (run_id,)).fetchone()
        return row is not None

    def index_replies(self) -> bool:
        """Bring the index of reusable replies up to date; whether it holds any.

        Done in bulk before and after a run rather than with every reply: kept up row by row, an index of random
        hashes dirties a page per reply and doubled the cost of recording one (benchmarks: 15 against 8 µs).
        """
        with self._transaction() as connection:
            mark = connection.execute("SELECT value FROM marks WHERE name = 'replies'").fetchone()
            newest = connection.execute("SELECT coalesce(max(rowid), 0) FROM steps").fetchone()[0]
            if newest != (mark[0] if mark else 0):
                connection.execute(
                    "INSERT OR REPLACE INTO reply_index SELECT input_hash, rowid FROM steps"
                    " WHERE rowid > ? AND reusable = 1 ORDER BY input_hash, rowid",
                    (mark[0] if mark else 0,),
                )
                connection.execute("INSERT OR REPLACE INTO marks VALUES ('replies', ?)", (newest,))
        return connection.execute("SELECT 1 FROM reply_index LIMIT 1").fetchone() is not None

    def reusable(self, run_id: int, input_hash: bytes) -> bytes | None:
        """The output of an equal request of another run. A run never answers its own samples: equal rows are
        asked each on their own, so that a resumed run asks what an undisturbed one does."""
        row = self._connection.execute(
            "SELECT s.output FROM reply_index i JOIN steps s ON s.rowid = i.step"
            " WHERE i.input_hash = ? AND s.input_hash = i.input_hash AND s.reusable = 1 AND s.run_id != ?",
            (input_hash, run_id),
        ).fetchone()
        return None if row is None else row[0]

    def count_steps(self, run_id: int, kind: str) -> int:
        """How many steps of a kind are recorded."""
        row = self._connection.execute(
            "SELECT count(*) FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
            (run_id, f"{kind}/", f"{kind}0"),
        ).fetchone()
        return int(row[0])

    def forget_samples(self, run_id: int, samples: Sequence[tuple[int, int]]) -> None:
        """Delete all steps of some (index, repeat) pairs, so that they are asked again."""
        with self._transaction() as connection:
            for index, repeat in samples:
                for kind in ("call", "judge", "score"):
                    prefix = f"{kind}/{index:09d}/{repeat:04d}"
                    connection.execute(
                        "DELETE FROM steps WHERE run_id = ? AND key >= ? AND key < ?",
                        (run_id, prefix, prefix + "0"),
                    )

    def scores(self, run_id: int) -> Iterator[tuple[int, int, bytes]]:
        """(index, repeat, result JSON) of every recorded sample, in sample order, streamed."""
        rows = self._connection.cursor().execute(
            "SELECT key, output FROM steps WHERE run_id = ? AND key >= 'score/' AND key < 'score0' ORDER BY key",
            (run_id,),
        )
        for key, output in rows:
            yield int(key[6:15]), int(key[16:20]), output

    def samples(self, run_id: int, index: int | None = None) -> Iterator[SampleSteps]:
        """Every recorded sample with its calls, in sample order, streamed."""
        low, high = ("score/", "score0") if index is None else key_range("score", index, index)
        calls = self._calls(run_id, "call" + low[5:], "call" + high[5:])
        call = next(calls, None)
        rows = self._connection.cursor().execute(
            "SELECT key, input, output FROM steps WHERE run_id = ? AND key >= ? AND key < ? ORDER BY key",
            (run_id, low, high),
        )
        for key, row, score in rows:
            place = parse_key(key)
            first_input: bytes | None = None
            last_output: bytes | None = None
            while (
                call is not None and call[0] <= place
            ):  # both in key order: a merge, not a look-up per sample
                if call[0] == place:
                    first_input = call[1] if first_input is None else first_input
                    last_output = call[2]
                call = next(calls, None)
            yield SampleSteps(*place, row, score, first_input, last_output)

    def _calls(
        self, run_id: int, low: str, high: str
    ) -> Iterator[tuple[tuple[int, int], bytes | None, bytes]]:
        rows = self._connection.cursor().execute(
            "SELECT key, input, output FROM steps WHERE run_id = ? AND key >= ? AND key < ? ORDER BY key",
            (run_id, low, high),
        )
        for key, call_input, output in rows:
            if "/m" not in key:  # what a scorer asked on the side is not the sample's own call
                yield parse_key(key), call_input, output

    # --- helpers ----------------------------------------------------------------------------------------

    def _transaction(self) -> _Transaction:
        return _Transaction(self._connection)

    def _event(self, run_id: int, kind: str, message: str) -> None:
        self._connection.execute(
            "INSERT INTO events (run_id, kind, message, created_at) VALUES (?,?,?,?)",
            (run_id, kind, message, time.time()),
        )

    def _no_such_run(self, wanted: str) -> NotFoundError:
        runs = self.runs(limit=50)
        if not runs:
            return NotFoundError(
                f"no run {wanted!r}: the workspace {self.workspace.root} has no runs yet. "
                "Start one with: benchwright run TARGET"
            )
        known = sorted({run.name for run in runs})
        return NotFoundError(
            f"no run {wanted!r} in the workspace {self.workspace.root}; the newest is {runs[0].id}."
            f"{suggest(wanted, known)} See: benchwright list"
        )


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT, rolled back on an exception."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")


def _run_record(row: tuple[Any, ...]) -> RunRecord:
    (run_id, name, target, model, status, folder, settings, manifest, summary, error, created, finished,
     owner, heartbeat) = row  # fmt: skip
    if status == "running" and not (owner and Owner.from_text(str(owner)).alive(heartbeat)):
        status = "interrupted"
    return RunRecord(
        id=run_id,
        name=name,
        target=target,
        model=model,
        status=status,
        folder=Path(str(folder)),
        settings=orjson.loads(settings),
        manifest=orjson.loads(manifest),
        summary=None if summary is None else orjson.loads(summary),
        error=error,
        created_at=created,
        finished_at=finished,
    )
