"""Who opens a connection closes it, also where opening fails half way."""

from __future__ import annotations

import gc
import sqlite3
import warnings
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from benchwright.core import BenchwrightError
from benchwright.store import Lease, Workspace, open_store
from benchwright.store._drivers.sqlite_file import SqliteFile
from benchwright.store._statements.step_writer import SampleStepWriter
from benchwright.store._statements.workflow_writer import GroupWriter


def newer(database: Path) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA user_version = 999")


def damaged(database: Path) -> None:
    database.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 40)


def no_database(database: Path) -> None:
    database.write_bytes(b"anything else " * 400)


def test_a_connection_that_nobody_closes_is_noticed() -> None:
    def leave() -> None:
        sqlite3.connect(":memory:")
        gc.collect()

    with pytest.warns(ResourceWarning, match="unclosed database"):
        leave()


@pytest.mark.parametrize("spoil", [newer, damaged, no_database])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_database_that_cannot_be_used_is_closed(
    tmp_path: Path, spoil: Callable[[Path], None], read_only: bool
) -> None:
    workspace = Workspace(tmp_path)
    open_store(workspace).close()
    spoil(workspace.database)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(BenchwrightError):
            open_store(workspace, read_only=read_only)
        SqliteFile(workspace).tidy()
        gc.collect()
    assert [str(warning.message) for warning in seen] == []


def test_a_writer_needs_an_event_loop_before_a_connection(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    open_store(workspace).close()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="event loop"):
            GroupWriter(SqliteFile(workspace))
        with pytest.raises(RuntimeError, match="event loop"):
            SampleStepWriter(SqliteFile(workspace), Lease(1, "x"))
        gc.collect()
    assert [str(warning.message) for warning in seen] == []
