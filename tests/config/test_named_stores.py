"""A store is named by a flag, a variable or `benchwright.toml`; the nearest of them counts, for every command."""

from __future__ import annotations

import ast
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import benchwright
from benchwright.cli import main
from benchwright.config import named_store, using_store
from benchwright.core import ConfigError, UsageError
from benchwright.store import Workspace, find_workspace, open_store

BENCH = """
from benchwright import ScorerInput, benchmark, scorer

@benchmark(name="sums", dataset=[{"q": "1+1", "target": "2"}], prompt="{q}")
@scorer
def sums(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    monkeypatch.delenv("BENCHWRIGHT_STORE", raising=False)
    Path("bench.py").write_text(BENCH)
    return place


def names(*words: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["list", "--json", *words]) == 0
    return [run["name"] for run in json.loads(capsys.readouterr().out)["runs"]]


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}"])
def test_a_run_is_recorded_where_the_flag_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    named = form.format(tmp_path / "records" / "team.db")
    (tmp_path / "records").mkdir()
    assert main(["run", "bench.py", "--quiet", "--store", named]) == 0
    assert not Path(".benchwright", "benchwright.db").exists()
    assert names("--store", named, capsys=capsys) == ["sums"]
    assert names(capsys=capsys) == []
    with open_store(f"sqlite:///{tmp_path / 'records' / 'team.db'}") as store:
        assert store.run(1).folder.is_relative_to(tmp_path / "records")
        assert (store.run(1).folder / "results.yml").is_file()
        assert "team.db" not in json.dumps([store.run(1).settings, store.run(1).manifest])


def test_the_file_and_the_variable_name_it_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("benchwright.toml").write_text('store = "file.db"\n[run]\nlimit = 1\n')
    below = Path("below")
    below.mkdir()
    monkeypatch.chdir(below)
    assert main(["run", "../bench.py", "--quiet"]) == 0
    assert (tmp_path / "project" / "file.db").is_file(), "relative to the file that names it"
    assert names(capsys=capsys) == ["sums"]
    monkeypatch.setenv("BENCHWRIGHT_STORE", str(tmp_path / "variable.db"))
    assert names(capsys=capsys) == []
    assert names("--store", "../file.db", capsys=capsys) == ["sums"], "a flag before a variable"


def test_python_takes_it_as_a_keyword(tmp_path: Path) -> None:
    result = benchwright.run("bench.py", model="demo", store=tmp_path / "kept.db")
    assert result.folder.is_relative_to(tmp_path)
    with open_store(f"sqlite:///{tmp_path / 'kept.db'}") as store:
        assert store.run(result.run_id).name == "sums"


def test_an_explicit_workspace_keeps_the_files(tmp_path: Path) -> None:
    place = find_workspace(
        Path.cwd(), tmp_path / "files", lambda root: named_store(root, str(tmp_path / "kept.db"))
    )
    assert (place.root, place.database) == (tmp_path / "files", tmp_path / "kept.db")
    with using_store(str(tmp_path / "kept.db")):
        assert find_workspace(Path.cwd(), named=named_store, to_read=True) == Workspace(
            tmp_path, url=f"sqlite:///{tmp_path / 'kept.db'}"
        )
    assert find_workspace(Path.cwd(), named=named_store, to_read=True) == Workspace(Path.cwd())


@pytest.mark.parametrize(
    "command", [["list"], ["run", "bench.py"], ["show", "1"], ["compare", "1", "2"], ["doctor"]]
)
@pytest.mark.parametrize("by", ["flag", "variable", "file"])
def test_an_unknown_kind_of_store_is_refused_without_its_password(
    command: list[str], by: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "mysql://me:hunter2@host/evals"
    words: list[Any] = [*command]
    if by == "flag":
        words += ["--store", url]
    elif by == "variable":
        monkeypatch.setenv("BENCHWRIGHT_STORE", url)
    else:
        Path("benchwright.toml").write_text(f'store = "{url}"\n')
    assert main(words) == 2
    said = "".join(capsys.readouterr())
    assert "no store of the kind 'mysql'; known: sqlite" in said
    assert "hunter2" not in said


def test_a_url_is_not_shown_with_its_workspace() -> None:
    assert "hunter2" not in repr(Workspace(Path("/srv"), url="mysql://me:hunter2@host/evals"))


def test_a_wrong_value_names_the_file() -> None:
    Path("benchwright.toml").write_text("store = 5\n")
    with pytest.raises(ConfigError, match=r"benchwright\.toml: store is 5"):
        find_workspace(Path.cwd(), named=named_store)
    with pytest.raises(UsageError, match="names no file"):
        find_workspace(Path.cwd(), named=lambda root: named_store(root, "sqlite:///"))


def test_stores_of_one_folder_keep_their_runs_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of two stores have the same numbers: neither may take, or remove, the other's folders for its own."""
    from benchwright.cli import main

    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\n1 + 1?,2\n", encoding="utf-8")
    named = ["--store", "other.db"]
    for store in ([], named):
        assert main(["run", "q.csv", "--model", "demo", "--quiet", *store]) == 0
    for store in ([], named):
        assert main(["doctor", *store]) == 0
        with open_store(
            find_workspace(tmp_path, named=partial(named_store, given=store[1] if store else None))
        ) as opened:
            (run,) = opened.runs()
            assert run.folder.is_dir()
    assert main(["rm", "1", "--yes", *named]) == 0
    with open_store(find_workspace(tmp_path, named=named_store)) as opened:
        assert opened.run(1).folder.is_dir()
        assert (opened.run(1).folder / "results.yml").is_file()


def test_whoever_looks_for_the_workspace_says_where_stores_are_named() -> None:
    """Else the command would not see the runs of a store that the user names."""
    calls = [
        (path, node)
        for path in Path(benchwright.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("find_workspace",)
    ]
    assert calls
    assert not [f"{path}:{node.lineno}" for path, node in calls if len(node.args) + len(node.keywords) < 3]
