"""`open_store`: which URLs name which store, and what its protocols promise."""

from __future__ import annotations

import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from benchwright.core import UsageError
from benchwright.store import (
    Store,
    Workspace,
    _ports,
    open_existing,
    open_store,
    plain_store_error,
    store_problems,
)

PROTOCOLS = [_ports.RunStore, _ports.StepStore, _ports.SampleStore, _ports.WorkflowStore, _ports.Store,
             _ports.StepWriter, _ports.WorkflowWriter]  # fmt: skip


def create(store: Store) -> int:
    return store.create_run(name="b", target="b.py", model="m", folder=None, settings={}, manifest={}).id


def test_the_url_of_a_workspace_opens_the_same_store(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)  # where the files of runs are, if the URL does not tell
    with open_store(workspace) as one:
        number = create(one)
    with open_store(workspace.store_url) as again:
        assert again.run(number).name == "b"
        assert again.workspace == workspace


def test_a_store_may_lie_in_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store("sqlite:///odd name?.db") as store:  # relative, and taken as it is written
        folder = store.run(create(store)).folder
    assert (tmp_path / "odd name?.db").is_file()
    assert folder.is_relative_to(tmp_path)
    with open_store(f"sqlite:///{tmp_path / 'odd name?.db'}") as again:
        assert [run.name for run in again.runs()] == ["b"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("mysql://me:hunter2@host/db", "'mysql'.*known: sqlite"),
        ("sqlit:///x.db", "Did you mean.*sqlite"),
        ("results.db", "'results.db' is not a URL.*known: sqlite"),
        ("sqlite:///", "names no file"),
        ("sqlite://host/x.db", "names no file"),
    ],
)
def test_an_unknown_url_is_refused_with_those_known(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        open_store(url)
    assert "hunter2" not in str(refused.value)


def test_a_store_is_closed_after_its_block_whatever_happens(workspace: Workspace) -> None:
    with pytest.raises(ZeroDivisionError), open_store(workspace) as store:
        1 // 0  # noqa: B018
    with pytest.raises(Exception, match="closed") as closed:
        store.runs()
    assert plain_store_error(closed.value) is not None
    assert plain_store_error(ValueError("closed")) is None


def test_looking_creates_nothing(workspace: Workspace) -> None:
    assert open_existing(workspace) is None
    assert open_existing(workspace, to_write=True) is None
    assert store_problems(workspace) == (None, None)
    assert list(workspace.root.iterdir()) == []
    open_store(workspace).close()
    found = open_existing(workspace)
    assert found is not None
    found.close()
    assert store_problems(workspace) == ([], None)


def test_protocols_name_nothing_of_a_database() -> None:
    for protocol in PROTOCOLS:
        for name, method in inspect.getmembers(protocol, inspect.isfunction):
            if name.startswith("_"):
                continue
            told = f"{name}{inspect.signature(method)}"  # annotations are kept as they are written
            assert not any(word in told.lower() for word in ("sqlite", "database", "connection")), name


def test_backends_are_imported_only_when_a_store_is_opened() -> None:
    code = "import sys, benchwright.store; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_new_workspace_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    for attempt in range(40):
        place, ready = tmp_path / str(attempt) / "new.db", Barrier(8)
        place.parent.mkdir()

        def opened(url: str = f"sqlite:///{place}", ready: Barrier = ready) -> int:
            ready.wait()
            with open_store(url) as store:
                return len(list(store.runs()))

        with ThreadPoolExecutor(8) as threads:
            assert [each.result() for each in [threads.submit(opened) for _ in range(8)]] == [0] * 8


@pytest.mark.parametrize(
    "raised", ["ValueError('x')", "OSError(5, 'disk')", "sqlite3.OperationalError('disk I/O error')"]
)
def test_a_driver_whose_library_is_missing_explains_no_error_of_others(tmp_path: Path, raised: str) -> None:
    """A plain install has no library of PostgreSQL: an error that has nothing to do with it must not be hidden by that."""
    (tmp_path / "bench.py").write_text(
        f"import sqlite3\nfrom benchwright import benchmark, scorer\nraise {raised}\n",
        encoding="utf-8",
    )
    program = "import sys; sys.modules['psycopg'] = None; from benchwright.cli import main; sys.exit(main())"
    for words in (["run", "bench.py"], ["check", "bench.py"], ["list"], ["doctor"]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert "psycopg" not in done.stderr, done.stderr
    unexpected = f"import sqlite3; from benchwright import store; print(store.plain_store_error({raised}))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.modules['psycopg'] = None; {unexpected}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    asked = [sys.executable, "-c", program, "list", "--store", "postgresql://host/db"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'benchwright[postgres]'" in done.stderr) == (2, True)
