"""Rows of question files without an answer: every mean leaves them out, whether their requests succeeded or failed."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from benchwright import ScriptedEndpoint, compare, gate, perf, run
from benchwright.core import MetricSummary, ModelReply, RequestFailure, load_json
from browser import page_data
from recording_server import Refusal, recording

UNANSWERED = 5
ROWS = range(12)


@pytest.fixture(autouse=True)
def quiz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve rows: two options or four, the right one always A, and one row without an answer."""
    lines = ["question,A,B,C,D,answer"]
    for row in ROWS:
        further = "w,x" if row % 2 else ","
        lines.append(f"question {row}.,y,z,{further},{'' if row == UNANSWERED else 'A'}")
    (tmp_path / "quiz.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def asked(body: dict[str, Any]) -> int:
    text = str(body["messages"][-1]["content"])
    return next(row for row in ROWS if f"question {row}." in text)


def answering(failing: Collection[int] = (), wrong: Collection[int] = ()) -> ScriptedEndpoint:
    def reply(request: Any) -> ModelReply:
        row = asked(request.body)
        if row in failing:
            return ModelReply("failed", failure=RequestFailure("bad_request", "refused"))
        return ModelReply("answered", "B" if row in wrong else "A")

    return ScriptedEndpoint(reply)


def quiz_run(failing: Collection[int] = (), wrong: Collection[int] = (), **options: Any) -> Any:
    return run("quiz.csv", endpoint=answering(failing, wrong), cache=False, failure_threshold=1.0, **options)


def both(metric: MetricSummary) -> tuple[float, int, float | None, int | None]:
    return metric.value, metric.count, metric.with_failures, metric.with_failures_count


@pytest.mark.parametrize("failing", [(0, 1, 2, 3, 4, 6), (0, 1, 2, 3, 4, UNANSWERED)])
def test_both_means_of_a_run_leave_the_row_out(failing: tuple[int, ...]) -> None:
    summary = quiz_run(failing, wrong=[7, 8]).summary
    counted = 11 - sum(row != UNANSWERED for row in failing)
    right = counted - 2
    assert summary.failed == 6
    for name in ("accuracy", "accuracy_strict"):
        assert both(summary.metrics[name]) == (
            pytest.approx(right / counted), counted, pytest.approx(right / 11), 11,
        )  # fmt: skip


@pytest.mark.parametrize("unanswered_too", [False, True])
def test_gate_and_compare_give_the_means_of_the_run(unanswered_too: bool) -> None:
    failing = [0, 1, 2, *([UNANSWERED] if unanswered_too else [])]
    before, after = quiz_run(failing), quiz_run(failing, wrong=[7])
    rule = {"metric": "accuracy", "bound": "value", "failures_as_wrong": True}
    policy = {"threshold": [{**rule, "min": 0.1}], "regression": [{**rule, "margin": 0.5}]}
    found = {row.kind: row for row in gate(after, policy=policy, baseline=before).rows}
    threshold, regression = found["threshold"], found["regression"]
    mean = after.summary.metrics["accuracy"].with_failures
    assert mean == pytest.approx(7 / 11)
    assert (threshold.observed, threshold.n) == (pytest.approx(mean), 11)
    assert (regression.observed, regression.n) == (pytest.approx(-1 / 11), 11)
    (accuracy,) = (each for each in compare(before, after).metrics if each.name == "accuracy")
    assert accuracy.failures_as_wrong is not None
    assert accuracy.failures_as_wrong.pairs == 11
    assert accuracy.failures_as_wrong.mean_b == pytest.approx(mean)


def test_repeats_have_both_means_too() -> None:
    figures = quiz_run([0, UNANSWERED], repeats=2).summary.over_repeats
    for name in ("avg@2", "pass@2"):
        found = figures[name]["accuracy"]
        assert (found.value, found.with_failures) == (1.0, pytest.approx(10 / 11))


def test_chance_does_not_depend_on_which_requests_failed() -> None:
    whole = quiz_run().summary.metrics["chance"]
    assert (whole.value, whole.count) == (pytest.approx((6 * 0.5 + 5 * 0.25) / 11), 11)
    for failing in ([0], [1, 3, 7], [0, 2, UNANSWERED], [10, 11]):
        found = quiz_run(failing).summary.metrics["chance"]
        assert (found.value, found.count, found.stddev) == (whole.value, 11, whole.stddev)
        assert (found.interval, found.with_failures) == ("constant", None)


@pytest.mark.parametrize(
    ("failing", "mean", "wrong"), [((), 1.0, 1.0), ((0, 1), 1.0, 9 / 11), ((0, UNANSWERED), 1.0, 10 / 11)]
)
def test_a_load_test_leaves_the_row_out(failing: tuple[int, ...], mean: float, wrong: float) -> None:
    def answer(body: dict[str, Any]) -> str:
        if asked(body) in failing:
            raise Refusal("no")
        return "A"

    with recording(answer) as server:
        model = {"model_url": server.url, "model_id": "m", "stream": False, "stop_error_share": 1.0}
        result = perf("quiz.csv", score=True, concurrency=1, requests=12, **model)
    (stage,) = result.summary.stages
    assert (stage.counts.failed, stage.scores["accuracy"].mean) == (len(failing), mean)
    assert stage.scores_with_failures["accuracy"] == pytest.approx(wrong, abs=1e-6)
    assert "chance" in stage.scores
    assert "chance" not in stage.scores_with_failures
    stored = load_json((result.folder / "summary.json").read_text(encoding="utf-8"))
    assert stored["stages"][0]["scores_with_failures"] == stage.scores_with_failures
    page = (result.folder / "report.html").read_text(encoding="utf-8")
    (shown,) = page_data(page)["summary"]["stages"]
    assert shown["scores_with_failures"]["accuracy"] == pytest.approx(wrong, abs=1e-6)
