"""Every view of a run gives the same counts and values: files, tables, JSON, suite, list, compare, export, REST."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from benchwright import ScriptedEndpoint, compare
from benchwright.cli import main
from benchwright.core import ModelReply, ModelRequest, Outcome, RequestFailure, RunSummary, UsageError
from benchwright.results._figures import figures_to_show
from benchwright.runs import run_suite
from benchwright.server._bodies import run_body
from benchwright.store import Workspace, open_store

BENCH = """
from benchwright import benchmark, scorer

@benchmark(name="awkward", dataset="rows.jsonl", prompt="{q}", target_field="answer")
@scorer
def awkward(sample):
    if sample.response == "raise":
        raise RuntimeError("no score for this")
    right = sample.response == sample.target
    scores = {"correct": right, "n": 0.25 + right / 2, "total": 7.0 * right, "failed": right, "value": 1 - right}
    return {**scores, "parsed": sample.response != "unread"}
"""
NAMES = ["correct", "failed", "n", "parsed", "total", "value"]
SUITE = """
models: [{name: NAME, type: demo}]
datasets: [{benchmark: "bench.py:awkward"}]
run: {repeats: 2, skip_bad_rows: true, failure_threshold: 1.0}
"""


def reply(request: ModelRequest) -> ModelReply:
    number = int(request.body["messages"][-1]["content"])  # type: ignore[index,call-overload,arg-type]
    kinds: dict[int, Any] = {
        0: ("empty", ""),
        1: ("truncated", "yes"),
        2: ("refused", "I will not"),
        4: ("answered", "raise"),
        5: ("answered", "unread"),
    }
    if number == 3:
        return ModelReply("failed", failure=RequestFailure("http", "no", http_status=400))
    status, text = kinds.get(number, ("answered", "yes" if (number + request.repeat) % 3 else "no"))
    return ModelReply(status, text)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("views")
    (folder / "bench.py").write_text(BENCH)
    rows = [{"q": str(n), "answer": "yes"} for n in range(30)] + [{"answer": "a row that cannot be asked"}]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in ("first", "second"):
            (folder / "suite.yaml").write_text(SUITE.replace("NAME", name))
            result = run_suite("suite.yaml", endpoint=ScriptedEndpoint(reply), work_dir=Path(f"of-{name}"))
            (folder / f"{name}.json").write_text(json.dumps(result.comparison.to_json()))
    return folder


@pytest.fixture
def here(done: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(done)
    monkeypatch.setenv("COLUMNS", "160")
    return done


@pytest.fixture
def truth(here: Path) -> RunSummary:
    """As recorded, and as counted from the samples one by one."""
    store = open_store(Workspace(here))
    summary = RunSummary.from_json(store.run(1).summary or {})
    records = [json.loads(output) for *_, output in store.scored(1)]
    store.close()
    assert Counter(record["o"] for record in records) == {k: v for k, v in summary.outcomes.items() if v}
    absent = [outcome for outcome in Outcome if not summary.outcomes[outcome]]
    assert not absent, "let a sample of this module end in each outcome"
    for name, metric in summary.metrics.items():
        values = [float(record["s"][name]) for record in records if record.get("s")]
        assert (metric.count, metric.value) == (len(values), pytest.approx(sum(values) / len(values)))
    assert list(summary.metrics) == NAMES
    return summary


def spoken(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    main([*words, "--json"])
    return json.loads(capsys.readouterr().out)


def values(summary: RunSummary) -> dict[str, float]:
    return {name: metric.value for name, metric in summary.metrics.items()}


def test_the_files_of_the_run(here: Path, truth: RunSummary) -> None:
    (folder,) = (here / ".benchwright/runs").glob("0001-*")
    task = yaml.safe_load((folder / "results.yml").read_text())["results"]["tasks"]["awkward"]
    scores = task["metrics"]["pass@1"]["scores"]
    assert {name: score["value"] for name, score in scores.items()} == values(truth)
    assert {name: score["stats"]["count"] for name, score in scores.items()} == {
        name: metric.count for name, metric in truth.metrics.items()
    }
    assert task["outcomes"] == truth.outcomes
    assert (task["samples"]["evaluated"], task["samples"]["failed"]) == (truth.evaluated, truth.failed)
    table = pq.read_table(folder / "samples.parquet")
    assert Counter(table["outcome"].to_pylist()) == Counter(truth.outcomes)
    for name, metric in truth.metrics.items():
        found = [value for value in table[f"score.{name}"].to_pylist() if value is not None]
        assert (len(found), sum(found) / len(found)) == (metric.count, pytest.approx(metric.value))


def test_json_of_show_list_and_rest(
    here: Path, truth: RunSummary, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = spoken(capsys, "show", "1")
    assert RunSummary.from_json(shown["summary"]) == truth
    for listed in (shown["run"], spoken(capsys, "list")["runs"][-1]):
        assert (listed["evaluated"], listed["failed"]) == (truth.evaluated, truth.failed)
        assert (listed["outcomes"], listed["metrics"]) == (truth.outcomes, values(truth))
        assert listed["model_name"] == "first"
    store = open_store(Workspace(here))
    assert RunSummary.from_json(run_body(store.run(1)).summary or {}) == truth
    store.close()


def test_tables_of_show_list_and_compare(
    here: Path, truth: RunSummary, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = [str(truth.outcomes[outcome]) for outcome in Outcome]
    main(["show", "1"])
    shown = " ".join(capsys.readouterr().out.split())
    for outcome, count in zip(Outcome, counts, strict=True):
        assert f"{outcome} {count}" in shown
    table, equal = figures_to_show(truth)
    assert f"equal {', '.join(equal)}: the same as" in shown
    for name, metric in truth.metrics.items():
        assert name in equal or re.search(rf" {name} {table[name].value:.4f} ", shown), name
        assert name not in equal or metric.value == next(iter(table.values())).value
    main(["list"])
    listed = capsys.readouterr().out
    for outcome, count in zip(Outcome, counts, strict=True):
        assert len(re.findall(rf" {count} {outcome}\b", listed)) == (2 if count != "0" else 0)
    assert "first (scripted)" in " ".join(listed.split())
    assert "second" in listed
    main(["compare", "1", "2"])
    compared = capsys.readouterr().out
    for outcome, count in zip(Outcome, counts, strict=True):
        assert re.search(rf"^\s*{outcome}\s+{count}\s+{count}\s*$", compared, re.MULTILINE)
    for name, metric in truth.metrics.items():
        row = rf"^\s*{name}\s+{metric.value:.4f}"
        folded = rf"^same figures as [^:]+:.*\b{name}\b|^no difference:.*\b{name} {metric.value:.4f}"
        assert re.search(f"{row}|{folded}", compared, re.MULTILINE), name
    assert "first (scripted)" in compared


def test_compare(here: Path, truth: RunSummary, capsys: pytest.CaptureFixture[str]) -> None:
    told = spoken(capsys, "compare", "1", "2")
    for side in ("a", "b"):
        run = told[f"run_{side}"]
        assert (run["outcomes"], run["evaluated"], run["failed"]) == (
            truth.outcomes,
            truth.evaluated,
            truth.failed,
        )
        assert {metric["name"]: metric[f"run_{side}"] for metric in told["metrics"]} == {
            name: [value] for name, value in values(truth).items()
        }
        assert {metric["name"]: metric[f"failures_as_wrong_{side}"] for metric in told["metrics"]} == {
            name: metric.with_failures for name, metric in truth.metrics.items()
        }
    assert all(metric["paired"]["difference"] == 0 for metric in told["metrics"])
    assert all(metric["direction"] == "same" for metric in told["metrics"])


def test_export(here: Path, truth: RunSummary, tmp_path: Path) -> None:
    main(["export", "1", "-o", str(tmp_path / "out.jsonl")])
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert Counter(record["outcome"] for record in records) == Counter(truth.outcomes)
    main(["export", "1", "-o", str(tmp_path / "out.csv")])
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text())))
    for name, metric in truth.metrics.items():
        found = [float(row[f"score.{name}"]) for row in rows if row[f"score.{name}"]]
        assert (len(found), sum(found) / len(found)) == (metric.count, pytest.approx(metric.value))


def test_the_suite_and_its_work_folder(here: Path, truth: RunSummary) -> None:
    rows = json.loads((here / "first.json").read_text())
    for row in rows:
        cell = row["cells"][0]
        assert (cell["outcomes"], cell["evaluated"], cell["failed"]) == (
            truth.outcomes,
            truth.evaluated,
            truth.failed,
        )
        if row["metric"] in truth.metrics:
            assert cell["value"] == truth.metrics[row["metric"]].value
    (work,) = (here / "of-first").iterdir()
    document = json.loads((work / "results/first/awkward.json").read_text())
    assert {name: metric["value"] for name, metric in document["metrics"].items()} == values(truth)
    assert document["outcomes"] == truth.outcomes
    assert document["correct (2 runs average)"] == pytest.approx(
        100 * truth.metrics["correct"].value, abs=1e-3
    )
    (path,) = work.glob("summary/*.json")
    for line in json.loads(path.read_text())["lines"]:
        assert line["models"]["first"]["outcomes"] == truth.outcomes
        assert line["models"]["first"]["failed"] == truth.failed
    (path,) = work.glob("summary/*.csv")
    for line in csv.DictReader(io.StringIO(path.read_text())):
        assert {outcome: int(line[f"first {outcome}"]) for outcome in Outcome} == truth.outcomes
    (path,) = work.glob("summary/*.txt")
    assert all(outcome in path.read_text() for outcome in Outcome)


def test_folders_copied_from_elsewhere_compare_as_the_runs_do(
    here: Path, truth: RunSummary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = compare(1, 2).to_json()
    copies = []
    for number in (1, 2):
        (folder,) = (here / ".benchwright/runs").glob(f"000{number}-*")
        copies.append(shutil.copytree(folder, tmp_path / f"machine-{number}" / folder.name))
    mixed = compare(1, str(copies[1])).to_json()
    monkeypatch.chdir(tmp_path)
    outside = compare(*map(str, copies)).to_json()
    for found in (mixed, outside):
        for key in ("metrics", "differs", "comparable", "samples", "input_comparison"):
            assert found[key] == inside[key], key
        assert found["run_b"]["outcomes"] == truth.outcomes  # type: ignore[index,call-overload]
    assert main(["compare", *map(str, copies)]) == 0
    (copies[1] / "samples.parquet").unlink()
    with pytest.raises(UsageError, match=r"has no samples\.parquet"):
        compare(*map(str, copies))
