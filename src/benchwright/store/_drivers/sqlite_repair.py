"""Saves the readable records of databases that were damaged, lost, or deleted under a running process."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

from benchwright.store._driver import Connection
from benchwright.store._records import Recovered, StoreError
from benchwright.store._statements.marks import INDEXES, forget_indexes

_SIDE_FILES = ("-wal", "-shm")
_RESCUED = "rescued"
_WRITTEN_BACK = "its records were written back"
_written_back: dict[Path, tuple[int, int] | None] = {}
"""Files that this process has restored."""


def integrity_problems(database: Path) -> list[str]:
    """The problems that SQLite finds in the file; empty if it is sound."""
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            found = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        return [str(error)]
    if found == ["ok"]:
        return [] if version else ["it is empty"]
    return found


def recover_database(database: Path, fresh_at: Callable[[Path], Connection]) -> Recovered:
    """Copy everything readable into a new database, which `fresh_at` creates. The damaged file is kept next to it under another name.

    Records that a run saved when its database was replaced by this file are copied as well.
    """
    kept, fresh_file = _aside(database), database.with_name(f"{database.name}.recovering")
    _copy(database, kept)
    for end in ("", *_SIDE_FILES):  # of a recovery that was killed
        Path(f"{fresh_file}{end}").unlink(missing_ok=True)
    lost = 0
    rescued = sorted(
        path for path in database.parent.glob(f"{database.name}.{_RESCUED}-*") if not integrity_problems(path)
    )
    with closing(fresh_at(fresh_file)) as fresh:
        for source in (kept, *rescued):
            fresh.begin()
            lost += _copy_rows(source, fresh)
            forget_indexes(fresh)
            fresh.commit()
        rows = {
            table: int(fresh.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            for table in _tables(fresh)
        }
    # Only now, so that a recovery that is killed can be done again. The old log must not be applied to the new file.
    for end in _SIDE_FILES:
        Path(f"{database}{end}").unlink(missing_ok=True)
    os.replace(fresh_file, database)
    for source in rescued:  # copied only once, because later records are newer
        _move(source, _aside(database, "merged"))
    return Recovered(kept, rows, lost)


def _copy(path: Path, to: Path) -> None:
    import shutil  # not for runs

    for end in ("", *_SIDE_FILES):  # the log belongs to the file and may contain rows
        with suppress(FileNotFoundError):
            shutil.copy2(f"{path}{end}", f"{to}{end}")


def _move(path: Path, to: Path) -> None:
    for end in ("", *_SIDE_FILES):  # the log belongs to the file and may contain rows
        with suppress(FileNotFoundError):
            os.replace(f"{path}{end}", f"{to}{end}")


def _tables(connection: Connection) -> list[str]:
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return [str(row[0]) for row in found if not str(row[0]).startswith("sqlite_")]


def _copy_rows(source: Path, fresh: Connection) -> int:
    """Copy readable rows. Returns the number of places that could not be read."""
    lost = 0
    with closing(sqlite3.connect(source, isolation_level=None)) as damaged:
        for table in _tables(fresh):
            if table in INDEXES:  # they are filled again
                continue
            columns = [row[1] for row in fresh.execute(f"PRAGMA table_info({table})")]
            marks = ",".join("?" * len(columns))
            for row in _readable(damaged, table, columns):
                if row is None:
                    lost += 1
                else:
                    try:
                        fresh.execute(
                            f"INSERT OR REPLACE INTO {table} ({','.join(columns)}) VALUES ({marks})", row
                        )
                    except fresh.errors:  # damage made it something that cannot be
                        lost += 1
    return lost


def _readable(
    damaged: sqlite3.Connection, table: str, columns: list[str]
) -> Iterator[tuple[object, ...] | None]:
    """The table's rows; None for each place that cannot be read, after which reading continues from the other end."""
    last: tuple[object, ...] | None = None
    known: set[str] = set()
    try:
        known = {row[1] for row in damaged.execute(f"PRAGMA table_info({table})")}
        chosen = ",".join(name if name in known else "NULL" for name in columns)
        for last in damaged.execute(f"SELECT {chosen} FROM {table}"):
            yield last
        return
    except (sqlite3.Error, UnicodeDecodeError):
        yield None
    if not known:
        return
    with suppress(sqlite3.Error, UnicodeDecodeError):
        for row in damaged.execute(f"SELECT {chosen} FROM {table} ORDER BY rowid DESC"):
            if row == last:
                return
            yield row


def rescue(connection: sqlite3.Connection, database: Path) -> StoreError:
    """Save the records of a database whose file was deleted or replaced while this process writes to it.

    The process still has the file open, although it no longer has a name. Its records get the name back, or a new name if
    another file has taken it.
    """
    copy = _aside(database, _RESCUED)
    try:
        database.parent.mkdir(parents=True, exist_ok=True)
        if identity(database) == _written_back.get(
            database, ()
        ):  # restored for another run of this process: these records are newer
            _back_up(connection, database)
            return _stopped(database, _WRITTEN_BACK)
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL, 0o600))  # as private as the database
        _back_up(connection, copy)
        for end in _SIDE_FILES:
            with suppress(FileNotFoundError):
                os.unlink(f"{copy}{end}")
        try:
            for end in _SIDE_FILES:  # those of the deleted file would be mistaken for the copy's
                if not database.exists():
                    with suppress(FileNotFoundError):
                        os.unlink(f"{database}{end}")
            os.link(copy, database)
            os.unlink(copy)
            _written_back[database] = identity(database)
            saved = _WRITTEN_BACK
        except FileExistsError:
            saved = (
                f"another file has its place, so its records were saved as {copy}. If that file is not a database, have "
                "them back with: benchwright doctor; else give the two files their places"
            )
    except (OSError, sqlite3.Error) as error:
        saved = f"its records since then could not be saved: {error}"
    return _stopped(database, saved)


def _back_up(connection: sqlite3.Connection, to: Path) -> None:
    with closing(sqlite3.connect(to)) as target:
        connection.backup(target)


def _stopped(database: Path, saved: str) -> StoreError:
    return StoreError(
        f"{database} was deleted or replaced while the run wrote to it, so the run was stopped; {saved}",
        resume=". Continue with: benchwright resume" if saved == _WRITTEN_BACK else "",
    )


def identity(database: Path) -> tuple[int, int] | None:
    """The identity of the file with this name; None if there is none."""
    try:
        found = os.stat(database)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _aside(database: Path, word: str = "damaged") -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = (f"{database.name}.{word}-{stamp}{'' if n == 0 else f'-{n}'}" for n in range(1000))
    return next(place for name in names if not (place := database.with_name(name)).exists())
