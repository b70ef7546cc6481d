"""Databases of this version, of older and of newer ones."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from benchwright.store import SampleFilter, StoreError, Workspace, open_existing, open_store
from benchwright.store._statements.schema import VERSION

RECORDED = Path(__file__).with_name("schema_7.sql").read_text(encoding="utf-8")
"""A workspace as the version before the tables were written down in one piece left it."""


@pytest.fixture
def recorded(tmp_path: Path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.create()
    with closing(sqlite3.connect(workspace.database)) as connection:
        connection.executescript(RECORDED)
    return workspace


def columns(workspace: Workspace) -> dict[str, list[tuple[object, ...]]]:
    """The tables: names, types and defaults of their columns."""
    with closing(sqlite3.connect(workspace.database)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            name: [row[1:] for row in connection.execute(f"PRAGMA table_info({name})")] for (name,) in tables
        }


def set_version(workspace: Workspace, version: int) -> None:
    with closing(sqlite3.connect(workspace.database)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


@pytest.mark.parametrize("read_only", [True, False])
def test_a_recorded_workspace_keeps_everything(recorded: Workspace, read_only: bool) -> None:
    before = recorded.database.read_bytes()
    with open_store(recorded, read_only=read_only) as store:
        assert [(run.id, run.kind, run.status) for run in store.runs()] == [
            (3, "benchmark", "interrupted"),
            (2, "workflow", "completed"),
            (1, "benchmark", "completed"),
        ]
        assert store.run(1).folder == recorded.root / ".benchwright" / "runs" / "0001-sums"
        assert [sample.call_output for sample in store.samples(1)] == [b'{"t":"r"}'] * 2
        assert len(store.page_samples(1, SampleFilter(metric="correct")).items) == 0
        assert (store.run(2).input, store.run(2).output, store.run(2).tags) == ({"n": 1}, 3, {"team": "a"})
        assert [(step.key, step.output) for step in store.page_steps(2).items] == [("a", b"2")]
        assert store.metric_totals(2)["acc"].mean == 0.5
        assert [event.kind for event in store.events(2)][-2:] == ["note", "run.completed"]
        if not read_only:
            assert store.claim_run(3).status == "running"
    assert read_only is (recorded.database.read_bytes() == before)


def test_a_new_workspace_has_the_same_tables(recorded: Workspace, tmp_path: Path) -> None:
    fresh = Workspace(tmp_path / "fresh")
    open_store(fresh).close()
    open_store(recorded).close()  # changes its tables
    assert columns(fresh) == columns(recorded)


@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize(
    ("version", "said"), [(VERSION + 1, "newer benchwright"), (6, r"before 0\.1\.0.*benchwright doctor")]
)
def test_another_version_is_refused(recorded: Workspace, version: int, said: str, read_only: bool) -> None:
    set_version(recorded, version)
    with pytest.raises(StoreError, match=said):
        open_store(recorded, read_only=read_only)
    with pytest.raises(StoreError, match=said):
        open_existing(recorded)
