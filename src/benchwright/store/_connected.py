"""One open database, and transactions on it."""

from __future__ import annotations

import sqlite3

from benchwright.store._database import open_database
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

    def _transaction(self) -> _Transaction:
        return _Transaction(self._connection)


class _Transaction:
    """BEGIN IMMEDIATE … COMMIT, rolled back on an exception."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> sqlite3.Connection:
        self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
