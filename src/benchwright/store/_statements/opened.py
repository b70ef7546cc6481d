"""An open store: its workspace, its driver, its connection."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from benchwright.store._driver import Connection, Driver, Transaction
from benchwright.store._statements.schema import (
    HAS_LABELS,
    HAS_OVERVIEWS,
    LAST_RUN,
    TELLS_PROGRESS,
    connected,
)
from benchwright.store._workspace import Workspace


class Opened:
    """A workspace with its database open."""

    def __init__(self, workspace: Workspace, driver: Driver, *, read_only: bool = False) -> None:
        if not read_only:
            workspace.create()
        self.workspace = workspace
        self._driver = driver
        self._read_only = read_only
        self._beating: Connection | None = None
        self._scratch_tables: dict[str, str] = {}
        self._connection = connected(driver, "read" if read_only else "write")
        self.local = self._connection.local
        # Tables of an earlier version stay as they are while they are only read.
        version = self._connection.version()
        self._tells_progress, self._has_labels = version >= TELLS_PROGRESS, version >= HAS_LABELS
        self._has_overviews = version >= HAS_OVERVIEWS

    def close(self) -> None:
        """Close the database."""
        for each in {self._connection, self._beating or self._connection}:
            each.close()

    def _beats(self) -> Connection:
        """The connection for heartbeats: of its own if others may be waiting for the database."""
        if self._connection.local:
            return self._connection
        if self._beating is None:
            self._beating = connected(self._driver, "append")
            self._beating.patience_s = 0.0
        return self._beating

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_run(self) -> int:
        """The number of a new run; never one whose folder exists, even if its record is gone."""
        recorded = self._connection.execute(LAST_RUN).fetchone()[0] or 0
        return 1 + max((recorded, *self.workspace.run_folders(beyond=recorded)))

    def _scratch(self, table: str, declaration: str) -> str:
        """A table for this connection only, created when it is first needed."""
        if table not in self._scratch_tables:
            declared = declaration.format_map(self._connection.words)
            self._scratch_tables[table] = self._connection.scratch(table, declared)
        return self._scratch_tables[table]

    def _transaction(self, *, durable: bool = False, bulk: bool = False) -> Transaction:
        return Transaction(self._connection, durable=durable, bulk=bulk)
