"""What a gate takes as evidence: every metric that either run has, and samples of one row as one row."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from gate_runs import ROWS, answering, gate_run

import benchwright
from benchwright import RunResult, ScorerInput, Verdict, benchmark, judge_panel, run
from benchwright.stats import LimitTest


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def judged(one: Any, baseline: Any = None, **tables: Any) -> Verdict:
    return benchwright.gate(one, policy=tables, baseline=baseline)


LAW = range(8)
"""The rows of the category law."""


@benchmark(
    name="few of law",
    dataset=[{**row, "category": "law" if k in LAW else "tax"} for k, row in enumerate(ROWS)],
    prompt="{q}",
)
def few_of_law(sample: Any) -> dict[str, float]:
    right = sample.response == sample.target
    return {"correct": right, f"acc_{sample.metadata['category']}": right}


@pytest.mark.parametrize("kind", ["regression", "threshold"])
@pytest.mark.parametrize("metric", ["acc_*", "acc_law"])
def test_a_metric_whose_samples_all_failed_is_not_passed_over(kind: str, metric: str) -> None:
    before, after = gate_run(spec=few_of_law), gate_run(failing=LAW, spec=few_of_law)
    limit = {"min": 0.5} if kind == "threshold" else {}
    rule = {"metric": metric, "bound": "value", **limit}
    for one, baseline in ((after, before), (before, after)):
        found = judged(one, baseline, **{kind: [rule]})
        row = found.rows[1]
        absent = kind == "regression" or one is after
        assert row.evaluated is not absent
        assert found.verdict == ("INCONCLUSIVE" if absent else "GO")
        if absent:
            assert f"{'the run' if one is after else 'the baseline'} has no metric 'acc_law'" in row.reason


def test_failures_as_wrong_judges_a_metric_that_only_the_baseline_has() -> None:
    before, after = gate_run(spec=few_of_law), gate_run(failing=LAW, spec=few_of_law)
    rule = {"metric": "acc_*", "bound": "upper", "failures_as_wrong": True}
    found = judged(after, before, regression=[rule])
    assert [row.verdict for row in found.rows[1:]] == ["NO-GO", "GO"]
    assert (found.rows[1].observed, found.rows[1].n) == (-1.0, len(LAW))


@benchmark(name="asked often", dataset=[{"q": f"row {k}", "target": "yes"} for k in range(20)], prompt="{q}")
def asked_often(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == sample.target}


@benchmark(
    name="copied often",
    dataset=[{"q": f"row {k}", "target": "yes"} for k in range(20) for _ in range(20)],
    prompt="{q}",
)
def copied_often(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == sample.target}


def _failing(spec: Any, repeats: int) -> RunResult:
    return run(spec, endpoint=answering(failing={5, 12, 19}), repeats=repeats, failure_threshold=0.5)


@pytest.mark.parametrize(("spec", "repeats"), [(asked_often, 20), (copied_often, 1)])
def test_failures_of_one_row_are_no_more_certain_for_being_repeated(spec: Any, repeats: int) -> None:
    many, once = _failing(spec, repeats), _failing(asked_often, 1)
    for limit in (0.08, 0.2):
        rule = {"max": limit, "bound": "upper"}
        (row,) = judged(many, failures=[rule], gate={"max_failed": 0.5}).rows[1:]
        (single,) = judged(once, failures=[rule], gate={"max_failed": 0.5}).rows[1:]
        assert (row.observed, row.n) == (single.observed, single.n) == (0.15, 20)
        assert row.verdict == single.verdict == "INCONCLUSIVE"  # 3 of 20 rows, not 60 of 400
    named = {"max": 0.2, "bound": "value", "outcome": ["request_failed", "empty", "request_failed"]}
    (row,) = judged(many, failures=[named], gate={"max_failed": 0.5}).rows[1:]
    assert (row.observed, row.verdict) == (0.15, "GO")


def test_value_interval_and_test_of_a_threshold_are_about_the_same_mean() -> None:
    rows = [[1.0]] * 30 + [[0.0] * 100]
    for side, limit, sign in ((1, 0.6, 1.0), (-1, 0.4, -1.0)):
        values = [[0.5 + sign * (value - 0.5) for value in row] for row in rows]
        found = LimitTest.of_mean(values, limit, side, level=0.95)
        assert side * (found.value - limit) < 0
        assert found.p_missed is not None
        assert found.p_missed < 0.9, "the mean of the rows meets the limit, the mean of all values does not"


def test_rows_of_unequal_size_raise_few_false_alarms() -> None:
    dice, alarms, gates = Random(11), 0, 200
    for _ in range(gates):
        # A row of one value is right with 0.6, a row of nine with 0.8: the mean of all values is 0.78.
        rows = [
            [float(dice.random() < share)] * size for size, share in ((1, 0.6), (9, 0.8)) for _ in range(40)
        ]
        found = LimitTest.of_mean(rows, 0.78, 1, level=0.95)
        alarms += found.p_missed is not None and found.p_missed < 0.05
    assert alarms <= 0.05 * gates


def test_keys_that_mean_nothing_for_a_kind_of_run_are_not_ignored() -> None:
    before, after = gate_run(), gate_run(cache=False)
    rule = {"metric": "correct", "bound": "upper", "stage": "4 in flight"}
    row = judged(after, before, regression=[rule]).rows[1]
    assert (row.verdict, row.evaluated) == ("INCONCLUSIVE", False)
    assert "stage is for load tests" in row.reason


@benchmark(
    name="listed groups",
    dataset=[{"q": f"row {k}", "target": "yes", "once": ["a"], "twice": ["a", "a"]} for k in range(40)],
    prompt="{q}",
)
def listed_groups(sample: Any) -> dict[str, float]:
    return {"correct": sample.response == sample.target}


def test_a_row_counts_once_in_a_group_that_it_names_twice() -> None:
    before, after = gate_run(spec=listed_groups), gate_run(range(5), spec=listed_groups)
    found = []
    for column in ("once", "twice"):
        rule = {"metric": "correct", "bound": "upper", "slices": column}
        failures = {"max": 0.1, "bound": "upper", "slices": column}
        verdict = judged(
            after, before, regression=[rule], threshold=[{**rule, "min": 0.5}], failures=[failures]
        )
        found.append([(row.observed, row.interval, row.n, row.p) for row in verdict.rows])
    assert found[0] == found[1]


@benchmark(
    name="two judges",
    dataset=[{"question": f"row {k}", "target": "yes"} for k in range(30)],
    prompt="{question}",
    judge={"url": "http://127.0.0.1:9/v1", "model_id": "one"},
    judge_1={"url": "http://127.0.0.1:9/v1", "model_id": "other"},
)
def two_judges(sample: Any) -> dict[str, Any]:
    asked = ScorerInput("x", "yes", sample.metadata, config=sample.config, ask=lambda call: "GRADE: C")
    grades = judge_panel(asked)
    return {**grades, "grade_of_judge_1": "I" if sample.metadata["question"].endswith("3") else "C"}


def test_figures_of_all_samples_have_a_value_and_nothing_else() -> None:
    before, after = (gate_run(spec=two_judges, cache=False) for _ in range(2))
    assert "judge_kappa" in after.summary.derived
    rule = {"metric": "judge_kappa", "bound": "value"}
    for tables, told in (
        ({"threshold": [{**rule, "min": -1, "bound": "lower"}]}, 'has no interval; use bound = "value"'),
        ({"threshold": [{**rule, "min": -1, "slices": "target"}]}, "has no slices"),
        ({"regression": [rule]}, "a regression compares sample by sample"),
    ):
        row = judged(after, before, **tables).rows[1]
        assert (row.evaluated, told in row.reason) == (False, True)
    assert judged(after, threshold=[{**rule, "min": -1}]).verdict == "GO"
