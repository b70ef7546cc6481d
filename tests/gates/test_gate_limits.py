"""Limits that nothing can meet, and margins that everything meets."""

from __future__ import annotations

from pathlib import Path

import pytest
from gate_runs import gate_run

import benchwright
from benchwright.gates import policy_of
from benchwright.gates._decide import Claim, decide
from benchwright.stats import mean_against


def test_a_margin_that_allows_everything_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = gate_run(range(10)), gate_run(range(150))
    rule = {"metric": "correct", "bound": "value", "margin": 5}
    row = benchwright.gate(after, policy={"regression": [rule]}, baseline=before).rows[1]
    assert row.verdict == "GO"
    assert "a margin of 5 allows any loss of values from 0 to 1: for 5 points, write 0.05" in row.reason


@pytest.mark.parametrize("wrong", [0, 3, 197, 200])
@pytest.mark.parametrize("metric", ["correct", "graded"])
@pytest.mark.parametrize("bound", ["lower", "upper", "value"])
@pytest.mark.parametrize("limits", [{"max": -1}, {"min": -2, "max": -1}, {"min": 2}, {"min": 70, "max": 90}])
def test_a_limit_that_no_share_can_meet_is_missed(
    wrong: int, metric: str, bound: str, limits: dict[str, float]
) -> None:
    worth = 1.0 if metric == "correct" else 0.8
    rows = [[0.0 if k < wrong else worth] for k in range(200)]
    rule = {"metric": metric, "bound": bound, **limits}
    claims = [
        Claim(
            rule=each,
            subject=metric,
            found=mean_against(rows, limit, side, level=0.95),
            limit=limit,
            side=side,
        )
        for each in policy_of({"threshold": [rule]}, "p").rules
        for limit, side in each.limits
    ]
    rows_of_gate, _ = decide(claims, policy_of({"threshold": [rule]}, "p"))
    assert "NO-GO" in [row.verdict for row in rows_of_gate]
