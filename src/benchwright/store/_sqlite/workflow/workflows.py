"""Workflow records in one hand."""

from __future__ import annotations

from benchwright.store._sqlite.workflow.listing import WorkflowLists
from benchwright.store._sqlite.workflow.runs import WorkflowRuns
from benchwright.store._sqlite.workflow.steps import WorkflowSteps
from benchwright.store._sqlite.workflow.supervision import WorkflowSupervision


class Workflows(WorkflowRuns, WorkflowSteps, WorkflowSupervision, WorkflowLists):
    """Workflow runs, their steps, metrics and events: decided, recorded and read synchronously.

    One transaction a call. Who records from an event loop, many steps at once, uses `WorkflowWriter`.
    """
