"""Two workflow runs side by side: steps by key, metrics by name, pairs of what both measured per step."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchwright import compare
from benchwright.cli import main
from benchwright.core import NotFoundError, UsageError
from benchwright.results import Comparison, ComparisonOptions, FoundRun
from benchwright.results._comparing_workflows import compare_workflows
from benchwright.store import StepRequest, Store, Workspace, open_store
from stored_workflows import add_metric, begin_step, complete_step, created_workflow, finish_workflow


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(Workspace(tmp_path))


def recorded(
    store: Store,
    scores: dict[str, float],
    *,
    given: object = None,
    output: object = None,
    latency: float = 1.0,
    name: str = "my_eval",
    finish: bool = True,
) -> int:
    lease = created_workflow(store, name, input_json=json.dumps(given or {}).encode())
    for key, score in scores.items():
        decision = begin_step(store, lease, StepRequest(key, "0" * 64, b"1"))
        add_metric(store, lease, "score", score, step_id=decision.step_id, attempt=1)
        add_metric(store, lease, "answer_time", latency, unit="s", step_id=decision.step_id, attempt=1)
        complete_step(store, lease, decision.step_id, 1, json.dumps({"score": score, "null": None}).encode())
    add_metric(store, lease, "accuracy", sum(scores.values()) / max(1, len(scores)))
    if finish:
        finish_workflow(store, lease, "completed", output=json.dumps(output or {"done": True}).encode())
    return lease.run_id


def compared(store: Store, a: int, b: int, **options: object) -> Comparison:
    return compare_workflows(
        *(FoundRun.of(store.run(each), store) for each in (a, b)), ComparisonOptions(**options)
    )  # type: ignore[arg-type]


def test_runs_that_differ_only_in_time_are_the_same(store: Store) -> None:
    scores = {f"row-{n}": float(n % 2) for n in range(6)}
    a, b = recorded(store, scores), recorded(store, scores, latency=2.0)
    found = compared(store, a, b)
    assert not found.differs
    assert [metric.name for metric in found.metrics] == ["accuracy", "score"]
    assert [(each.name, each.noise, each.paired) for each in found.effort] == [("answer_time", True, None)]
    assert compared(store, a, b, times=True).differs


def test_the_time_of_a_reply_in_an_output_is_a_difference_only_if_times_count(store: Store) -> None:
    """Steps return what `call_llm` gave them, alone or inside other values."""
    runs = []
    for latency in (0.25, 0.5):
        lease = created_workflow(store, "my_eval", input_json=b"{}")
        reply = {"text": "4", "latency_s": latency}
        for key, output in (("alone", reply), ("inside", {"row": 1, "replies": [reply]})):
            decision = begin_step(store, lease, StepRequest(key, "0" * 64, b"1"))
            complete_step(store, lease, decision.step_id, 1, json.dumps(output).encode())
        finish_workflow(store, lease, "completed", output=json.dumps({"last": reply}).encode())
        runs.append(lease.run_id)
    found = compared(store, *runs)
    assert (found.differs, found.changes, found.steps) == (False, 0, ())
    with_times = compared(store, *runs, times=True)
    assert (with_times.differs, with_times.changes) == (True, 2)


def test_scores_per_step_are_tested_in_pairs(store: Store) -> None:
    before = {f"row-{n}": 1.0 for n in range(12)}
    after = dict.fromkeys(before, 0.0) | {"row-new": 1.0}
    a = recorded(store, before, given={"model": "small"})
    b = recorded(store, after, given={"model": "large"}, output={"done": False})
    found = compared(store, a, b)
    assert (found.both, found.only_a, found.only_b) == (12, 0, 1)
    paired = next(metric.paired for metric in found.metrics if metric.name == "score")
    assert paired is not None
    assert (paired.pairs, paired.losses, paired.test) == (12, 12, "mcnemar")
    assert found.regressed
    told = found.to_json()
    assert told["run_a"] == {
        "id": a, "workflow_name": "my_eval", "status": "completed", "model_name": "small",
        "duration": found.run_a.duration, "endpoint": "", "rows": None, "repeats": None, "evaluated": None,
        "failed": None, "outcomes": None, "title": f"run {a}", "comparable": True, "cost": None,
        "reused": None,
    }  # fmt: skip
    assert told["input_comparison"] == {
        "same": False,
        "differences": [{"path": "$.model", "run_a": "small", "run_b": "large"}],
    }
    output = told["output_comparison"]
    assert isinstance(output, dict)
    assert (output["run_a"], output["run_b"]) == ({"done": True}, {"done": False})
    assert told["output_differences"][0] == {  # type: ignore[index]
        "step": "row-0",
        "run_a": {"raw": '{"score":1.0,"null":null}', "json": {"score": 1.0, "null": None}},
        "run_b": {"raw": '{"score":0.0,"null":null}', "json": {"score": 0.0, "null": None}},
        "field_differences": [{"path": "$.score", "run_a": 1.0, "run_b": 0.0}],
    }
    assert len(compared(store, a, b, listed=3).steps) == 3
    assert [metric.name for metric in compared(store, a, b, metric="score").metrics] == ["score"]
    assert compared(store, a, b, listed=None).steps[-1].present == "only_b"


def test_doubts_are_told_and_nonsense_is_refused(store: Store) -> None:
    a = recorded(store, {"x": 1.0})
    b = recorded(store, {"x": 1.0}, name="other", finish=False)
    warning = compared(store, a, b).to_json()["warning"]
    assert isinstance(warning, str)
    assert "run 1 is of my_eval, run 2 of other" in warning
    assert "not complete" in warning
    bench = store.create_run(name="b", target="b", model="m", folder=None, settings={}, manifest={})
    place = store.workspace.root
    with pytest.raises(UsageError, match="run 3 is a benchmark and run 1 a workflow: they have nothing"):
        compare(bench.id, a, workspace=place)
    with pytest.raises(UsageError, match="compared with itself"):
        compare(a, a, workspace=place)
    with pytest.raises(NotFoundError, match="neither run has a metric 'scor'"):
        compared(store, a, b, metric="scor")


def test_runs_without_steps_or_metrics_can_be_compared(store: Store) -> None:
    leases = [created_workflow(store, "empty") for _ in range(2)]
    for lease in leases:
        finish_workflow(store, lease, "completed")
    found = compared(store, 1, 2)
    assert (found.differs, found.metrics, found.both) == (False, (), 0)


def test_other_code_and_other_data_are_warned_of(store: Store) -> None:
    runs = []
    for sha, helper, commit in (("a" * 64, "1", "c0ffee"), ("b" * 64, "2", "decaf0")):
        manifest = {
            "entry": {"path": "/evals/my.py", "sha256": sha},
            "modules": {"helpers.py": helper},
            "versions": {"python": "3.11"},
        }
        lease = created_workflow(store, "my_eval", input_json=b"{}", manifest=manifest)
        decision = begin_step(store, lease, StepRequest("dataset/open", "0" * 64, b"1"))
        opened = {"identity": f"hf://org/data@{commit}", "commit": commit, "total_rows": 9}
        complete_step(store, lease, decision.step_id, 1, json.dumps(opened).encode())
        finish_workflow(store, lease, "completed", output=b"{}")
        runs.append(lease.run_id)
    warnings = [note.text for note in compared(store, *runs).notes]
    assert any("different code (/evals/my.py" in text for text in warnings)
    assert any("helpers.py" in text for text in warnings)
    assert any("commit c0ffee and decaf0" in text for text in warnings)
    assert compared(store, runs[0], recorded(store, {})).notes, "a run that recorded no code is another"


def test_versions_that_one_run_did_not_record_are_no_difference(store: Store) -> None:
    versions = [
        {"benchwright": "1"},
        {"benchwright": "1", "python": "3.12.1", "orjson": "3.9"},
        {"benchwright": "1", "python": "3.12.2", "pyarrow": "20"},
    ]
    runs = []
    for each in versions:
        lease = created_workflow(store, "my_eval", input_json=b"{}", manifest={"versions": each})
        finish_workflow(store, lease, "completed", output=b"{}")
        runs.append(lease.run_id)
    assert compared(store, runs[0], runs[1]).notes == ()
    (warning,) = compared(store, runs[1], runs[2]).notes
    assert "(python 3.12.1 and 3.12.2)" in warning.text


def test_values_of_workflows_are_not_called_too_few(
    store: Store, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no interval by their nature; the difference has one where there are pairs enough."""
    monkeypatch.chdir(store.workspace.root)
    scores = {f"row-{n}": n / 40 for n in range(40)}
    a, b = recorded(store, scores), recorded(store, {key: value + 0.1 for key, value in scores.items()})
    assert main(["compare", str(a), str(b)]) == 0
    shown = capsys.readouterr().out
    assert "too few" not in shown
    (line,) = (line for line in shown.splitlines() if line.startswith(" score"))
    assert line.split()[:4] == ["score", "0.4875", "0.5875", "+0.1000"]
