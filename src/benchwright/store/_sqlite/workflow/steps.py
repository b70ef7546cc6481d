"""Steps of workflows, decided and recorded one transaction at a time. `WorkflowWriter` does the same in groups."""

from __future__ import annotations

import sqlite3
import time

from benchwright.core import NotFoundError, StepStatus
from benchwright.store._sqlite.database import Connected, check_lease
from benchwright.store._sqlite.workflow.statements import (
    PUT_STEP,
    EventRow,
    PointRow,
    Points,
    ended_message,
    newest_state,
    put_events,
    put_points,
    started_message,
    supersede_points,
    take_ids,
)
from benchwright.store._texts import storable_json, storable_message
from benchwright.store._workflow_records import BeginDecision, Lease
from benchwright.store._workflow_rules import (
    InputChangedError,
    StepRequest,
    StepState,
    check_end,
    owner_text,
    plan_begin,
    with_inputs,
)


class WorkflowSteps(Points, Connected):
    """The table of workflow steps, their metric points and events."""

    def begin_step(self, lease: Lease, request: StepRequest) -> BeginDecision:
        """Decide about a step and record that it has begun.

        `InputChangedError`, `StepHeldError`: as in `plan_begin`; `RunOwnedError`: the lease is gone.
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
        """Record a step's output. Doing it twice changes nothing; a stale attempt is refused."""
        with self._transaction() as connection:
            check_lease(connection, lease)
            end_step(connection, lease.run_id, step_id, attempt, "completed", output, None)

    def fail_step(
        self, lease: Lease, step_id: int, attempt: int | None, error: str, *, interrupted: bool = False
    ) -> None:
        """Record why an attempt gave no output. Doing it twice changes nothing; a stale attempt is refused."""
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
    """End an attempt, whoever began it. Runs inside a transaction."""
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
