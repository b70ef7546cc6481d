"""Runs of a suite are found by its name in any process, and its best models are those that no paired test tells apart from the best."""

from __future__ import annotations

import csv
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint
from benchwright.cli import main
from benchwright.core import NotFoundError
from benchwright.results import suite_document, suite_table
from benchwright.runs import run_suite
from benchwright.store import Store, Workspace, open_store

ROWS = 40
WRONG = {"bad": range(30), "good": range(4), "fair": [3, 4, 5, 6, 7, 8], "other": range(10, 40)}
"""The rows that each model answers wrongly."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    with Path("sums.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["question", "answer"], *([f"{n}+1", n + 1] for n in range(ROWS))])
    Path("nightly.json").write_text(json.dumps({"models": ["demo"], "datasets": ["sums.csv"]}))
    return tmp_path


def run_model(name: str, limit: int | None = None) -> int:
    replies = iter([("no" if n in WRONG[name] else str(n + 1)) for n in range(limit or ROWS)])
    found = run_suite(
        "nightly.json",
        model=name,
        endpoint=ScriptedEndpoint(lambda request: next(replies)),
        parallelism=1,
        limit=limit,
    )
    return found.pairs[0].run_id


def opened(folder: Path) -> Store:
    return open_store(Workspace(folder))


def test_the_best_are_marked_by_tests_and_never_by_the_larger_figure(folder: Path) -> None:
    runs = {name: run_model(name) for name in WRONG}
    (line,) = suite_document(opened(folder), "nightly")["lines"]  # type: ignore[misc]
    found: Any = line
    standings = found["standings"]
    pairs = {frozenset((pair["run_a"], pair["run_b"])): pair for pair in standings["pairs"]}
    assert set(pairs) == {frozenset(pair) for pair in combinations(runs.values(), 2)}
    assert standings["best"] == runs["good"]
    assert {name: cell["leading"] for name, cell in found["models"].items()} == {
        "bad": False, "good": True, "fair": True, "other": False,
    }  # fmt: skip
    tested = [pair for pair in standings["pairs"] if pair["p_adjusted"] is not None]
    assert all(pair["p_adjusted"] >= pair["paired"]["p_value"] for pair in tested), (
        "corrected by Holm's method"
    )
    assert not pairs[frozenset((runs["good"], runs["fair"]))]["significant"]
    assert "fair cannot be told apart from good" in standings["sentence"]


def test_a_run_of_other_rows_or_rules_is_not_compared(folder: Path) -> None:
    run_model("good")
    with Path("sums.csv").open("a", encoding="utf-8") as file:
        file.write("7+8,15\n")
    run_model("bad")
    (line,) = suite_document(opened(folder), "nightly")["lines"]  # type: ignore[misc]
    found: Any = line
    assert [cell["leading"] for cell in found["models"].values()] == [False, False]
    assert found["standings"]["pairs"][0]["why"] == "the runs read other data"


def test_the_newest_run_of_each_pair_counts_and_partial_ones_lead_nothing(folder: Path) -> None:
    first = run_model("good"), run_model("bad")
    again = run_model("bad", limit=10)
    table = suite_table(opened(folder), "nightly")
    assert [run.run_id for run in table.runs] == [first[0], again]
    assert table.models == ("good", "bad"), "as the suite first had them"
    with pytest.raises(NotFoundError, match=r"Did you mean 'nightly'\? Suites: nightly"):
        suite_table(opened(folder), "nightli")


def test_a_suite_is_listed_reported_and_resumed_by_its_name(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_model("good")
    run_model("fair")
    capsys.readouterr()
    assert main(["list", "--suite", "nightly", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)["runs"]
    assert [(run["suite"], run["dataset_name"], run["model_name"]) for run in listed] == [
        ("nightly", "sums", "fair"),
        ("nightly", "sums", "good"),
    ]
    for written in ("nightly", "nightly.json"):
        assert main(["report", written, "-o", "page.html", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["runs"] == [1, 2]
    assert "cannot be told apart" in Path("page.html").read_text(encoding="utf-8")
    assert main(["report", "nightli", "-o", "page.html"]) == 4


def test_a_suite_of_the_command_line_has_the_name_of_its_datasets(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("more", "other", "last"):
        Path(f"{name}.csv").write_text("question,answer\n1+1,2\n", encoding="utf-8")
    files = ["sums.csv", "more.csv", "other.csv", "last.csv"]
    names = {1: "sums", 2: "sums+more", 4: "sums+more+other+1 more"}
    for number, name in names.items():
        assert main(["run", "--models", "demo", "--custom-dataset-path", *files[:number], "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["suite"] == name
        assert main(["list", "--suite", name, "--json"]) == 0
        assert len(json.loads(capsys.readouterr().out)["runs"]) == number
        assert len(suite_table(opened(folder), name).runs) == number
    assert main(["report", "sums.csv", "-o", "page.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == [1], (
        "the file stands for the suite, not for the newest run"
    )
    assert main(["run", "sums.csv", "--mode", "infer", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["list", "--json", "--limit", "1"]) == 0
    newest = json.loads(capsys.readouterr().out)["runs"][0]
    assert newest["suite"] is None, "one target on one model is no suite"
