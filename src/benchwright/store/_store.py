"""The workspace's records in one hand."""

from __future__ import annotations

from benchwright.store._steps import Steps
from benchwright.store._workflow.workflows import Workflows


class Store(Workflows, Steps):
    """One workspace database, opened by one process. Many steps at once are written by `StepWriter` and
    `WorkflowWriter`, all else here."""
