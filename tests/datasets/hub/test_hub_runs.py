"""Runs on hub datasets: one commit from the first row to the last, on record, and again when resumed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hub_content import jsonl
from hub_server import LoopbackHub

from benchwright import ScriptedEndpoint
from benchwright.benchmarks import CheckReport, load_benchmarks
from benchwright.datasets import hub_commits, open_dataset, recorded_pins
from benchwright.runs import resume, run

BENCH = """
from benchwright import benchmark, scorer, ScorerInput

@benchmark(
    name="sums", dataset="hf://a/sums?split=test", prompt="{q}", target_field="a",
    num_fewshot=2, fewshot_split="train", fewshot_template="{q} {a}",
)
@scorer
def score(sample: ScorerInput) -> dict:
    return {"correct": sample.response == sample.target}
"""


def questions(count: int, plus: int) -> str:
    return jsonl([{"q": f"{i}+{plus}", "a": str(i + plus)} for i in range(count)])


@pytest.fixture
def bench(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    hub.repo("a/sums").commit({"test.jsonl": questions(6, 1), "train.jsonl": questions(20, 100)})
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "bench.py"
    path.write_text(BENCH)
    return path


def manifest_of(result: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((Path(result.folder) / "manifest.json").read_text())
    return found


def test_examples_come_from_the_other_split_and_the_commit_is_on_record(
    hub: LoopbackHub, bench: Path
) -> None:
    commit = hub.repos["a/sums"].refs["main"]
    result = run(bench, model="demo")
    manifest = manifest_of(result)
    assert manifest["dataset"]["source"]["commit"] == commit
    assert manifest["dataset"]["source"]["split"] == "test"
    assert manifest["hub"] == {"a/sums": commit}
    assert manifest["fewshot"]["source"] == "fewshot_split"
    assert len(hub.paths(r"^/api/datasets/a/sums$")) == 1, (
        "the branch is looked up once for rows and examples"
    )


def test_a_branch_that_moves_while_a_run_is_prepared_changes_nothing(hub: LoopbackHub, bench: Path) -> None:
    repo = hub.repos["a/sums"]
    first = repo.refs["main"]
    # As soon as the test rows are fetched, somebody pushes other data.
    hub.fault(
        "resolve/.*/test.jsonl",
        act=lambda: repo.commit({"test.jsonl": questions(6, 7), "train.jsonl": questions(20, 200)}),
    )
    manifest = manifest_of(run(bench, model="demo"))
    assert repo.refs["main"] != first
    assert manifest["hub"] == {"a/sums": first}
    assert all(first in path for path in hub.paths("/resolve/"))


def test_a_resumed_run_reads_the_commit_it_started_with(hub: LoopbackHub, bench: Path) -> None:
    repo = hub.repos["a/sums"]
    run(bench, max_requests=3, parallelism=1, endpoint=ScriptedEndpoint("0"))
    first = repo.refs["main"]
    repo.commit({"test.jsonl": questions(6, 7), "train.jsonl": questions(20, 200)})
    model = ScriptedEndpoint("0")
    result = resume("last", endpoint=model)
    assert len(model.requests) == 3
    assert all("+1" in str(request.body) for request in model.requests)
    assert manifest_of(result)["hub"] == {"a/sums": first}
    # A new run sees what is published now.
    fresh = run(bench, model="demo")
    assert manifest_of(fresh)["hub"] == {"a/sums": repo.refs["main"]}


def test_check_reads_the_hub_and_says_which_split_it_chose(hub: LoopbackHub, bench: Path) -> None:
    bench.write_text(BENCH.replace("?split=test", ""))
    (spec,) = load_benchmarks(str(bench), cwd=bench.parent)
    report = CheckReport.of(spec)
    assert any(
        "split 'test' was chosen: 'test' comes first in test" in warning for warning in report.warnings
    )
    assert report.rows == 6


def test_a_recorded_run_keeps_the_split_that_an_older_rule_chose(hub: LoopbackHub, bench: Path) -> None:
    recorded = {"hub": {}, "dataset": {"name": "hf://a/sums", "source": {"split": "train"}}}
    with hub_commits(recorded_pins(recorded)):
        assert len(open_dataset("hf://a/sums").head(50)) == 20
    assert len(open_dataset("hf://a/sums").head(50)) == 6
