"""Lists of workflow records, a page at a time, in the order of their numbers: clocks may jump, numbers do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from benchwright.core import NotFoundError
from benchwright.store._records import EVENT_COLUMNS, Event, RunRecord, event_of
from benchwright.store._sqlite.runs import Runs
from benchwright.store._sqlite.workflow.statements import STEP_COLUMNS, metric_totals, step_counts
from benchwright.store._texts import load_json
from benchwright.store._workflow_records import MetricPoint, MetricTotals, Page, WorkflowStep

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
        return _page(found, limit)

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
        """Steps per status; of each key only the newest generation counts."""
        return step_counts(self._connection, run_id)

    def metric_totals(self, run_id: int) -> dict[str, MetricTotals]:
        """Metrics of a run by name, summed up over their points."""
        return metric_totals(self._connection, run_id)


def _page(found: Sequence[T], limit: int) -> Page[T]:
    """One more was read than the page holds, to know whether there are more."""
    items = list(found[:limit])
    return Page(items, items[-1].id if len(found) > limit else None)


def _point(row: tuple[Any, ...]) -> MetricPoint:
    number, run_id, step_id, name, value, unit, tags, created_at = row
    labels = load_json(None if tags is None else tags.encode())
    return MetricPoint(
        number, run_id, step_id, name, value, unit, labels if isinstance(labels, dict) else None, created_at
    )
