"""The store on SQLite, put together from its parts."""

from __future__ import annotations

from benchwright.store._sqlite.samples import Samples
from benchwright.store._sqlite.workflow.workflows import Workflows
from benchwright.store._sqlite.workflow.writer import SqliteWorkflowWriter
from benchwright.store._sqlite.writer import SqliteStepWriter


class SqliteStore(Workflows, Samples):
    """One workspace database, opened by one process. Many steps at once go through the two writers."""

    def step_writer(self, run_id: int) -> SqliteStepWriter:
        """A writer with a connection of its own."""
        return SqliteStepWriter(self.workspace.database, self.held_lease(run_id))

    def workflow_writer(self) -> SqliteWorkflowWriter:
        """A writer with a connection of its own."""
        return SqliteWorkflowWriter(self.workspace.database)
