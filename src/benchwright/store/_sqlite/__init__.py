"""The SQLite backend: one database file in the state folder of the workspace."""

from __future__ import annotations

import os
import sqlite3

from benchwright.core import UsageError, expand_home
from benchwright.store._protocols import Store
from benchwright.store._records import Recovered, StoreError
from benchwright.store._sqlite.database import not_read
from benchwright.store._sqlite.repair import integrity_problems, recover_database
from benchwright.store._sqlite.samples import Samples
from benchwright.store._sqlite.workflow_runs import WorkflowRuns, WorkflowSupervision
from benchwright.store._sqlite.workflow_steps import WorkflowLists, WorkflowSteps
from benchwright.store._sqlite.workflow_writer import SqliteWorkflowWriter
from benchwright.store._sqlite.writer import SqliteStepWriter
from benchwright.store._workspace import SQLITE_URL, STATE_FOLDER, Workspace


def workspace_at(url: str) -> Workspace:
    """The workspace of the database that a URL names. A file outside a state folder has its run folders next to it."""
    written = url.removeprefix(SQLITE_URL)
    if not written or written == url:
        raise UsageError(
            f"{url!r} names no file. Write it as in sqlite:///results.db or sqlite:////tmp/results.db"
        )
    file = expand_home(written).resolve()
    usual = Workspace(file.parent.parent)
    if file == usual.database and file.parent.name == STATE_FOLDER:
        return usual
    return Workspace(file.parent, url=f"{SQLITE_URL}{file}")


def open_store(workspace: Workspace, *, read_only: bool) -> Store:
    """Open the database."""
    return SqliteStore(workspace, read_only=read_only)


def exists(workspace: Workspace) -> bool:
    """Whether the file is there."""
    return workspace.database.is_file()


def writable(workspace: Workspace) -> bool:
    """Whether SQLite may write its log next to the file."""
    return os.access(workspace.database.parent, os.W_OK)


def problems(workspace: Workspace) -> list[str]:
    """The findings of SQLite's integrity check."""
    return integrity_problems(workspace.database)


def recover(workspace: Workspace) -> Recovered:
    """Copy the readable rows into a new file."""
    return recover_database(workspace.database)


def plain_error(error: Exception) -> StoreError | None:
    """SQLite's exceptions in plain words."""
    return not_read(error) if isinstance(error, sqlite3.Error) else None


class SqliteStore(WorkflowRuns, WorkflowSteps, WorkflowSupervision, WorkflowLists, Samples):
    """One workspace database, opened by one process. The two writers handle many steps at once."""

    def step_writer(self, run_id: int) -> SqliteStepWriter:
        """Open a writer with a separate connection."""
        return SqliteStepWriter(self.workspace.database, self.held_lease(run_id))

    def workflow_writer(self) -> SqliteWorkflowWriter:
        """Open a writer with a separate connection."""
        return SqliteWorkflowWriter(self.workspace.database)
