"""Records workflow steps, one transaction at a time, and lists workflow records, a page at a time.

`WorkflowWriter` records steps in groups. Lists follow the numbers of records: clocks may jump, numbers do not.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from typing import Any, TypeVar

from benchwright.core import NotFoundError, StepStatus
from benchwright.store._records import (
    EVENT_COLUMNS,
    Event,
    RunRecord,
    event_of,
    load_json,
    storable_json,
    storable_message,
)
from benchwright.store._sqlite.database import Connected, check_lease
from benchwright.store._sqlite.runs import Runs
from benchwright.store._sqlite.workflow_statements import (
    PUT_STEP,
    STEP_COLUMNS,
    EventRow,
    PointRow,
    Points,
    ended_message,
    metric_totals,
    newest_state,
    put_events,
    put_points,
    started_message,
    step_counts,
    supersede_points,
    take_ids,
)
from benchwright.store._workflow_records import (
    BeginDecision,
    InputChangedError,
    Lease,
    MetricPoint,
    MetricTotals,
    Page,
    StepRequest,
    StepState,
    WorkflowStep,
    check_end,
    owner_text,
    plan_begin,
    with_inputs,
)


class WorkflowSteps(Points, Connected):
    """The table of workflow steps, their metric points and events."""

    def begin_step(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step and record that it has begun.

        Raises `InputChangedError` and `StepHeldError` like `plan_begin`, and `RunOwnedError` if the lease is gone.
        """
        request = request.storable()
        with self._transaction() as connection:
            check_lease(connection, lease)
            state = newest_state(connection, lease.run_id, request.key)
            try:
                planned = plan_begin(state, request, lease.token)
            except InputChangedError as error:
                raise with_inputs(error, input_of(connection, state), request.input) from None
            if state is not None and planned.kind in ("reuse", "same"):
                return decision_of(state, reuse=planned.kind == "reuse")
            again = state if planned.kind == "again" else None
            step_id = take_ids(connection, 1) if again is None else again.id
            failures = 0 if again is None else again.failures
            now = time.time()
            connection.execute(
                PUT_STEP,
                (step_id, lease.run_id, request.key, planned.generation, planned.attempt, request.input_hash,
                 request.input, "running", None, None, owner_text(lease.token, request.holder), now, None,
                 failures),
            )  # fmt: skip
            message = started_message(request.key, planned.generation, planned.attempt)
            put_events(connection, [EventRow(lease.run_id, step_id, "step.started", message, None, now)])
        return BeginDecision("run", step_id, planned.attempt, None, planned.generation, failures)

    def complete_step(self, lease: Lease, step_id: int, attempt: int | None, output: bytes) -> None:
        """Record a step's output. A repeated call changes nothing; a stale attempt is refused."""
        with self._transaction() as connection:
            check_lease(connection, lease)
            end_step(connection, lease.run_id, step_id, attempt, "completed", output, None)

    def fail_step(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt failed. A repeated call changes nothing; a stale attempt is refused."""
        status: StepStatus = "interrupted" if interrupted else "failed"
        with self._transaction() as connection:
            check_lease(connection, lease)
            end_step(connection, lease.run_id, step_id, attempt, status, None, error)

    def _put_point(self, lease: Lease, row: PointRow) -> None:
        with self._transaction() as connection:
            check_lease(connection, lease)
            put_points(connection, [row])

    def _put_event(self, lease: Lease, row: EventRow) -> None:
        with self._transaction() as connection:
            check_lease(connection, lease)
            put_events(connection, [row])


def end_step(
    connection: sqlite3.Connection,
    run_id: int,
    step_id: int,
    attempt: int | None,
    status: StepStatus,
    output: bytes | None,
    error: str | None,
) -> None:
    """End an attempt that any process may have begun. Runs inside a transaction."""
    row = connection.execute(
        "SELECT key, id, generation, attempt, input_hash, status, output, owner, failures FROM workflow_steps"
        " WHERE id = ? AND run_id = ?",
        (step_id, run_id),
    ).fetchone()
    if row is None:
        raise NotFoundError(f"run {run_id} has no step {step_id}")
    key, state = row[0], StepState(*row[1:])
    output = output and storable_json(output)
    if check_end(key, state, attempt, status, output) == "done":
        return
    now = time.time()
    text = storable_message(error)
    connection.execute(
        "UPDATE workflow_steps SET status = ?, output = ?, error = ?, finished_at = max(started_at, ?),"
        " failures = failures + ? WHERE id = ?",
        (status, output, text, now, status == "failed", step_id),
    )
    if status == "completed" and (state.attempt > 1 or state.generation > 1):
        supersede_points(connection, run_id, key, step_id, state.attempt)
    message = ended_message(key, state.attempt, text)
    put_events(connection, [EventRow(run_id, step_id, f"step.{status}", message, None, now)])


def input_of(connection: sqlite3.Connection, state: StepState | None) -> bytes | None:
    """The recorded input of a step."""
    if state is None:
        return None
    row = connection.execute("SELECT input FROM workflow_steps WHERE id = ?", (state.id,)).fetchone()
    return None if row is None else row[0]


def decision_of(state: StepState, *, reuse: bool) -> BeginDecision:
    """The decision about a step that is not begun again."""
    return BeginDecision(
        "reuse" if reuse else "run",
        state.id,
        state.attempt,
        state.output if reuse else None,
        state.generation,
        state.failures,
    )


T = TypeVar("T", RunRecord, WorkflowStep, MetricPoint, Event)


class WorkflowLists(Runs):
    """Readers for listings and for the server."""

    def page_runs(
        self,
        *,
        after: int | None = None,
        limit: int = 100,
        kind: str | None = None,
        name: str | None = None,
    ) -> Page[RunRecord]:
        """Runs, newest first. `after` is the number of the last run of the page before."""
        found = self._select_runs(
            "WHERE (? IS NULL OR id < ?) AND (? IS NULL OR kind = ?) AND (? IS NULL OR name = ?)"
            " ORDER BY id DESC LIMIT ?",
            (after, after, kind, kind, name, name, limit + 1),
        )
        page = _page(found, limit)
        return Page(list(map(self.whole, page.items)), page.next)

    def page_steps(
        self, run_id: int, *, after: int = 0, limit: int = 100, status: str | None = None
    ) -> Page[WorkflowStep]:
        """Steps of a workflow run, all generations, in the order in which they were first begun."""
        rows = self._connection.execute(
            f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE run_id = ? AND id > ? AND (? IS NULL OR status = ?)"
            " ORDER BY id LIMIT ?",
            (run_id, after, status, status, limit + 1),
        )
        return _page([WorkflowStep(*row) for row in rows], limit)

    def page_metrics(
        self, run_id: int, *, after: int = 0, limit: int = 1000, name: str | None = None
    ) -> Page[MetricPoint]:
        """Metric points of a run, in the order in which they came; those of repeated attempts are left out."""
        rows = self._connection.execute(
            "SELECT id, run_id, step_id, name, value, unit, tags, created_at FROM metrics"
            " WHERE run_id = ? AND id > ? AND superseded = 0 AND (? IS NULL OR name = ?) ORDER BY id LIMIT ?",
            (run_id, after, name, name, limit + 1),
        )
        return _page([_point(row) for row in rows], limit)

    def page_events(
        self, run_id: int, *, after: int = 0, limit: int = 100, step_id: int | None = None
    ) -> Page[Event]:
        """Events of a run, or of one of its steps, oldest first."""
        rows = self._connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM events"
            " WHERE run_id = ? AND id > ? AND (? IS NULL OR step_id = ?) ORDER BY id LIMIT ?",
            (run_id, after, step_id, step_id, limit + 1),
        )
        return _page([event_of(row) for row in rows], limit)

    def workflow_step(self, step_id: int) -> WorkflowStep:
        """One step by number."""
        row = self._connection.execute(
            f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE id = ?", (step_id,)
        ).fetchone()
        if row is None:
            raise NotFoundError(f"no step {step_id} in the workspace {self.workspace.root}")
        return WorkflowStep(*row)

    def workflow_step_by_key(self, run_id: int, key: str) -> WorkflowStep | None:
        """The newest generation of a step of a run."""
        row = self._connection.execute(
            f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE run_id = ? AND key = ?"
            " ORDER BY generation DESC LIMIT 1",
            (run_id, key),
        ).fetchone()
        return None if row is None else WorkflowStep(*row)

    def workflow_step_counts(self, run_id: int) -> dict[str, int]:
        """Steps per status, counting only the newest generation of each key."""
        return step_counts(self._connection, run_id)

    def metric_totals(self, run_id: int) -> dict[str, MetricTotals]:
        """Metrics of a run by name, summed up over their points."""
        return metric_totals(self._connection, run_id)


def _page(found: Sequence[T], limit: int) -> Page[T]:
    """The page. One more item was read than it contains, to know whether there are more."""
    items = list(found[:limit])
    return Page(items, items[-1].id if len(found) > limit else None)


def _point(row: tuple[Any, ...]) -> MetricPoint:
    number, run_id, step_id, name, value, unit, tags, created_at = row
    labels = load_json(None if tags is None else tags.encode())
    return MetricPoint(
        number, run_id, step_id, name, value, unit, labels if isinstance(labels, dict) else None, created_at
    )
