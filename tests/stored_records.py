"""Records as tests need them that look below the ports: what a killed process left, what a bad disk took, what an old run had.

This is the only file outside `tests/store` that knows a table. It goes through the connection of an open store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchwright.core import StepValues
from benchwright.store import StoreError, Workspace, open_existing, open_store

_STEP_COLUMNS = (
    "key, input_hash, input, output, reusable, started_at, finished_at, call_hash, call_input, call_output"
)


def count_runs(folder: Path) -> int:
    """Runs on record; 0 also while the tables are being made."""
    try:
        store = open_existing(Workspace(folder))
    except StoreError:
        return 0
    if store is None:
        return 0
    with store:
        return len(store.runs())


def statuses(folder: Path) -> list[str]:
    """The statuses as they were written, also of processes that are gone."""
    return [row[0] for row in _rows(folder, "SELECT status FROM runs ORDER BY id")]


def step_keys(folder: Path, run_id: int = 1) -> list[str]:
    """The keys of all recorded steps of a run."""
    return [row[0] for row in _rows(folder, "SELECT key FROM steps WHERE run_id = ?", run_id)]


def recorded_calls(folder: Path) -> int:
    """Replies that would outlive the process."""
    found = "SELECT count(*) FROM steps WHERE key LIKE 'call/%' OR call_output IS NOT NULL"
    return int(_rows(folder, found)[0][0])


def steps_in_order(folder: Path) -> list[StepValues]:
    """All recorded steps by key."""
    rows = _rows(folder, f"SELECT {_STEP_COLUMNS} FROM steps ORDER BY key")
    return [(*row[:4], bool(row[4]), *row[5:]) for row in rows]


def change_cells(folder: Path, change: Callable[[str, str, Any], Any]) -> None:
    """Change every cell of every table with numbered rows: `change` gets the table, the column and what is there."""
    with open_store(Workspace(folder)) as store:
        connection = _connection(store)
        for table, made in _rows(
            folder, "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ):
            if "WITHOUT ROWID" in made:
                continue
            columns = [row[1] for row in _rows(folder, f"PRAGMA table_info({table})")]
            for number, *cells in _rows(folder, f"SELECT rowid, {', '.join(columns)} FROM {table}"):
                for column, cell in zip(columns, cells, strict=True):
                    if (new := change(table, column, cell)) != cell:
                        connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (new, number))


def lose_rows(folder: Path, run_id: int, rows: Sequence[int]) -> None:
    """Delete the records of some rows."""
    with open_store(Workspace(folder)) as store:
        for row in rows:
            _connection(store).execute(
                "DELETE FROM steps WHERE run_id = ? AND substr(key, instr(key, '/') + 1, 9) = ?",
                (run_id, f"{row:09d}"),
            )


def make_older(folder: Path, run_id: int, seconds: float) -> None:
    """Let the replies of a run, and the run, be older."""
    with open_store(Workspace(folder)) as store:
        connection = _connection(store)
        for column, rows in (("call_output", "call_output IS NOT NULL"), ("output", "key LIKE 'call/%'")):
            found = connection.execute(
                f"SELECT key, {column} FROM steps WHERE run_id = ? AND {rows}", (run_id,)
            ).fetchall()
            for key, output in found:
                reply = orjson.loads(output)
                reply["at"] -= seconds
                connection.execute(
                    f"UPDATE steps SET {column} = ? WHERE run_id = ? AND key = ?",
                    (orjson.dumps(reply), run_id, key),
                )
        connection.execute("UPDATE runs SET created_at = created_at - ? WHERE id = ?", (seconds, run_id))


def change_run(folder: Path, run_id: int, **columns: Any) -> None:
    """Write columns of a run as another version, or another time, would have."""
    assigned = ", ".join(f"{column} = ?" for column in columns)
    with open_store(Workspace(folder)) as store:
        _connection(store).execute(f"UPDATE runs SET {assigned} WHERE id = ?", (*columns.values(), run_id))


def column_of(folder: Path, run_id: int, column: str) -> Any:
    """A column of a run as it is stored."""
    return _rows(folder, f"SELECT {column} FROM runs WHERE id = ?", run_id)[0][0]


def shift_runs(folder: Path, seconds: float, *columns: str) -> None:
    """Move times of all runs into the past."""
    assigned = ", ".join(f"{column} = {column} - ?" for column in columns)
    with open_store(Workspace(folder)) as store:
        _connection(store).execute(f"UPDATE runs SET {assigned}", (seconds,) * len(columns))


def end_steps_at(folder: Path, at: float) -> None:
    """Let all steps have ended then."""
    with open_store(Workspace(folder)) as store:
        _connection(store).execute("UPDATE steps SET finished_at = ?", (at,))


def hash_all_calls_alike(folder: Path, digest: bytes) -> None:
    """Give the calls of all rows one hash."""
    with open_store(Workspace(folder)) as store:
        connection = _connection(store)
        connection.execute("UPDATE steps SET call_hash = ? WHERE call_hash IS NOT NULL", (digest,))
        connection.execute("UPDATE steps SET input_hash = ? WHERE key LIKE 'call/%'", (digest,))


def pages_of_samples(folder: Path) -> tuple[int, list[int]]:
    """The size of a page of the file, and the pages with samples, when its log is empty."""
    with open_store(Workspace(folder)) as store:
        connection = _connection(store)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = connection.execute("PRAGMA page_size").fetchone()[0]
        found = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'steps' AND pagetype = 'leaf' ORDER BY pageno"
        )
        return size, [page for (page,) in found]


def _rows(folder: Path, sql: str, *values: object) -> list[tuple[Any, ...]]:
    with open_store(Workspace(folder)) as store:
        return list(_connection(store).execute(sql, values).fetchall())


def _connection(store: Any) -> Any:
    return store._connection
