"""A connection to SQLite, for the drivers of files and of memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from typing import Any

from benchwright.store._drivers.sqlite_errors import not_written
from benchwright.store._records import StoreError

PATIENCE_S = 10
"""How long to wait for others that use the database."""
_BULK_KIB = 64_000
"""Memory for the rows of a large transaction, because an index has another order than the rows."""
_USUAL_KIB = 2_000
"""Memory for pages at other times, as SQLite has it. A server keeps several connections for as long as it runs."""
_WORDS = {
    "bytes": "BLOB",
    "number": "REAL",
    "integer": "INTEGER",
    "key": "TEXT",
    "counted": "INTEGER PRIMARY KEY AUTOINCREMENT",  # never one that was deleted
    "numbered": "INTEGER PRIMARY KEY",
    "row_number": "",  # every table has a hidden `rowid`
    "by_key": "WITHOUT ROWID",
}


class SqliteConnection:
    """Statements go to SQLite's own methods, without a call in between."""

    __slots__ = (
        "_bulk", "_durable", "_lost", "_raw", "as_blob", "errors", "execute", "executemany", "local", "patience_s", "place", "stream", "words",
    )  # fmt: skip

    execute: Callable[..., Any]
    executemany: Callable[..., Any]
    stream: Callable[..., Any]
    as_blob: Callable[[bytes], object]
    words: Mapping[str, str]

    def __init__(
        self, raw: sqlite3.Connection, place: str, lost: Callable[[sqlite3.Connection], StoreError | None]
    ) -> None:
        self._raw = raw
        self._lost = lost
        self._bulk = self._durable = False
        self.place = place
        self.words = _WORDS
        # For `bytes`, `sqlite3` first searches for an adapter, in vain, which took a third of the time of an insert.
        self.as_blob = bytearray
        self.local = True
        self.patience_s = 0.0
        self.errors: tuple[type[Exception], ...] = (sqlite3.Error,)
        self.execute = self.stream = raw.execute
        self.executemany = raw.executemany

    def is_away(self, error: Exception) -> bool:
        """A file is there or lost."""
        return False

    def begin(self, *, durable: bool = False, bulk: bool = False) -> None:
        """Take the lock at once: a transaction that reads first could not take it later, if another has written meanwhile."""
        if bulk:
            self.execute(f"PRAGMA cache_size = -{_BULK_KIB}")
            self._bulk = True
        if durable:
            self.execute("PRAGMA synchronous = FULL")
            self._durable = True
        try:
            self.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._as_usual()
            raise

    def commit(self) -> None:
        """Commit, also where the transaction was durable."""
        self._raw.commit()
        self._as_usual()

    def rollback(self) -> None:
        """Undo; nothing happens if a full disk has already ended the transaction."""
        self._raw.rollback()
        self._as_usual()

    def _as_usual(self) -> None:
        if self._bulk:
            self._bulk = False
            self.execute(f"PRAGMA cache_size = -{_USUAL_KIB}")
        if self._durable:
            self._durable = False
            self.execute("PRAGMA synchronous = NORMAL")

    def scratch(self, table: str, declaration: str) -> str:
        """A temporary table."""
        self.execute(f"CREATE TEMP TABLE {table} {declaration}")
        return f"temp.{table}"

    def version(self) -> int:
        """SQLite keeps a number for its user."""
        return int(self.execute("PRAGMA user_version").fetchone()[0])

    def set_version(self, version: int) -> None:
        """Part of the transaction."""
        self.execute(f"PRAGMA user_version = {version}")

    def not_written(self, error: Exception) -> StoreError:
        """What is safe, and the cure."""
        return not_written(self.place, error)

    def lost(self) -> StoreError | None:
        """As the driver finds out."""
        return self._lost(self._raw)

    def close(self) -> None:
        self._raw.close()
