"""SQLite in a file, which is what a workspace has unless another store is named."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import monotonic, sleep

from benchwright.core import UsageError, expand_home, make_private
from benchwright.store._driver import Access, Connection, Driver
from benchwright.store._drivers.sqlite_connection import PATIENCE_S, SqliteConnection
from benchwright.store._drivers.sqlite_errors import kind_of, not_read
from benchwright.store._drivers.sqlite_repair import identity, integrity_problems, recover_database, rescue
from benchwright.store._records import Recovered, StoreError
from benchwright.store._workspace import SQLITE_URL, Workspace


class SqliteFile:
    """One database file.

    It uses WAL with synchronous=NORMAL: a killed process loses nothing that was committed; a power cut may lose the last
    commits but never corrupts the file. Autocommit mode makes transactions explicit: they begin with `begin`.
    """

    errors: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, workspace: Workspace) -> None:
        self._path = workspace.database

    @staticmethod
    def workspace_at(url: str) -> Workspace:
        """The workspace of the database that a URL names. A file outside a state folder has its run folders next to it."""
        written = url.removeprefix(SQLITE_URL)
        if not written or written == url:
            raise UsageError(
                f"{url!r} names no file. Write it as in sqlite:///results.db or sqlite:////tmp/results.db"
            )
        file = expand_home(written).resolve()
        usual = Workspace(file.parent.parent)
        if file == usual.database and file.parent.name == Workspace.folder_name:
            return usual
        return Workspace(file.parent, url=f"{SQLITE_URL}{file}")

    def connect(self, access: Access, *, log_pages: int = 0) -> Connection:
        """Open the file, and create it unless it is only read."""
        raw = _connected(self._path, read_only=access == "read")
        try:
            raw.execute(f"PRAGMA busy_timeout = {PATIENCE_S * 1000}")
            if access == "read":
                raw.execute("PRAGMA temp_store = MEMORY")  # the disk may be read-only
            else:
                _use_log(raw)
                raw.execute("PRAGMA synchronous = NORMAL")
            if log_pages:
                raw.execute(f"PRAGMA wal_autocheckpoint = {log_pages}")
        except BaseException:
            raw.close()
            raise
        opened = identity(self._path)

        def lost(raw: sqlite3.Connection) -> StoreError | None:
            """Writing to a deleted file raises no error, so its name is looked up."""
            return None if identity(self._path) == opened else rescue(raw, self._path)

        return SqliteConnection(raw, str(self._path), lost)

    def exists(self) -> bool:
        """Whether the file is there."""
        return self._path.is_file()

    def writable(self) -> bool:
        """Whether SQLite may write its log next to the file."""
        return os.access(self._path.parent, os.W_OK)

    def problems(self) -> list[str]:
        """The findings of SQLite's integrity check."""
        return integrity_problems(self._path)

    def recover(self, fresh: Callable[[Driver], Connection]) -> Recovered:
        """Copy the readable rows into a new file."""

        def at(path: Path) -> Connection:
            return fresh(SqliteFile(Workspace(path.parent, url=f"{SQLITE_URL}{path}")))

        return recover_database(self._path, at)

    def tidy(self) -> None:
        """Move the content of the log into the file, as far as possible without waiting."""
        # If it fails, a later one or the last close does it.
        with suppress(sqlite3.Error), closing(self.connect("write")) as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")

    @staticmethod
    def plain_error(error: Exception) -> StoreError:
        """SQLite's exceptions in plain words."""
        return not_read(error)

    def not_read(self, error: Exception) -> StoreError:
        """The reason and the cure."""
        return not_read(error, self._path)


DRIVER = SqliteFile


def _connected(path: Path, *, read_only: bool) -> sqlite3.Connection:
    if not read_only:
        _keep_private(path)
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # Without a log next to the database, no process writes to it. `immutable` then reads it even on a read-only disk, where
    # SQLite cannot create the index file of the log.
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
    )


def _keep_private(path: Path) -> None:
    """Let only the owner read the records. SQLite gives its log the permissions of the database."""
    # Never open an existing file: closing a second descriptor of it would drop the locks that this process holds through
    # SQLite, and another process could then delete the log in use.
    with suppress(OSError):  # SQLite will report the reason
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for ending in ("", "-wal", "-shm"):
        make_private(path.with_name(path.name + ending))


def _use_log(connection: sqlite3.Connection) -> None:
    """Switch a new database to a write-ahead log. If several processes open it at once, SQLite refuses all but one of them
    without waiting, despite its time-out."""
    latest = monotonic() + PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if kind_of(error) != "locked" or monotonic() > latest:
                raise
            sleep(0.005)
