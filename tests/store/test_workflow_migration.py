"""A workspace of the first release opens, keeps everything, and takes workflows; also where it cannot be written to."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from benchwright.core import call_key, score_key
from benchwright.store import StepRequest, Store, StoreError, Workspace, open_store
from benchwright.store._sqlite.schema import MIGRATIONS

# The statements that the first release made its databases with. They are history: nothing here may be edited.
SCHEMA_1 = (
    """
    CREATE TABLE runs (
        id          INTEGER PRIMARY KEY,
        name        TEXT NOT NULL,
        target      TEXT NOT NULL,
        model       TEXT NOT NULL,
        status      TEXT NOT NULL,
        folder      TEXT NOT NULL,
        settings    BLOB NOT NULL,
        manifest    BLOB NOT NULL,
        summary     BLOB,
        error       TEXT,
        owner       TEXT,
        heartbeat   REAL,
        created_at  REAL NOT NULL,
        finished_at REAL
    )
    """,
    """
    CREATE TABLE steps (
        run_id      INTEGER NOT NULL,
        key         TEXT NOT NULL,
        input_hash  BLOB NOT NULL,
        input       BLOB,
        output      BLOB,
        reusable    INTEGER NOT NULL,
        started_at  REAL NOT NULL,
        finished_at REAL NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX steps_by_key ON steps (run_id, key)",
    "CREATE TABLE reply_index (input_hash BLOB PRIMARY KEY, step INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE events (
        id          INTEGER PRIMARY KEY AUTOINCREMENT,
        run_id      INTEGER NOT NULL,
        kind        TEXT NOT NULL,
        message     TEXT NOT NULL,
        created_at  REAL NOT NULL
    )
    """,
    "CREATE INDEX events_by_run ON events (run_id)",
)


@pytest.fixture
def old(tmp_path: Path) -> Workspace:
    """A workspace as the first release left it."""
    workspace = Workspace(tmp_path)
    workspace.create()
    connection = sqlite3.connect(workspace.database)
    connection.execute("PRAGMA journal_mode = WAL")
    for statement in SCHEMA_1:
        connection.execute(statement)
    connection.execute(
        "INSERT INTO runs VALUES (1,'sums','sums.py','demo','completed','/f','{\"a\":1}','{\"b\":2}','{\"rows\":3}',"
        "NULL,NULL,5.0,10.0,20.0),"
        "(2,'sums','sums.py','demo','running','/g','{}','{}',NULL,NULL,'[\"elsewhere\",1,\"x\"]',5.0,30.0,NULL)"
    )
    connection.execute(
        "INSERT INTO steps VALUES (1,?,x'aa','in','call output',1,1.0,2.0),(1,?,x'bb','row','{\"o\":\"scored\"}',0,1.0,2.0)",
        (call_key(0, 0), score_key(0, 0)),
    )
    connection.execute("INSERT INTO reply_index VALUES (x'aa', 1)")
    connection.execute("INSERT INTO marks VALUES ('replies', 2)")
    connection.execute(
        "INSERT INTO events (run_id, kind, message, created_at) VALUES (1,'run.started','started on sums.py',10.0),"
        "(1,'run.finished','completed',20.0)"
    )
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    return workspace


def check_old_records(store: Store) -> None:
    first, second = store.run(1), store.run(2)
    assert (first.name, first.status, first.settings, first.manifest) == (
        "sums",
        "completed",
        {"a": 1},
        {"b": 2},
    )
    assert (first.summary, first.created_at, first.finished_at) == ({"rows": 3}, 10.0, 20.0)
    assert (first.kind, first.input, first.output, first.tags, first.starts) == (
        "benchmark",
        None,
        None,
        None,
        1,
    )
    assert second.status == "interrupted"
    assert [run.id for run in store.runs()] == [2, 1]
    assert [(e.kind, e.message, e.step_id, e.data) for e in store.events(1)] == [
        ("run.started", "started on sums.py", None, None),
        ("run.finished", "completed", None, None),
    ]
    assert [(s.score, s.call_output) for s in store.samples(1)] == [('{"o":"scored"}', "call output")]
    assert store.page_steps(1).items == []
    assert store.metric_totals(1) == {}
    assert [run.id for run in store.page_runs(limit=1).items] == [2]


def test_a_workspace_of_schema_1_keeps_everything(old: Workspace) -> None:
    store = open_store(old)
    check_old_records(store)
    assert asyncio.run(store.reusable(2, [b"\xaa"])) == {b"\xaa": "call output"}
    store.close()
    connection = sqlite3.connect(old.database)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == len(MIGRATIONS)
    connection.close()
    again = open_store(old)  # nothing is migrated twice
    check_old_records(again)
    again.close()


def test_a_migrated_workspace_takes_workflows_and_benchmarks(old: Workspace) -> None:
    store = open_store(old)
    lease = store.create_workflow("my_eval", input_json=b'{"n":1}')
    assert lease.run_id == 3
    begun = store.begin_step(lease, StepRequest("a", "0" * 64, b"null"))
    store.complete_step(lease, begun.step_id, begun.attempt, b"1")
    store.finish_workflow(lease, "completed", output=b"2")
    assert (store.run(3).kind, store.run(3).input, store.run(3).output) == ("workflow", {"n": 1}, 2)
    run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
    assert (run.id, run.kind) == (4, "benchmark")
    assert store.claim_run(2).status == "running"
    store.close()


def test_a_workspace_of_schema_1_that_cannot_be_written_to_is_read_all_the_same(old: Workspace) -> None:
    before = old.database.read_bytes()
    store = open_store(old, read_only=True)
    check_old_records(store)
    with pytest.raises((sqlite3.OperationalError, StoreError)):
        store.create_workflow("x")
    store.close()
    assert old.database.read_bytes() == before


def test_a_newer_schema_is_refused_for_reading_too(old: Workspace) -> None:
    connection = sqlite3.connect(old.database)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer benchwright"):
        open_store(old, read_only=True)
