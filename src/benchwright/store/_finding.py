"""Finds the run that a user names, and tells whether all of its records are there; both use the ports only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from msgspec.structs import replace

from benchwright.core import (
    RUN_STATUSES,
    JsonObject,
    JsonValue,
    NoteGrade,
    NotFoundError,
    RunKind,
    expand_home,
    suggest,
)
from benchwright.store._records import RunRecord
from benchwright.store._workspace import Workspace


class _Runs(Protocol):
    """What finding a run needs of a store."""

    @property
    def workspace(self) -> Workspace: ...

    def run(self, run_id: int) -> RunRecord: ...

    def runs(self, *, after: int | None = None, limit: int | None = None) -> list[RunRecord]: ...

    def count_steps(self, run_id: int, kind: str) -> int: ...


def listed_run(store: _Runs, run_id: int) -> RunRecord:
    """A run by number as lists have it, even if its record is damaged, for those who delete it."""
    found = [run for run in store.runs(after=run_id + 1, limit=1) if run.id == run_id]
    return whole(store, found[0]) if found else store.run(run_id)  # which says that there is none


def named_run(store: _Runs, target: str) -> RunRecord:
    """A run by number, by `last`, by benchmark name (its newest run), or by its folder. A folder that no longer exists
    stands for no run: who removed it wants to see results of a later one there."""
    if target.isdigit():
        return store.run(int(target))
    runs = store.runs()
    if target in ("last", "latest") and runs:
        return store.run(runs[0].id)
    place = expand_home(target).resolve()
    for run in runs:
        # A run that has not ended may have written nothing yet.
        there = run.finished_at is None or place.exists()
        if target == run.name or (place == run.folder and there):
            return store.run(run.id)
    gone = next((run.id for run in runs if place == run.folder), None)
    if gone is not None:
        raise NotFoundError(
            f"no run {target!r}: this folder does not exist any more. Run {gone} wrote into it: name that run by its number"
        )
    raise no_such_run(store, target)


def no_such_run(store: _Runs, target: str) -> NotFoundError:
    """The error for a run that is not on record, with similar names."""
    runs = store.runs(limit=50)
    if not runs:
        return NotFoundError(f"no run {target!r}: {store.workspace.without_runs()}")
    known = ["last", *sorted({run.name for run in runs})]
    return NotFoundError(
        f"no run {target!r} in the workspace {store.workspace.root}; the newest is {runs[0].id}."
        f"{suggest(target, known)} See: benchwright list"
    )


def _with_note(summary: JsonObject, note: JsonValue) -> JsonObject:
    known: Any = summary.get("notes")
    if not isinstance(known, list):  # there are none, or they are damaged
        known = []
    return {"notes": [*known] if note in known else [*known, note]}


def _sample_loss(summary: JsonObject, lost: str) -> JsonObject:
    told = summary.get("note_grades")
    grades: Any = told if isinstance(told, dict) else {}
    return {**_with_note(summary, lost), "note_grades": {**grades, lost: NoteGrade.PROBLEM.value}}


def _request_loss(summary: JsonObject, lost: str) -> JsonObject:
    return _with_note(summary, {"kind": "lost_records", "text": lost})


_COUNTED: dict[str, tuple[str, str, Callable[[JsonObject, str], JsonObject]]] = {
    RunKind.BENCHMARK: ("score", "samples", _sample_loss),
    RunKind.LOAD: ("request", "requests", _request_loss),
}
"""The steps that `evaluated` in the summary of a run counts, their name in messages, and what adds a note about a loss."""


def whole(store: _Runs, run: RunRecord) -> RunRecord:
    """A run of `runs` as its records allow it: a completed one that has lost samples or requests counts as interrupted, and its
    figures as partial. Everything that reads one run reads it through this; lists, which read many, call it."""
    counted, summary = _COUNTED.get(run.kind), run.summary
    if counted is None or summary is None or RUN_STATUSES[run.status].live:
        return run
    expected = summary.get("evaluated")
    if not isinstance(expected, int):
        return run
    step, noun, noted = counted
    recorded = store.count_steps(run.id, step)
    if recorded >= expected:
        return run
    lost = f"{expected - recorded:,} of {expected:,} {noun} are missing from the records"
    partial = {**summary, "partial": True, "comparable": False, **noted(summary, lost)}
    found = replace(run, lost=expected - recorded, summary=partial)
    if run.status != "completed":
        return found
    error = f"{lost}. Restore them, if its files have them, with: benchwright doctor"
    return replace(found, status="interrupted", error=error)
