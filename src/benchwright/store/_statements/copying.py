"""Copies runs from one store to another, whatever their databases are, and checks that they arrived."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from benchwright.core import UsageError, clause
from benchwright.store._driver import Connection, Row
from benchwright.store._owner import live_owner
from benchwright.store._places import folder_here, kept_path
from benchwright.store._records import RunRecord, StoreError
from benchwright.store._statements import OpenedStore
from benchwright.store._statements.marks import SET_MARK
from benchwright.store._statements.workflow_samples import ROWS

_ROWS_AT_ONCE = 500
_TABLES = {"steps": "key", "workflow_steps": "id", "events": "id", "metrics": "id", "trials": "id"}
"""Tables with rows of runs, and their order. The indexes of samples and of replies are made anew."""
_OWN_NUMBERS = {"steps": "rowid", "events": "id", "metrics": "id", "trials": "id", "labels": "id"}
"""Columns that each database fills itself."""
_HELD = ("owner", "lease", "heartbeat")
"""Columns of a run that belong to the process that executes it."""


def copy_runs(
    source: OpenedStore,
    target: OpenedStore,
    numbers: Sequence[int],
    told: Callable[[RunRecord, int], None],
) -> tuple[list[int], list[int]]:
    """Copy runs with their records, labels and files. They keep their numbers. Returns those that were copied, and those that were
    there already.

    A run's own row is written last, so that a copy that is killed leaves nothing that a list would show; a new one begins again.
    Raises UsageError, before anything is copied, for a run that a process executes, and for a number that another run has.
    """
    there = {run.id: run for run in target.runs()}
    wanted, known = [], []
    for number in numbers:
        run = source.run(number)
        row = source._connection.execute(
            "SELECT owner, heartbeat, lease FROM runs WHERE id = ?", (number,)
        ).fetchone()
        if live_owner(*row) is not None:
            raise UsageError(f"run {number} is being executed. Copy it when it has ended, or name other runs")
        if number not in there:
            wanted.append(run)
        elif (there[number].created_at, there[number].name) == (run.created_at, run.name):
            known.append(number)
        else:
            raise UsageError(
                f"run {number} ({run.name}) cannot be copied: the other store has another run of this number "
                f"({there[number].name}), and copies keep their numbers. Copy into a store of its own"
            )
    for run in wanted:
        told(run, _copy(source, target, run))
    return [run.id for run in wanted], known


def _copy(source: OpenedStore, target: OpenedStore, run: RunRecord) -> int:
    read, write = source._connection, target._connection
    records = 0
    shift = _shift(read, write, run.id)
    for table in _TABLES:
        with target._transaction(bulk=True):
            write.execute(f"DELETE FROM {table} WHERE run_id = ?", (run.id,))  # of a copy that was killed
        columns, rows = _rows(read, table, run.id)
        for part in _parts(_shifted(table, columns, rows, shift)):
            with target._transaction(bulk=True):
                write.executemany(_insert(table, columns), part)
            records += len(part)
    columns, rows = _selected(
        read,
        "SELECT * FROM labels WHERE row_hash IN (SELECT input_hash FROM steps WHERE run_id = ?)",
        (run.id,),
        "labels",
    )
    marks = read.execute(
        "SELECT name, value FROM marks WHERE name >= ? AND name < ?", (f"{ROWS}{run.id}/", f"{ROWS}{run.id}0")
    ).fetchall()
    wrong = [
        table for table in _TABLES if _digest(read, table, run.id, shift) != _digest(write, table, run.id, 0)
    ]
    if wrong:
        raise StoreError(
            f"run {run.id} did not arrive as it was ({clause(wrong)}). The other store does not list it; copy it again"
        )
    folder = _copied_folder(source, target, run)
    with target._transaction(durable=True):
        write.executemany(_insert("labels", columns) + " ON CONFLICT (key) DO NOTHING", list(rows))
        write.executemany(SET_MARK, marks)
        columns, rows = _selected(read, "SELECT * FROM runs WHERE id = ?", (run.id,))
        (row,) = rows
        changed = {**dict(zip(columns, row, strict=True)), "folder": folder, **dict.fromkeys(_HELD)}
        write.execute(_insert("runs", columns), [changed[name] for name in columns])
    return records


def _copied_folder(source: OpenedStore, target: OpenedStore, run: RunRecord) -> str:
    """Where the files of a run are from now on. Those outside a workspace stay where they are."""
    recorded = source._connection.execute("SELECT folder FROM runs WHERE id = ?", (run.id,)).fetchone()[0]
    here = folder_here(recorded, source.workspace.root)
    if not here.is_relative_to(source.workspace.root):
        return str(recorded)
    there = target.workspace.runs / here.name
    if here.is_dir() and here != there:
        shutil.copytree(here, there, dirs_exist_ok=True)
    return kept_path(there, target.workspace.root)


def _shift(read: Connection, write: Connection, run_id: int) -> int:
    """What is added to the numbers of a workflow's steps, which are unique in a database: nothing if they are free."""
    least, most = read.execute(
        "SELECT min(id), max(id) FROM workflow_steps WHERE run_id = ?", (run_id,)
    ).fetchone()
    if least is None:
        return 0
    last = write.execute("SELECT value FROM marks WHERE name = 'workflow_steps'").fetchone()[0]
    shift = max(0, int(last) - int(least) + 1)
    write.execute(SET_MARK, ("workflow_steps", int(most) + shift))
    return shift


def _shifted(table: str, columns: list[str], rows: Iterator[Row], shift: int) -> Iterator[Row]:
    names = {"workflow_steps": "id", "events": "step_id", "metrics": "step_id"}
    if not shift or table not in names:
        return rows
    at = columns.index(names[table])
    return ((*row[:at], None if row[at] is None else row[at] + shift, *row[at + 1 :]) for row in rows)


def _rows(connection: Connection, table: str, run_id: int) -> tuple[list[str], Iterator[Row]]:
    return _selected(
        connection, f"SELECT * FROM {table} WHERE run_id = ? ORDER BY {_TABLES[table]}", (run_id,), table
    )


def _selected(
    connection: Connection, sql: str, values: Sequence[object], table: str = ""
) -> tuple[list[str], Iterator[Row]]:
    """The columns of a question and its rows, without the numbers that a database gives itself."""
    names = [each[0] for each in connection.execute(f"{sql} LIMIT 0", values).description]
    kept = [at for at, name in enumerate(names) if name != _OWN_NUMBERS.get(table)]
    rows = connection.stream(sql, values)
    return [names[at] for at in kept], (tuple(row[at] for at in kept) for row in rows)


def _insert(table: str, columns: list[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({','.join('?' * len(columns))})"


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, _ROWS_AT_ONCE)):
        yield part


def _digest(connection: Connection, table: str, run_id: int, shift: int) -> tuple[int, str]:
    """The number of a run's rows in a table, and a hash of all that is in them."""
    columns, rows = _rows(connection, table, run_id)
    found, count = hashlib.sha256(), 0
    order = sorted(range(len(columns)), key=columns.__getitem__)
    for row in _shifted(table, columns, rows, shift):
        found.update(repr([row[at] for at in order]).encode())
        count += 1
    return count, found.hexdigest()
