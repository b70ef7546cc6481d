"""Where a failure counts as wrong is known wherever a run is read from: the workspace, its folder, a name or a file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from gate_runs import answering

import benchwright
from benchwright import RunResult, Verdict, bless
from benchwright.runs import export_baseline


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def of_categories() -> tuple[RunResult, RunResult]:
    Path("benchwright.toml").write_text('[models.faulty]\ntype = "demo"\nerror_rate = 0.5\nmax_retries = 0\n')
    options: Any = {"task": "simple,multiple", "model": "faulty", "cache": False, "failure_threshold": 1}
    first, second = (benchwright.run("bfclv3_ast", **options) for _ in range(2))
    return first, second


def of_rows_without_an_answer() -> tuple[RunResult, RunResult]:
    rows = [{"question": f"question {k}", "answer": None if k % 3 == 0 else "yes"} for k in range(60)]
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options: Any = {"cache": False, "failure_threshold": 1, "qa_metrics": ["contains"]}
    first, second = (
        benchwright.run("q.jsonl", endpoint=answering(wrong, range(20, 40)), **options)
        for wrong in ((), range(50, 55))
    )
    return first, second


def copied(run: RunResult, here: Path) -> Path:
    """The folder of a run, as if it came from another machine."""
    return Path(shutil.copytree(run.folder, here / f"copy of {run.run_id}"))


Pair = Callable[[], tuple[RunResult, RunResult]]


@pytest.mark.parametrize("pair", [of_categories, of_rows_without_an_answer])
def test_failures_count_the_same_wherever_a_run_is_read_from(pair: Pair, here: Path) -> None:
    first, second = pair()
    bless(first, name="named", force=True)
    portables = [export_baseline(run, here / f"{run.run_id}.jsonl", force=True)[0] for run in (first, second)]
    befores: list[Any] = [first, copied(first, here), "named", portables[0]]
    afters: list[Any] = [second, copied(second, here), portables[1]]
    found = [benchwright.compare(before, after) for before in befores for after in afters]
    expected = {each.name: each.failures_as_wrong for each in found[0].metrics}
    assert any(each is not None for each in expected.values())
    for comparison in found:
        assert {each.name: each.failures_as_wrong for each in comparison.metrics} == expected


def pairs_of(verdict: Verdict) -> list[tuple[Any, ...]]:
    return [(row.rule, row.observed, row.n, row.interval, row.verdict) for row in verdict.rows[1:]]


@pytest.mark.parametrize(
    ("pair", "metric"), [(of_categories, "simple"), (of_rows_without_an_answer, "contains")]
)
def test_gates_count_failures_the_same_whatever_the_baseline_is_read_from(
    pair: Pair, metric: str, here: Path
) -> None:
    first, second = pair()
    rule = {"metric": metric, "bound": "value", "margin": 0.9, "failures_as_wrong": True}
    policy = {
        "regression": [rule],
        "threshold": [{"metric": metric, "bound": "value", "min": 0.0, "failures_as_wrong": True}],
    }
    portable, _, _ = export_baseline(first, here / "portable.jsonl", force=True)
    runs: list[Any] = [second, copied(second, here)]
    baselines: list[Any] = [first, copied(first, here), portable]
    found = [
        pairs_of(benchwright.gate(run, policy=policy, baseline=each)) for run in runs for each in baselines
    ]
    count = second.summary.metrics[metric].with_failures_count
    assert [row[2] for row in found[0]] == [count, count]
    assert all(each == found[0] for each in found)


def test_files_of_versions_that_did_not_record_groups_are_read(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = of_rows_without_an_answer()
    older = copied(first, here)
    table = pq.read_table(older / "samples.parquet")
    pq.write_table(table.drop_columns(["group"]), older / "samples.parquet")
    with monkeypatch.context() as patch:
        patch.setattr("benchwright.results._gates.baselines.FORMAT_VERSION", 1)
        portable, _, _ = export_baseline(older, here / "older.jsonl", force=True)
    assert '"version":1' in portable.read_text()
    expected = benchwright.compare(first, second).metrics[0].paired
    for place in (older, portable):
        assert benchwright.compare(place, second).metrics[0].paired == expected
