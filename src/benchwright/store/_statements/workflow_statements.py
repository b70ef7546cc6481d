"""The SQL of workflow records."""

from __future__ import annotations

import math
import time
from itertools import chain
from typing import TypeAlias

from benchwright.core import (
    JsonObject,
    JsonValue,
    NotFoundError,
    StepStatus,
    UsageError,
    canonical_json,
    encode_json,
)
from benchwright.store._driver import Connection
from benchwright.store._owner import end_of_run
from benchwright.store._records import storable, storable_json, storable_message
from benchwright.store._statements.leases import end_work
from benchwright.store._statements.workflow_samples import ROWS, is_row, put_sample
from benchwright.store._workflow_records import (
    BeginDecision,
    MetricTotals,
    StepState,
    WorkflowStep,
    check_end,
)

STEP_COLUMNS = (
    "id, run_id, key, generation, attempt, input_hash, input, status, output, error, started_at, finished_at"
)
_INTO_STEPS = (
    "INSERT INTO workflow_steps (id, run_id, key, generation, attempt, input_hash, input, status, output, error,"
    " owner, started_at, finished_at, failures)"
)
_OVER_STEP = (
    " ON CONFLICT (id) DO UPDATE SET attempt = excluded.attempt, status = excluded.status,"
    " output = excluded.output, error = excluded.error, owner = excluded.owner,"
    " started_at = excluded.started_at, finished_at = excluded.finished_at, failures = excluded.failures"
)
PUT_STEP = f"{_INTO_STEPS} VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?){_OVER_STEP}"
"""Writes the whole record of a step: a new one, or over an earlier state."""
PUT_STEP_IF_LEASED = (
    f"{_INTO_STEPS} SELECT ?,?,?,?,?,?,?,?,?,?,?,?,?,? WHERE EXISTS (SELECT 1 FROM runs WHERE id = ? AND lease = ?)"
    f"{_OVER_STEP}"
)
"""Like `PUT_STEP`, but only if the writer still owns the run; one statement checks and writes."""
_PUT_POINT = (
    "INSERT INTO metrics (run_id, step_id, name, value, unit, tags, slot, attempt, superseded, created_at)"
    " VALUES (?,?,?,?,?,?,?,?,0,?)"
    " ON CONFLICT (run_id, coalesce(step_id, 0), name, coalesce(tags, ''), slot) WHERE slot IS NOT NULL"
    " DO UPDATE SET value = excluded.value, unit = excluded.unit, attempt = excluded.attempt, superseded = 0,"
    " created_at = CASE WHEN metrics.value = excluded.value THEN metrics.created_at ELSE excluded.created_at END"
)
_BIGGEST = 2**63
_PUT_EVENT = "INSERT INTO events (run_id, step_id, kind, message, data, created_at) VALUES (?,?,?,?,?,?)"
_EVENTS_PER_STATEMENT = 100
_PUT_EVENTS = _PUT_EVENT + ",(?,?,?,?,?,?)" * (_EVENTS_PER_STATEMENT - 1)
"""Inserts in bulk, so that the table's counter is read and written once for all of them (1.5 against 3.4 µs each)."""


PointRow: TypeAlias = tuple[int, int | None, str, float, str | None, str | None, int | None, int, float]
"""A metric point as `_PUT_POINT` writes it: its run, and its step, if it has one; name, value and unit; tags as a JSON object with sorted
keys; its number among the points of that name, if a resumed run emits the same points again (None: a new one); the attempt of the step (0
for the run as a whole); and the wall clock."""
EventRow: TypeAlias = tuple[int, int | None, str, str, bytes | None, float]
"""An event as `_PUT_EVENT` writes it: its run, and its step, if it has one; kind (`step.started`, `run.completed`, or one given by the user),
message, data as JSON, and the wall clock."""


def put_points(connection: Connection, points: list[PointRow]) -> None:
    """Write metric points."""
    connection.executemany(_PUT_POINT, points)


def put_events(connection: Connection, events: list[EventRow]) -> None:
    """Write events."""
    whole = len(events) - len(events) % _EVENTS_PER_STATEMENT
    for start in range(0, whole, _EVENTS_PER_STATEMENT):
        part = events[start : start + _EVENTS_PER_STATEMENT]
        connection.execute(_PUT_EVENTS, list(chain.from_iterable(part)))
    connection.executemany(_PUT_EVENT, events[whole:])


def take_ids(connection: Connection, count: int) -> int:
    """Reserve step numbers, and return the first. It is one statement, so no two processes get the same number."""
    row = connection.execute(
        "UPDATE marks SET value = value + ? WHERE name = 'workflow_steps' RETURNING value", (count,)
    ).fetchone()
    return int(row[0]) - count + 1


_MOST_OUTPUT = 1 << 20
"""The most bytes of outputs that are read ahead."""


