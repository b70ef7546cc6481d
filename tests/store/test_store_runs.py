"""Runs: ownership, listing, finding, and a database that is refused in plain words."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from backends import forget_samples, sqlite_only

import warm
from benchwright.core import BenchwrightError, NotFoundError, RunOwnedError
from benchwright.store import Store, StoreError, Workspace, _owner, find_workspace, named_run, open_store
from stored_workflows import created_workflow, finish_workflow


def new_run(store: Store, name: str = "b") -> int:
    return store.create_run(
        name=name, target="b.py", model="m", folder=None, settings={"x": 1}, manifest={}
    ).id


CHILD = """
import sys, time
from benchwright.store import open_store
store = open_store(sys.argv[1])
print(store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={}).id, flush=True)
time.sleep(600)
"""


@sqlite_only
def test_a_run_of_a_live_process_cannot_be_claimed_but_of_a_killed_one_can(store: Store) -> None:
    child = warm.Popen(
        [sys.executable, "-c", CHILD, store.workspace.store_url], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child.stdout:
        run_id = int(child.stdout.readline())
        assert store.run(run_id).status == "running"
        with pytest.raises(RunOwnedError, match=f"process {child.pid}"):
            store.claim_run(run_id)
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
    assert store.run(run_id).status == "interrupted"
    assert store.claim_run(run_id).status == "running"


def test_finishing_gives_the_run_back(store: Store) -> None:
    run_id = new_run(store)
    store.finish_run(run_id, "completed", summary={"rows": 1})
    run = store.run(run_id)
    assert (run.status, run.summary) == ("completed", {"rows": 1})
    assert [event.kind for event in store.events(run_id)] == ["run.started", "run.finished"]


@sqlite_only
@pytest.mark.parametrize("kind", ["benchmark", "workflow"])
def test_a_slow_start_does_not_move_the_end(store: Store, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """The end comes from two clocks. They must be read at the same moment, however long the database keeps a run waiting."""
    now = [1_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0] + 1e9)
    monkeypatch.setattr(_owner, "_steady", lambda: now[0])
    real = _owner.Owner.here

    def waits() -> _owner.Owner:
        now[0] += 60
        return real()

    monkeypatch.setattr(_owner.Owner, "here", staticmethod(waits))
    if kind == "workflow":
        lease = created_workflow(store, "w")
        now[0] += 1
        finish_workflow(store, lease, "completed")
        run_id = lease.run_id
    else:
        run_id = new_run(store)
        now[0] += 1
        store.finish_run(run_id, "completed", summary=None)
    run = store.run(run_id)
    assert run.finished_at == now[0] + 1e9
    assert run.created_at == 1_000.0 + 1e9


def test_runs_are_found_by_number_name_last_and_folder(store: Store) -> None:
    first, second = new_run(store, "one"), new_run(store, "two")
    assert named_run(store, str(first)).id == first
    assert named_run(store, "one").id == first
    assert named_run(store, "last").id == second
    assert named_run(store, str(store.run(first).folder)).id == first
    with pytest.raises(NotFoundError, match=r"Did you mean 'two'.*benchwright list"):
        named_run(store, "tow")


def test_an_empty_workspace_says_how_to_start(store: Store) -> None:
    with pytest.raises(NotFoundError, match="no runs yet"):
        named_run(store, "7")


@sqlite_only
def test_forgetting_a_sample_takes_all_its_steps_and_no_others(store: Store) -> None:
    run_id = new_run(store)
    connection = sqlite3.connect(store.workspace.database, isolation_level=None)
    for key in ("call/000000001/0000", "call/000000001/0000/c001", "score/000000001/0000", "score/000000001/0001",
                "judge/000000001/0000/000", "score/000000010/0000"):  # fmt: skip
        connection.execute(
            "INSERT INTO steps VALUES (?,?,?,?,?,?,?,?,NULL,NULL,NULL)",
            (run_id, key, b"", b"", b"{}", 0, 0, 0),
        )
    forget_samples(store, run_id, [(1, 0)])
    left = [row[0] for row in connection.execute("SELECT key FROM steps ORDER BY key")]
    connection.close()
    assert left == ["score/000000001/0001", "score/000000010/0000"]


@sqlite_only
def test_samples_come_with_their_calls_side_by_side(store: Store) -> None:
    run_id = new_run(store)
    connection = sqlite3.connect(store.workspace.database, isolation_level=None)
    steps = [("call/000000000/0000", b"q0", b"a0"), ("score/000000000/0000", b"r0", b"s0"),
             ("call/000000001/0000/t000", b"q1", b"a1"), ("call/000000001/0000/t001", b"q2", b"a2"),
             ("score/000000001/0000", b"r1", b"s1"), ("score/000000002/0000", b"r2", b"s2"),
             ("call/000000003/0000", b"in flight", b"x")]  # fmt: skip
    for key, given, output in steps:
        connection.execute(
            "INSERT INTO steps VALUES (?,?,?,?,?,?,?,?,NULL,NULL,NULL)",
            (run_id, key, b"", given, output, 0, 0, 0),
        )
    connection.close()
    samples = [tuple(sample) for sample in store.samples(run_id)]
    assert samples == [
        (0, 0, b"r0", b"s0", b"q0", b"a0"),
        (1, 0, b"r1", b"s1", b"q1", b"a2"),
        (2, 0, b"r2", b"s2", None, None),
    ]
    assert [sample.sample for sample in store.samples(run_id, 1)] == [1]


def test_a_status_of_a_newer_version_is_named(tmp_path: Path) -> None:
    with open_store(Workspace(tmp_path)) as store:
        run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
        database = store.workspace.database
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("UPDATE runs SET status = 'paused'")
            connection.commit()
        with pytest.raises(BenchwrightError, match=r"run 1 .*status 'paused'.*newer benchwright"):
            store.run(run.id)


def test_a_newer_schema_is_refused(tmp_path: Path) -> None:
    open_store(Workspace(tmp_path)).close()
    with closing(sqlite3.connect(Workspace(tmp_path).database)) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="newer benchwright"):
        open_store(Workspace(tmp_path))


def test_a_file_that_is_no_database_is_refused_in_plain_words(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.create()
    workspace.database.write_text("not a database " * 100)
    with pytest.raises(StoreError, match=r"is damaged .*benchwright doctor"):
        open_store(workspace)


def test_the_nearest_workspace_above_is_found(tmp_path: Path) -> None:
    Workspace(tmp_path).create()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_workspace(below).root == tmp_path
    assert find_workspace(below, below).root == below
    assert (tmp_path / ".benchwright" / ".gitignore").read_text() == "*\n"


def test_a_workspace_in_a_folder_that_everybody_writes_to_is_not_trusted(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    mine = shared / "mine"
    mine.mkdir(parents=True)
    Workspace(shared).create()
    shared.chmod(0o1777)
    assert find_workspace(mine).root == mine
    assert find_workspace(shared).root == shared


@sqlite_only
def test_a_read_only_workspace_can_be_looked_at(store: Store) -> None:
    run_id = new_run(store)
    store.finish_run(run_id, "failed", summary=None, error="half \ud800 a character")
    store.close()
    looking = open_store(store.workspace, read_only=True)
    assert looking.run(run_id).error == "half ? a character"
    with pytest.raises(StoreError):
        looking.remove_run(run_id)
    looking.close()


@sqlite_only
def test_heartbeat_is_recorded(store: Store) -> None:
    run_id = new_run(store)
    before = time.time()
    store.beat(run_id)
    with closing(sqlite3.connect(store.workspace.database)) as connection:
        (beat,) = connection.execute("SELECT heartbeat FROM runs WHERE id = ?", (run_id,)).fetchone()
    assert before <= beat <= time.time()


def test_a_network_file_system_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(tmp_path / "with space" / "work")
    workspace.root.parent.mkdir()
    workspace.create()
    assert workspace.network_filesystem() is None
    mounts = tmp_path / "mountinfo"
    shown = str(workspace.root.parent).replace(" ", "\\040")
    mounts.write_text(
        "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        f"30 20 0:50 / {shown} rw,relatime shared:2 - nfs4 server:/home rw,vers=4.2\n"
        "40 20 0:51 / /elsewhere rw - cifs //host/share rw\n"
    )
    monkeypatch.setattr("benchwright.store._workspace._MOUNTS", mounts)
    assert workspace.network_filesystem() == "nfs4"
    assert Workspace(tmp_path).network_filesystem() is None
    mounts.unlink()
    assert workspace.network_filesystem() is None


def test_the_number_of_a_removed_run_is_not_given_out_again(tmp_path: Path) -> None:
    store = open_store(Workspace(tmp_path))

    def create() -> int:
        run = store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={})
        return run.id

    assert [create(), create(), create()] == [1, 2, 3]
    store.remove_run(3)
    store.remove_run(2)
    assert create() == 4
    assert created_workflow(store, "w").run_id == 5
    store.remove_run(4)
    assert create() == 6
    store.close()


TWICE = """
import sys, time
from benchwright.store import open_store
first = open_store(sys.argv[1])
second = open_store(sys.argv[1])
second.close()
print("open", flush=True)
sys.stdin.readline()
first.create_run(name="later", target="b.py", model="m", folder=None, settings={}, manifest={})
print("written", flush=True)
time.sleep(600)
"""


def test_opening_the_database_again_drops_no_lock(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    child = warm.Popen(
        [sys.executable, "-c", TWICE, workspace.store_url],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdin is not None
    with child.stdin, child.stdout:
        assert child.stdout.readline() == "open\n"
        # Whoever closes the database last deletes its log. That is not us while the child has it open.
        open_store(workspace).close()
        child.stdin.write("go\n")
        child.stdin.flush()
        assert child.stdout.readline() == "written\n"
        store = open_store(workspace)
        names = [run.name for run in store.runs()]
        store.close()
        child.kill()
        child.wait()
    assert names == ["later"]
