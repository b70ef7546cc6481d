"""One open database, and transactions on it."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from types import TracebackType
from typing import Self

from benchwright.store._sqlite.database import not_written, open_database
from benchwright.store._sqlite.schema import LAST_RUN
from benchwright.store._workflow.leases import lost_lease
from benchwright.store._workflow.records import Lease
from benchwright.store._workspace import Workspace


class Connected:
    """A workspace with its database open."""

    def __init__(self, workspace: Workspace, *, read_only: bool = False) -> None:
        if not read_only:
            workspace.create()
        self.workspace = workspace
        self._connection = open_database(workspace.database, read_only=read_only)

    def close(self) -> None:
        """Close the database."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_run(self) -> int:
        """The number of a new run; never one whose folder exists, whatever became of its record."""
        recorded = int(self._connection.execute(LAST_RUN).fetchone()[0])
        return 1 + max((recorded, *self.workspace.run_folders(beyond=recorded)))

    def _transaction(self) -> Transaction:
        return Transaction(self._connection, self.workspace.database)


def check_lease(connection: sqlite3.Connection, lease: Lease) -> None:
    """Refuse, with `RunOwnedError`, to write to a run that somebody else has taken over or ended."""
    held = "SELECT 1 FROM runs WHERE lease = ? AND id = ?"  # from an index alone
    if connection.execute(held, (lease.token, lease.run_id)).fetchone() is not None:
        return
    row = connection.execute("SELECT lease, owner, status FROM runs WHERE id = ?", (lease.run_id,)).fetchone()
    if row is None or row[0] != lease.token:
        raise lost_lease(lease.run_id, row and row[1], row and row[2])


class Transaction:
    """BEGIN IMMEDIATE … COMMIT, rolled back on an exception. What SQLite raises becomes a `StoreError`."""

    def __init__(self, connection: sqlite3.Connection, database: Path) -> None:
        self._connection = connection
        self._database = database

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise not_written(self._database, error) from error
        return self._connection

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
                return
        except sqlite3.Error as failure:
            error = failure
        if self._connection.in_transaction:  # a full disk may have ended it already
            self._connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise not_written(self._database, error) from error
