"""The SQLite database of a workspace: pragmas, migrations, plain error messages, and the working time of runs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Self

from benchwright.core import make_private
from benchwright.store._owner import begin_run, lost_lease
from benchwright.store._records import StoreError
from benchwright.store._sqlite.schema import LAST_RUN, MIGRATIONS, show_as_newest
from benchwright.store._workflow_records import Lease
from benchwright.store._workspace import Workspace


def not_written(database: Path, error: Exception) -> StoreError:
    """The error for a record that could not be written: what is safe, and the cure."""
    kind = _kind_of(error)
    if kind == "full":
        what = f"the disk is full, so a record could not be written to {database}"
        cure = "make room"
    elif kind == "locked":
        what = f"another process kept {database} locked, so a record could not be written"
        cure = "see what that process does"
    elif kind == "damaged":
        return StoreError(_damaged(database, error))
    else:
        what = f"a record could not be written to {database}: {error}"
        cure = "free disk space or repair the disk"
    return StoreError(
        f"{what}. Everything recorded before is safe",
        resume=f", what was being done will be done again; {cure}, then: benchwright resume",
        cure=cure,
    )


def not_read(error: sqlite3.Error, database: Path | None = None) -> StoreError:
    """The error for a database that could not be used: the reason and the cure."""
    where = "the workspace database" if database is None else f"{database}: the workspace database"
    kind = _kind_of(error)
    if kind == "damaged":
        return StoreError(_damaged(database, error))
    causes = {
        "full": f"{where} cannot be used, because the disk is full ({error}). Free disk space and try again",
        "locked": f"{where} is locked by another process. Wait for it, or see what it does",
        "readonly": f"{where} cannot be written to ({error}). Check the rights of its folder, or choose another --workspace",
        "disk": f"{where} could not be read or written: the disk reports an error ({error}). Check the disk, then: "
        "benchwright doctor",
    }
    if kind in causes:
        return StoreError(f"{causes[kind]}.")
    network = None if database is None else Workspace(database.parent.parent).network_filesystem()
    remote = f"It is on a network file system ({network}), where SQLite is not safe. " if network else ""
    return StoreError(
        f"{where} cannot be opened ({error}). {remote}Check that its folder is there and writable, or choose another "
        "--workspace."
    )


def _damaged(database: Path | None, error: Exception) -> str:
    where = "the workspace database" if database is None else str(database)
    return f"{where} is damaged ({error}). Recover what can be read with: benchwright doctor"


_KINDS = (
    ("SQLITE_FULL", "full"),
    ("SQLITE_CORRUPT", "damaged"),
    ("SQLITE_NOTADB", "damaged"),
    ("SQLITE_BUSY", "locked"),
    ("SQLITE_LOCKED", "locked"),
    ("SQLITE_READONLY", "readonly"),
    ("SQLITE_IOERR", "disk"),
)


def _kind_of(error: Exception) -> str:
    """The kind of an error, by SQLite's name for it, else by its message."""
    name = str(getattr(error, "sqlite_errorname", ""))
    for start, kind in _KINDS:
        if name.startswith(start):
            return kind
    text = str(error)
    return next(
        (
            kind
            for word, kind in (("full", "full"), ("locked", "locked"), ("malformed", "damaged"))
            if word in text
        ),
        "",
    )


def _keep_private(path: Path) -> None:
    """Let only the owner read the records. SQLite gives its log the permissions of the database."""
    # Never open an existing file: closing a second descriptor of it would drop the locks that this process holds through
    # SQLite, and another process could then delete the log in use.
    with suppress(OSError):  # SQLite will report the reason
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for ending in ("", "-wal", "-shm"):
        make_private(path.with_name(path.name + ending))


_PATIENCE_S = 10
"""How long to wait for other processes that use the database."""


def _use_log(connection: sqlite3.Connection) -> None:
    """Switch a new database to a write-ahead log. If several processes open it at once, SQLite refuses all but one of them
    without waiting, despite its time-out."""
    latest = monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if _kind_of(error) != "locked" or monotonic() > latest:
                raise
            sleep(0.005)


