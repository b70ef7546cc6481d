"""Lists workflow records, a page at a time. Lists follow the numbers of records: clocks may jump, numbers do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from benchwright.core import NotFoundError
from benchwright.store._records import load_json
from benchwright.store._statements.opened import Opened
from benchwright.store._statements.workflow_statements import STEP_COLUMNS, metric_totals, step_counts
from benchwright.store._workflow_records import MetricPoint, MetricTotals, Page, WorkflowStep

if TYPE_CHECKING:
    from benchwright.store._statements.workflow_writer import GroupWriter

T = TypeVar("T", WorkflowStep, MetricPoint)


class WorkflowLists(Opened):
    """Readers for listings and for the server."""

    def workflow_writer(self, *, alone: bool = True) -> GroupWriter:
        """Open a writer with a separate connection."""
        from benchwright.store._statements.workflow_writer import GroupWriter  # for workflows alone

        return GroupWriter(self._driver, alone=alone)

    def page_steps(
        self, run_id: int, *, after: int = 0, limit: int = 100, status: str | None = None
    ) -> Page[WorkflowStep]:
        """Steps of a workflow run, all generations, in the order in which they were first begun."""
        chosen = "" if status is None else " AND status = ?"
        rows = self._connection.execute(
            f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE run_id = ? AND id > ?{chosen} ORDER BY id LIMIT ?",
            (run_id, after, *(() if status is None else (status,)), limit + 1),
        )
        return _page([WorkflowStep(*row) for row in rows], limit)

    def page_metrics(
        self, run_id: int, *, after: int = 0, limit: int = 1000, name: str | None = None
    ) -> Page[MetricPoint]:
        """Metric points of a run, in the order in which they came; those of repeated attempts are left out."""
        chosen = "" if name is None else " AND name = ?"
        rows = self._connection.execute(
            "SELECT id, run_id, step_id, name, value, unit, tags, created_at FROM metrics"
            f" WHERE run_id = ? AND id > ? AND superseded = 0{chosen} ORDER BY id LIMIT ?",
            (run_id, after, *(() if name is None else (name,)), limit + 1),
        )
        return _page([_point(row) for row in rows], limit)

    def workflow_step(self, step: int | tuple[int, str]) -> WorkflowStep:
        """One step by number; or, by its run and key, its newest generation."""
        if isinstance(step, int):
            row = self._connection.execute(
                f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE id = ?", (step,)
            ).fetchone()
            wrong = f"no step {step} in the workspace {self.workspace.root}"
        else:
            row = self._connection.execute(
                f"SELECT {STEP_COLUMNS} FROM workflow_steps WHERE run_id = ? AND key = ?"
                " ORDER BY generation DESC LIMIT 1",
                step,
            ).fetchone()
            wrong = f"run {step[0]} has no step {step[1]!r}"
        if row is None:
            raise NotFoundError(wrong)
        return WorkflowStep(*row)

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