def newest_state(connection: Connection, run_id: int, key: str) -> StepState | None:
    """The newest generation of a step."""
    row = connection.execute(
        "SELECT id, generation, attempt, input_hash, status, output, owner, failures FROM workflow_steps"
        " WHERE run_id = ? AND key = ? ORDER BY generation DESC LIMIT 1",
        (run_id, key),
    ).fetchone()
    return None if row is None else StepState(*row)


def completed_after(connection: Connection, run_id: int, step_id: int, numbers: int) -> dict[str, StepState]:
    """Completed steps of a run by key, from the `numbers` that follow a step; large outputs end the list early."""
    rows = connection.execute(
        "SELECT key, id, generation, attempt, input_hash, status, output, owner, failures FROM workflow_steps AS step"
        " WHERE id > ? AND id <= ? AND run_id = ? AND status = 'completed' AND NOT EXISTS (SELECT 1 FROM"
        " workflow_steps WHERE run_id = step.run_id AND key = step.key AND generation > step.generation) ORDER BY id",
        (step_id, step_id + numbers, run_id),
    )
    found: dict[str, StepState] = {}
    size = 0
    for row in rows:
        found[row[0]] = state = StepState(*row[1:])
        size += len(state.output or b"")
        if size > _MOST_OUTPUT:
            break
    return found


def supersede_points(connection: Connection, run_id: int, key: str, step_id: int, attempt: int) -> None:
    """Mark points of attempts and generations that did not complete the step, so that they no longer count."""
    connection.execute(
        "UPDATE metrics SET superseded = 1 WHERE run_id = ? AND superseded = 0 AND (step_id = ? AND attempt < ?"
        " OR step_id IN (SELECT id FROM workflow_steps WHERE run_id = ? AND key = ? AND id < ?))",
        (run_id, step_id, attempt, run_id, key, step_id),
    )


def started_message(key: str, generation: int, attempt: int) -> str:
    """The message of the event that an attempt begins."""
    message = key
    if generation > 1:
        message += f", generation {generation}: supersedes an earlier record"
    return message if attempt == 1 else f"{message}, attempt {attempt}: a retry"


def ended_message(key: str, attempt: int, error: str | None) -> str:
    """The message of the event that an attempt ended; of a traceback, only the last line."""
    message = key if attempt == 1 else f"{key}, attempt {attempt}"
    return message if not error else f"{message}: {error.strip().rpartition(chr(10))[2]}"


def has_steps(connection: Connection, run_id: int) -> bool:
    """Whether a run has workflow steps."""
    found = connection.execute("SELECT 1 FROM workflow_steps WHERE run_id = ? LIMIT 1", (run_id,))
    return found.fetchone() is not None


def restore_events(connection: Connection, run_id: int) -> None:
    """Write the events that a killed writer had not written. It commits an attempt's end with the events before it, so only
    the last attempt of a step can lack them."""
    for kind, status, column, expected in (
        ("step.started", "", "started_at", "attempt"),  # each attempt begins once
        ("step.completed", "AND status = 'completed'", "finished_at", "1"),
    ):
        rows = connection.execute(
            f"SELECT id, key, generation, attempt, {column} FROM workflow_steps AS step WHERE run_id = ? {status} AND"
            f" (SELECT count(*) FROM events WHERE run_id = ? AND step_id = step.id AND kind = ?) < {expected} ORDER BY id",
            (run_id, run_id, kind),
        ).fetchall()
        put_events(
            connection,
            [
                (
                    run_id,
                    step_id,
                    kind,
                    started_message(key, generation, attempt)
                    if kind == "step.started"
                    else ended_message(key, attempt, None),
                    None,
                    at,
                )
                for step_id, key, generation, attempt, at in rows
            ],
        )


def interrupt_steps(connection: Connection, run_id: int, why: str, now: float) -> int:
    """Mark steps that are still `running` as `interrupted`. Returns their number."""
    open_ids = connection.execute(
        "SELECT id, attempt FROM workflow_steps WHERE run_id = ? AND status = 'running'", (run_id,)
    ).fetchall()
    connection.execute(
        "UPDATE workflow_steps SET status = 'interrupted', error = ?,"
        " finished_at = CASE WHEN started_at > ? THEN started_at ELSE ? END WHERE run_id = ? AND status = 'running'",
        (why, now, now, run_id),
    )
    put_events(
        connection,
        [
            (run_id, step_id, "step.interrupted", f"attempt {attempt}: {why}", None, now)
            for step_id, attempt in open_ids
        ],
    )
    return len(open_ids)


