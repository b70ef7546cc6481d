"""How often a gate says NO-GO by chance, and how often it finds a regression, by simulation.

Every simulated gate has the same rule over 20 slices. In the first kind, no slice is worse than its limit: all of them lie
exactly on it, which is the hardest case. In the second, one slice is worse by the smallest effect that the gate states to
find with 80 % power.

`python tests/results/gate_errors.py` prints the table; with `full` as argument, it simulates more runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from benchwright.results import Policy
from benchwright.results._gates.decide import Claim, decide
from benchwright.results._gates.policy import Rule
from benchwright.stats import LimitTest

Array: TypeAlias = Any
SLICES = 20
ALPHA = 0.05
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of rule and data."""

    name: str
    draw: Callable[[np.random.RandomState, int, float], LimitTest]
    """The test of one slice of so many rows that is worse than its limit by so much."""
    allowed: float = 0.0
    """The loss that the rule allows."""


def right_or_wrong(changed: float, margin: float) -> Callable[[np.random.RandomState, int, float], LimitTest]:
    """Pairs of right-or-wrong values. `changed`: the share that differs where both sides are alike."""

    def draw(random: np.random.RandomState, rows: int, worse: float) -> LimitTest:
        loss = changed / 2 + margin + worse
        drawn = random.random_sample(rows)
        before = np.where(drawn < loss, 1, np.where(drawn < loss + changed / 2, 0, 1))
        after = np.where(drawn < loss, 0, 1)
        return LimitTest.of_gain(
            before.tolist(), after.tolist(), -margin, level=0.95, lower_is_better=False, share=True
        )

    return draw


def graded(noise: float, margin: float) -> Callable[[np.random.RandomState, int, float], LimitTest]:
    """Pairs of scores from 0 to 1, such as F1, with noise; losses are rows that fall to 0."""

    def draw(random: np.random.RandomState, rows: int, worse: float) -> LimitTest:
        level = random.uniform(0.3, 0.7, rows)
        before = level + random.uniform(-noise, noise, rows)
        after = level + random.uniform(-noise, noise, rows)
        lost = random.random_sample(rows) < (margin + worse) / 0.5
        after = np.where(lost, 0.0, after)
        return LimitTest.of_gain(
            before.tolist(), after.tolist(), -margin, level=0.95, lower_is_better=False, share=True
        )

    return draw


def threshold(share: float) -> Callable[[np.random.RandomState, int, float], LimitTest]:
    """Right-or-wrong values against a least share."""

    def draw(random: np.random.RandomState, rows: int, worse: float) -> LimitTest:
        values = (random.random_sample(rows) < share - worse).astype(int).tolist()
        return LimitTest.of_mean([[value] for value in values], share, 1, level=0.95)

    return draw


def graded_threshold(partly: float) -> Callable[[np.random.RandomState, int, float], LimitTest]:
    """Scores that are mostly 1, and anything below in some rows, against a least mean: skewed as F1 of a good model is."""

    def draw(random: np.random.RandomState, rows: int, worse: float) -> LimitTest:
        lower = random.random_sample(rows) < partly + 2 * worse
        values = np.where(lower, random.uniform(0, 1, rows), 1.0).tolist()
        return LimitTest.of_mean([[value] for value in values], 1 - partly / 2, 1, level=0.95)

    return draw


SETTINGS = (
    Setting("regression, right or wrong, 10 % change", right_or_wrong(0.10, 0.0)),
    Setting("regression, right or wrong, 30 % change", right_or_wrong(0.30, 0.0)),
    Setting("the same with a margin of 0.02, 10 % change", right_or_wrong(0.10, 0.02), 0.02),
    Setting("the same with a margin of 0.05, 2 % change", right_or_wrong(0.02, 0.05), 0.05),
    Setting("regression, scores from 0 to 1", graded(0.1, 0.0)),
    Setting("the same with a margin of 0.05", graded(0.1, 0.05), 0.05),
    Setting("threshold of 0.7, right or wrong", threshold(0.7)),
    Setting("threshold of 0.95, right or wrong", threshold(0.95)),
    Setting("threshold of 0.9, scores from 0 to 1", graded_threshold(0.2)),
)


_RULE = Rule(kind="regression", where="", metric="simulated", bound="upper")
_POLICY = Policy(source="", rules=(_RULE,), alpha=ALPHA, power=POWER)


def no_go(tests: Sequence[LimitTest]) -> list[bool]:
    """Which slices a gate with this rule says NO-GO to."""
    rows, _ = decide([Claim(rule=_RULE, subject="", found=test) for test in tests], _POLICY)
    return [row.verdict == "NO-GO" for row in rows]


def false_alarms(setting: Setting, rows: int, gates: int) -> float:
    """The share of gates that say NO-GO although all slices are just at their limit."""
    random = np.random.RandomState(rows)
    alarms = [any(no_go([setting.draw(random, rows, 0.0) for _ in range(SLICES)])) for _ in range(gates)]
    return sum(alarms) / gates


def found(setting: Setting, rows: int, gates: int) -> tuple[float, float] | None:
    """The effect that is stated to be found, and the share of gates that find it; None: no effect can be stated."""
    random = np.random.RandomState(rows + 1)
    stated = []
    for _ in range(40):
        spread = setting.draw(random, rows, 0.0).spread
        effect = spread.smallest_effect(alpha=ALPHA / SLICES, power=POWER, allowed=setting.allowed)
        if effect is not None:
            stated.append(effect)
    if len(stated) < 40:
        return None
    effect = float(np.median(stated))
    alike = [setting.draw(random, rows, 0.0) for _ in range(SLICES - 1)]
    hits = sum(no_go([setting.draw(random, rows, effect - setting.allowed), *alike])[0] for _ in range(gates))
    return effect, hits / gates


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", nargs="?", choices=("quick", "full"), default="quick")
    gates = 2000 if parser.parse_args().size == "full" else 200
    print(f"{'rule over 20 slices':<46}{'rows':>6}{'false NO-GO':>13}{'effect':>9}{'found':>8}")
    for setting in SETTINGS:
        for rows in (30, 100, 300):
            alarms = false_alarms(setting, rows, gates)
            power = found(setting, rows, gates)
            shown = ("–", "–") if power is None else (f"{power[0]:.3f}", f"{power[1]:.2f}")
            print(f"{setting.name:<46}{rows:>6}{alarms:>13.3f}{shown[0]:>9}{shown[1]:>8}")


if __name__ == "__main__":
    main()
