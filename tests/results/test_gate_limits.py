"""Limits that nothing can meet, and margins that everything meets."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest
from gate_runs import gate_run

import benchwright
from benchwright.results import Policy
from benchwright.results._gates.decide import Claim, _rows, decide
from benchwright.results._gates.policy import Rule
from benchwright.results._gates.verdict import Word
from benchwright.stats import LimitTest


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
            found=LimitTest.of_mean(rows, limit, side, level=0.95),
            limit=limit,
            side=side,
        )
        for each in Policy.of({"threshold": [rule]}, "p").rules
        for limit, side in each.limits
    ]
    rows_of_gate, _ = decide(claims, Policy.of({"threshold": [rule]}, "p"))
    assert "NO-GO" in [row.verdict for row in rows_of_gate]


def rows_of(kind: str, dice: Random) -> list[Any]:
    """Sixty rows, from which others are drawn."""
    if kind == "right or wrong":
        return [[float(k < 54)] for k in range(60)]
    if kind == "graded":
        return [[min(1.0, max(0.0, dice.gauss(0.6, 0.2)))] for _ in range(60)]
    if kind == "pairs":
        return [(1, 0)] * 10 + [(0, 1)] * 4 + [(1, 1)] * 46
    return [
        (x, min(1.0, max(0.0, x + dice.gauss(-0.04, 0.15))))
        for x in [dice.uniform(0.3, 0.7) for _ in range(60)]
    ]


@pytest.mark.parametrize(
    ("kind", "limit", "word"),
    [
        ("right or wrong", 0.8, "GO"),
        ("right or wrong", 0.96, "NO-GO"),
        ("graded", 0.68, "NO-GO"),
        ("graded", 0.54, "GO"),
        ("pairs", 0.0, "NO-GO"),
        ("pairs", -0.2, "GO"),
        ("graded pairs", 0.0, "NO-GO"),
    ],
)
def test_as_many_rows_as_are_needed_decide_with_the_stated_power(kind: str, limit: float, word: str) -> None:
    """If the true values are the observed ones: rows are drawn from those seen."""
    dice = Random(8)
    rows = rows_of(kind, dice)
    paired = "pairs" in kind
    rule = Rule(kind="regression" if paired else "threshold", where="", metric="m", bound="lower")
    policy = Policy(source="", rules=(rule,))

    def claimed(drawn: list[Any]) -> Claim:
        if paired:
            before, after = zip(*drawn, strict=True)
            found = LimitTest.of_gain(before, after, limit, level=0.95, lower_is_better=False, share=True)
        else:
            found = LimitTest.of_mean(drawn, limit, 1, level=0.95)
        return Claim(rule=rule, subject="", found=found, limit=limit, allowed=max(0.0, -limit))

    first = claimed(rows)
    assert first.found is not None
    needed = _rows(first, first.found, policy, policy.alpha, None)
    assert needed is not None
    draws = 200
    verdicts = [decide([claimed(dice.choices(rows, k=needed))], policy)[0][0].verdict for _ in range(draws)]
    assert 0.7 <= verdicts.count(Word(word)) / draws <= 0.9