def close_run(
    connection: Connection,
    run_id: int,
    status: str,
    output: bytes | None,
    error: str | None,
    *,
    died: bool = False,
) -> None:
    """End a run: write open steps, status, output, numbers and event, and release it. If its process `died`, its working time
    ends at its last sign of life."""
    now = end_of_run(connection.place, run_id)
    end_work(connection, run_id, None if died else now)
    interrupt_steps(connection, run_id, f"the run ended ({status})", now)
    rows = connection.execute(
        "SELECT count(*) FROM steps WHERE run_id = ? AND key >= 'score/' AND key < 'score0'", (run_id,)
    ).fetchone()[0]
    summary = {
        **({"rows": rows} if rows else {}),
        "steps": step_counts(connection, run_id),
        "metrics": {name: totals.to_json() for name, totals in metric_totals(connection, run_id).items()},
    }
    text = storable_message(error)
    connection.execute(
        "UPDATE runs SET status = ?, output = coalesce(?, output), summary = ?, error = ?,"
        " finished_at = CASE WHEN created_at > ? THEN created_at ELSE ? END, owner = NULL, lease = NULL WHERE id = ?",
        (status, output and storable_json(output), encode_json(summary), text, now, now, run_id),
    )
    last_line = (text or status).strip().rpartition("\n")[2]
    put_events(connection, [(run_id, None, f"run.{status}", last_line, None, now)])


def step_counts(connection: Connection, run_id: int) -> dict[str, int]:
    """Steps per status, counting only the newest generation of each key, and not the records of rows."""
    rows = connection.execute(
        "SELECT status, count(*) FROM workflow_steps AS step WHERE run_id = ? AND NOT EXISTS (SELECT 1 FROM"
        " workflow_steps WHERE run_id = step.run_id AND key = step.key AND generation > step.generation)"
        " AND NOT (step.key >= 'sample/' AND step.key < 'sample0'"
        " AND EXISTS (SELECT 1 FROM marks WHERE name = ? || substr(step.key, 8)))"
        " GROUP BY status ORDER BY status",
        (run_id, f"{ROWS}{run_id}/"),
    )
    return dict(rows.fetchall())


def metric_totals(connection: Connection, run_id: int) -> dict[str, MetricTotals]:
    """Metrics by name, summed up over their points."""
    rows = connection.execute(
        "SELECT name, count(*), avg(value), min(value), max(value), max(id) FROM metrics"
        " WHERE run_id = ? AND superseded = 0 GROUP BY name ORDER BY name",
        (run_id,),
    ).fetchall()
    totals = {}
    for name, count, mean, low, high, newest in rows:
        last, unit = connection.execute("SELECT value, unit FROM metrics WHERE id = ?", (newest,)).fetchone()
        totals[name] = MetricTotals(count, mean, last, low, high, unit)
    return totals


def end_step(
    connection: Connection,
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
        "UPDATE workflow_steps SET status = ?, output = ?, error = ?,"
        " finished_at = CASE WHEN started_at > ? THEN started_at ELSE ? END, failures = failures + ? WHERE id = ?",
        (status, output, text, now, now, int(status == "failed"), step_id),
    )
    if status == "completed" and (state.attempt > 1 or state.generation > 1):
        supersede_points(connection, run_id, key, step_id, state.attempt)
    if is_row(key):
        row = connection.execute(
            f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE id = ?", (step_id,)
        ).fetchone()
        put_sample(connection, WorkflowStep(*row))
    message = ended_message(key, state.attempt, text)
    put_events(connection, [(run_id, step_id, f"step.{status}", message, None, now)])


def input_of(connection: Connection, state: StepState | None) -> bytes | None:
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


def point_row(
    run_id: int,
    name: str,
    value: float,
    *,
    unit: str | None,
    step_id: int | None,
    attempt: int,
    tags: JsonObject | None,
    slot: int | None,
) -> PointRow:
    """The row of a metric point. Raises `UsageError` if the value is not a finite number."""
    if not all(place is None or -_BIGGEST <= place < _BIGGEST for place in (step_id, attempt, slot)):
        raise UsageError(f"metric {name!r}: step {step_id}, attempt {attempt} or slot {slot} is out of range")
    number = _finite(name, value)
    labels = None if not tags else canonical_json(tags).decode()
    return run_id, step_id, storable(name), number, storable(unit), labels, slot, attempt, time.time()


def event_row(run_id: int, kind: str, message: str, data: JsonValue, step_id: int | None) -> EventRow:
    facts = None if data is None else storable_json(encode_json(data))
    return run_id, step_id, storable(kind), storable_message(message), facts, time.time()


def _finite(name: str, value: float) -> float:
    """The value of a metric that has a name, as a number that can be averaged."""
    if not isinstance(name, str) or not name:
        raise UsageError(f"the name of a metric is {name!r}; expected a text, such as 'accuracy'.")
    if not hasattr(value, "__float__"):
        raise UsageError(f"metric {name!r} is {value!r}; expected a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise UsageError(
            f"metric {name!r} is {value!r}; expected a finite number. "
            "Leave the point out, or emit how many values were not finite."
        )
    return number