def open_database(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Open (and create or migrate) the database.

    It uses WAL with synchronous=NORMAL: a killed process loses nothing that was committed; a power cut may lose the last
    commits but never corrupts the file. Autocommit mode makes transactions explicit: they begin where we write BEGIN.
    """
    try:
        connection = _connected(path, read_only)
        try:
            connection.execute(f"PRAGMA busy_timeout = {_PATIENCE_S * 1000}")
            if read_only:
                if (version := _version(connection, path)) < len(MIGRATIONS):
                    show_as_newest(connection, version)
            else:
                _use_log(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
        return connection
    except sqlite3.DatabaseError as error:
        raise not_read(error, path) from error


def _connected(path: Path, read_only: bool) -> sqlite3.Connection:
    if not read_only:
        _keep_private(path)
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    # Without a log next to the database, no process writes to it. `immutable` then reads it even on a read-only disk, where
    # SQLite cannot create the index file of the log.
    mode = "mode=ro" if path.with_name(path.name + "-wal").exists() else "immutable=1"
    return sqlite3.connect(
        f"{path.resolve().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
    )


def database_of(connection: sqlite3.Connection) -> str:
    """The file of a connection."""
    return str(connection.execute("PRAGMA database_list").fetchone()[2])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    if _version(connection, path) == len(MIGRATIONS):
        return
    # IMMEDIATE, because two processes may open a new workspace at once; the second waits and then finds it migrated.
    connection.execute("BEGIN IMMEDIATE")
    try:
        for number in range(_version(connection, path), len(MIGRATIONS)):
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # not if a full disk has ended it
            connection.execute("ROLLBACK")
        raise


def _version(connection: sqlite3.Connection, path: Path) -> int:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StoreError(
            f"{path} was written by a newer benchwright (schema {version}, this one knows {len(MIGRATIONS)}). "
            "Upgrade benchwright, or choose another --workspace."
        )
    return version


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
        """The number of a new run; never one whose folder exists, even if its record is gone."""
        recorded = int(self._connection.execute(LAST_RUN).fetchone()[0])
        return 1 + max((recorded, *self.workspace.run_folders(beyond=recorded)))

    def _transaction(self) -> Transaction:
        return Transaction(self._connection, self.workspace.database)


def check_lease(connection: sqlite3.Connection, lease: Lease) -> None:
    """Raise `RunOwnedError` for a run that another process has taken over or ended."""
    held = "SELECT 1 FROM runs WHERE lease = ? AND id = ?"  # answered from an index alone
    if connection.execute(held, (lease.token, lease.run_id)).fetchone() is not None:
        return
    row = connection.execute("SELECT lease, owner, status FROM runs WHERE id = ?", (lease.run_id,)).fetchone()
    if row is None or row[0] != lease.token:
        raise lost_lease(lease.run_id, row and row[1], row and row[2])


class Transaction:
    """BEGIN IMMEDIATE … COMMIT, rolled back on an exception. Exceptions of SQLite become `StoreError`."""

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
        if self._connection.in_transaction:  # a full disk may have ended it
            self._connection.execute("ROLLBACK")
        if isinstance(error, sqlite3.Error):
            raise not_written(self._database, error) from error


def begin_work(connection: sqlite3.Connection, run_id: int, now: float) -> None:
    """Note that this process begins to work on a run, or continues a start that was handed over to it."""
    begin_run(database_of(connection), run_id)
    connection.execute(
        "UPDATE runs SET began = coalesce(began, ?), worked = coalesce(worked, 0) WHERE id = ?", (now, run_id)
    )


def end_work(connection: sqlite3.Connection, run_id: int, end: float | None) -> None:
    """Add the seconds of the last start, if it is open, to those of earlier ones.

    Without an `end` the process died, and the start counts up to its last sign of life. Runs of older versions have only
    the time of their creation, which counts as their only start.
    """
    row = connection.execute(
        "SELECT began, worked, created_at, finished_at FROM runs WHERE id = ?", (run_id,)
    ).fetchone()
    if row is None:
        return
    began, worked, created, finished = row
    if began is None:
        if worked is not None:
            return
        began, end = created, finished
    if end is None:
        end = _last_sign(connection, run_id)
    connection.execute(
        "UPDATE runs SET began = NULL, worked = ? WHERE id = ?",
        ((worked or 0.0) + max(0.0, end - began), run_id),
    )


def _last_sign(connection: sqlite3.Connection, run_id: int) -> float:
    """Wall clock of the last heartbeat or record, whichever is later."""
    found = connection.execute(
        "SELECT (SELECT heartbeat FROM runs WHERE id = :run),"
        " (SELECT finished_at FROM steps WHERE rowid = (SELECT max(rowid) FROM steps WHERE run_id = :run)),"
        " (SELECT max(coalesce(finished_at, started_at)) FROM workflow_steps WHERE run_id = :run)",
        {"run": run_id},
    ).fetchone()
    return max((time for time in found if time is not None), default=0.0)
