"""SQLite in the memory of this process: records that end with it, for tests and notebooks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from time import monotonic, sleep

from benchwright.core import UsageError
from benchwright.store._driver import Access, Connection, Driver
from benchwright.store._drivers.sqlite_connection import PATIENCE_S, SqliteConnection
from benchwright.store._drivers.sqlite_errors import kind_of, not_read
from benchwright.store._records import Recovered, StoreError
from benchwright.store._workspace import Workspace

_KEPT: dict[str, sqlite3.Connection] = {}
"""One connection to each database, by URL: SQLite forgets a database without any."""


class SqliteMemory:
    """A database that the connections of this process share.

    They share a cache, in which a reader would lock a table; with `read_uncommitted` it does not, and reads what another
    connection is about to commit.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, workspace: Workspace) -> None:
        self._url = workspace.store_url

    @staticmethod
    def workspace_at(url: str) -> Workspace:
        """The URL names the folder of the workspace, where the files of runs are written."""
        from pathlib import Path

        folder = url.removeprefix("memory://")
        if not folder:
            raise UsageError(
                "memory:// names no folder. Write it with the folder for the files of runs, as in memory:///tmp/evals"
            )
        return Workspace(Path(folder).resolve(), url=url)

    def connect(self, access: Access, *, log_pages: int = 0) -> Connection:
        """Open a connection to the shared database."""
        if self._url not in _KEPT:
            _KEPT[self._url] = self._connected()
        return _Connection(self._connected(), self._url, lambda raw: None)

    def _connected(self) -> sqlite3.Connection:
        from urllib.parse import quote

        name = f"file:{quote(self._url, safe='')}?mode=memory&cache=shared"
        raw = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False)
        raw.execute("PRAGMA read_uncommitted = 1")
        return raw

    def exists(self) -> bool:
        """Whether this process has recorded anything there."""
        return self._url in _KEPT

    def writable(self) -> bool:
        """Always."""
        return True

    def problems(self) -> list[str]:
        """None: nothing can damage it."""
        return []

    def recover(self, fresh: Callable[[Driver], Connection]) -> Recovered:
        """There is nothing to recover."""
        raise UsageError("a store in memory is never damaged")

    def tidy(self) -> None:
        """Nothing is postponed."""

    @staticmethod
    def plain_error(error: Exception) -> StoreError:
        """SQLite's exceptions in plain words."""
        return not_read(error)

    def not_read(self, error: Exception) -> StoreError:
        """The reason and the cure."""
        return not_read(error)

    @staticmethod
    def forget(url: str) -> None:
        """Give up a database, for tests."""
        if (kept := _KEPT.pop(url, None)) is not None:
            kept.close()


class _Connection(SqliteConnection):
    __slots__ = ()

    def begin(self, *, durable: bool = False, bulk: bool = False) -> None:
        """Wait for another connection's transaction. SQLite refuses at once where a cache is shared."""
        latest = monotonic() + PATIENCE_S
        while True:
            try:
                super().begin()
                return
            except sqlite3.OperationalError as error:
                if kind_of(error) != "locked" or monotonic() > latest:
                    raise
                sleep(0.001)


DRIVER = SqliteMemory
