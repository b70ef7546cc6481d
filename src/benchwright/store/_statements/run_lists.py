"""Reads runs and their events, and remembers which runs this store may write to."""

from __future__ import annotations

from typing import Any

import orjson
from msgspec.structs import replace

from benchwright.core import (
    RUN_STATUSES,
    DamagedRecordError,
    JsonObject,
    NotFoundError,
    RunOwnedError,
    clause,
    known_run_status,
    load_exact_json,
)
from benchwright.store._driver import Driver
from benchwright.store._finding import no_such_run, whole
from benchwright.store._owner import Lease, Owner, let_go, live_owner, new_lease
from benchwright.store._places import folder_here, settings_here
from benchwright.store._records import Event, RunRecord, event_of
from benchwright.store._statements.leases import check_lease
from benchwright.store._statements.opened import Opened
from benchwright.store._workspace import Workspace

_RUN_COLUMNS = (
    "id, name, target, model, status, folder, settings, manifest, summary, error, created_at, finished_at,"
    " owner, heartbeat, lease, kind, input, output, tags, starts, worked"
)
_EVENT_COLUMNS = "kind, message, created_at, id, step_id, data"


class RunLists(Opened):
    """Reads the table of runs and their audit trail."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        super().__init__(workspace, driver, read_only=read_only)
        self._leases: dict[int, Lease] = {}

    def lease(self, run_id: int) -> Lease:
        """The lease with which this store writes to a run. Raises `RunOwnedError` if it has none."""
        lease = self._leases.get(run_id)
        if lease is None:
            raise RunOwnedError(f"run {run_id} is not owned by this store; claim it before recording")
        return lease

    def run(self, run_id: int) -> RunRecord:
        """One run by number."""
        return whole(self, self._recorded_run(run_id))

    def runs(
        self,
        *,
        after: int | None = None,
        limit: int | None = None,
        kind: str | None = None,
        name: str | None = None,
    ) -> list[RunRecord]:
        """Runs, newest first. Whether their records are all there is not checked: see `whole`."""
        conditions = {"id < ?": after, "kind = ?": kind and str(kind), "name = ?": name}
        values = [value for value in conditions.values() if value is not None]
        where = " AND ".join(text for text, value in conditions.items() if value is not None)
        limited = "" if limit is None else f" LIMIT {int(limit)}"
        return self._select_runs(f"{where and f'WHERE {where}'} ORDER BY id DESC{limited}", tuple(values))

    def overview(self, run: RunRecord) -> JsonObject | None:
        """What the last end of a run found in all its samples, if that was kept and none has been lost since."""
        if run.finished_at is None or run.lost or not self._has_overviews:
            return None
        row = self._connection.execute("SELECT overview FROM runs WHERE id = ?", (run.id,)).fetchone()
        found: JsonObject = {} if row is None or row[0] is None else orjson.loads(row[0])
        return found if found.pop("finished_at", None) == run.finished_at else None

    def run_marks(self) -> dict[int, tuple[object, ...]]:
        """A mark of each run, oldest first. A run whose process has died has another one than before."""
        rows = self._connection.execute(
            "SELECT id, status, owner, heartbeat, finished_at, starts, name, error, tags, length(summary) FROM runs ORDER BY id"
        )
        marks: dict[int, tuple[object, ...]] = {}
        for run_id, status, owner, heartbeat, *rest in rows:
            known = RUN_STATUSES.get(status)
            alive = (
                known is not None and known.live and owner and Owner.from_text(str(owner)).alive(heartbeat)
            )
            marks[run_id] = (status, alive, heartbeat, *rest)
        return marks

    def events(
        self, run_id: int, *, after: int = 0, limit: int | None = None, step_id: int | None = None
    ) -> list[Event]:
        """The audit trail of a run, or of one of its steps, oldest first."""
        of_step = "" if step_id is None else " AND step_id = ?"
        limited = "" if limit is None else f" LIMIT {int(limit)}"
        rows = self._connection.execute(
            f"SELECT {_EVENT_COLUMNS} FROM events WHERE run_id = ? AND id > ?{of_step} ORDER BY id{limited}",
            (run_id, after) if step_id is None else (run_id, after, step_id),
        )
        return [event_of(row) for row in rows]

    def count_steps(self, run_id: int, kind: str) -> int:
        """How many steps of a kind are recorded."""
        count = "SELECT count(*) FROM steps WHERE run_id = ? AND key >= ? AND key < ?"
        found = self._connection.execute(count, (run_id, f"{kind}/", f"{kind}0")).fetchone()[0]
        if kind == "call":
            count += " AND call_output IS NOT NULL"
            found += self._connection.execute(count, (run_id, "score/", "score0")).fetchone()[0]
        return int(found)

    def _recorded_run(self, run_id: int) -> RunRecord:
        found = self._select_runs("WHERE id = ?", (run_id,))
        if not found:
            raise self._no_such_run(str(run_id))
        if found[0].damage:
            raise DamagedRecordError(f"run {run_id} {found[0].damage}")
        return found[0]

    def _select_runs(self, condition: str, values: tuple[object, ...]) -> list[RunRecord]:
        progress = "progress" if self._tells_progress else "NULL"
        rows = self._connection.execute(f"SELECT {_RUN_COLUMNS}, {progress} FROM runs {condition}", values)
        return [_run_record(row, self.workspace) for row in rows]

    def _no_such_run(self, target: str) -> NotFoundError:
        return no_such_run(self, target)

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


def _run_record(row: tuple[Any, ...], workspace: Workspace) -> RunRecord:
    (run_id, name, target, model, status, folder, settings, manifest, summary, error, created, finished,
     owner, heartbeat, lease, kind, given, output, tags, starts, worked, progress) = row  # fmt: skip
    status = known_run_status(status, run_id)
    if RUN_STATUSES[status].live and not (owner and Owner.from_text(str(owner)).alive(heartbeat)):
        status = "interrupted"
    told: list[str] = []

    def read(column: str, kept: Any, empty: Any, *, is_table: bool = True) -> Any:
        if kept is None:
            return empty
        try:
            found = orjson.loads(kept) if is_table else load_exact_json(kept)
        except (ValueError, TypeError) as error:
            told.append(f"{column}: {clause(error)}")
            return empty
        if is_table and not isinstance(found, dict):
            told.append(f"{column}: {type(found).__name__} in place of a table")
            return empty
        return found

    record = RunRecord(
        id=run_id,
        name=name,
        target=target,
        model=model,
        status=status,
        folder=folder_here(str(folder), workspace.root),
        settings=settings_here(read("settings", settings, {}), workspace.root),
        manifest=read("manifest", manifest, {}),
        summary=read("summary", summary, None),
        error=error,
        created_at=created,
        finished_at=finished,
        kind=kind,
        input=read("input", given, None, is_table=False),
        output=read("output", output, None, is_table=False),
        tags=read("tags", tags, None),
        starts=starts,
        worked=worked,
        progress=read("progress", progress, None) if RUN_STATUSES[status].live else None,
        owner=live_owner(owner, heartbeat, lease),
    )
    return replace(record, damage=record.damaged("; ".join(told))) if told else record
