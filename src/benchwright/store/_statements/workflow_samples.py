"""Rows of workflows as samples.

The step that ends a row also writes the record of a sample, in the same commit. So the lists, filters, slices, labels and searches of samples
know the rows of workflows too, and nothing that reads samples need know where they come from.
"""

from __future__ import annotations

from typing import Any

from msgspec import ValidationError, convert
from msgspec.structs import replace

from benchwright.core import (
    SAMPLE_STEP,
    Outcome,
    SampleRecord,
    encode_json,
    exact_json,
    load_exact_json,
    ready,
    row_hash,
    sample_of,
    step_key,
)
from benchwright.store._driver import Connection
from benchwright.store._statements.marks import SET_MARK, lower_marks
from benchwright.store._workflow_records import WorkflowStep

ROWS = "rows/"
"""How the names of marks begin that have the numbers of rows."""
_LAST = "SELECT max(key) FROM steps WHERE run_id = ? AND key >= 'score/' AND key < 'score0'"
_INSERT = (
    "INSERT INTO steps (run_id, key, input_hash, input, output, reusable, started_at, finished_at, call_hash, call_input,"
    " call_output) VALUES (?,?,?,?,?,?,?,?,?,?,?)"
)


def is_row(key: str) -> bool:
    """Whether a step may record a row of a workflow."""
    return key.startswith(SAMPLE_STEP)


def put_sample(connection: Connection, step: WorkflowStep) -> None:
    """Write the sample of a row that ended; one that was recorded before is replaced and keeps its number. A step that records no row, and
    one that was interrupted, leaves no sample. Runs inside a transaction."""
    name = step.key.removeprefix(SAMPLE_STEP)
    if step.status not in ("completed", "failed") or step.input is None:
        return
    known: Any = load_exact_json(step.input)
    try:
        record = _record(name, known, step)
    except (ValidationError, KeyError, TypeError):
        return  # a step of the user's own, which happens to have such a key
    mark = f"{ROWS}{step.run_id}/{name}"
    found = connection.execute("SELECT value FROM marks WHERE name = ?", (mark,)).fetchone()
    if found is None:
        last = connection.execute(_LAST, (step.run_id,)).fetchone()[0]
        number = 0 if last is None else int(sample_of(last)[:9]) + 1
        connection.execute(SET_MARK, (mark, number))
    else:
        number = int(found[0])
        key = step_key("score", number, 0)
        connection.execute("DELETE FROM steps WHERE run_id = ? AND key = ?", (step.run_id, key))
        lower_marks(connection)
    # Copies of a row are one row, whatever a workflow calls them: the name is shown with the row, but is no part of its identity.
    identity = row_hash(_json({"id": name} if known["row"] is None else known["row"]))
    for key, _, *rest in replace(record, sample_id=number).to_steps():
        connection.execute(_INSERT, (step.run_id, key, identity, *rest))


def _record(name: str, known: dict[str, Any], step: WorkflowStep) -> SampleRecord:
    """The record of a row that `ctx.sample` recorded, without its number. Raises if the input of the step is something else."""
    convert(known["steps"], ready(list[str]))
    failed = step.status == "failed"
    scores = convert(known.get("scores"), ready(dict[str, bool | int | float] | None)) or {}
    messages = convert(known.get("messages"), ready(list[dict[str, Any]] | None)) or []
    outcomes = {outcome.value: outcome for outcome in Outcome}
    usual = Outcome.SCORER_FAILED if failed else Outcome.SCORED
    asked = next((each.get("content") for each in messages if each.get("role") == "user"), None)
    error = (step.error or "").strip().rpartition("\n")[2] or "the row failed"
    return SampleRecord(
        0,
        0,
        _json(_row(name, known["row"])),
        outcomes.get(str(known.get("outcome")), usual),
        target=known.get("target"),
        scores=None if failed else scores,
        error=error if failed else None,
        prompt=_text(asked),
        response=_text(known.get("response")),
        usage=convert(known.get("usage"), ready(tuple[int | None, int | None] | None)),
        conversation=list(messages) or None,
        started_at=step.started_at,
        finished_at=step.finished_at or step.started_at,
        name=name,
    )


def _row(name: str, row: Any) -> dict[str, Any]:
    """The row with the name that the workflow gave it. A column of the row keeps its place."""
    if not isinstance(row, dict):
        return {"id": name} if row is None else {"id": name, "row": row}
    if "id" not in row:
        return {"id": name, **row}
    return row if str(row["id"]) == name else {"sample": name, **row}


def _json(value: Any) -> bytes:
    """A value with every digit; without lone surrogates, as records of samples are."""
    text = exact_json(value)
    return encode_json(value) if b"\\ud" in text else text


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else _json(value).decode()
