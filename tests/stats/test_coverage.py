"""95 % intervals contain the true mean in 93 to 97 of 100 runs where there are 20 rows or more.

`interval_settings.py` has the settings; those that may be wider say why. `interval_grid.py` says what is simulated.
"""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from interval_grid import NOISE, RUNS, SIZES, simulate
from interval_settings import DISCRETE, ONE_SIDED, UNSEEN_ROWS, Setting, settings

from benchwright.stats import Aggregator, PairedResult, wilson_interval
from benchwright.stats._accumulator import ScoreAccumulator
from benchwright.stats._intervals import mean_interval


@pytest.mark.parametrize("setting", list(settings()), ids=lambda setting: f"{setting.group}: {setting.name}")
def test_intervals_hold_what_they_promise(setting: Setting) -> None:
    for rows in SIZES:
        found = simulate(setting, rows, RUNS)
        assert found.inside(setting), (rows, found, setting.wide or "93 to 97")


def test_wider_intervals_have_a_declared_reason_and_the_common_kinds_of_data_need_none() -> None:
    declared = list(settings())
    assert {s.wide for s in declared} == {"", DISCRETE, ONE_SIDED, UNSEEN_ROWS}
    always_held = {s.group for s in declared} - {s.group for s in declared if s.wide}
    assert always_held == {"zeros and ones", "graded", "beyond 0 to 1", "pairs", "pairs, graded"}


def test_one_sided_repeats_stay_below_the_nominal_coverage_of_one_end() -> None:
    """Only the end away from the ceiling can miss: 97.5 %, and what the simulation adds to it."""
    for setting in settings():
        if setting.wide == ONE_SIDED:
            assert all(simulate(setting, rows, RUNS).held <= 0.975 + NOISE for rows in SIZES), setting.name


@pytest.mark.parametrize(
    ("rows", "mean_low", "worst"), [(20, 0.945, 0.835), (50, 0.945, 0.835), (200, 0.945, 0.835)]
)
def test_exact_coverage_of_zeros_and_ones(rows: int, mean_low: float, worst: float) -> None:
    """Wilson's interval at every share, by the binomial distribution: 95 % on average, less at a few shares near 1."""
    bounds = [wilson_interval(right, rows) for right in range(rows + 1)]
    shares = np.linspace(0.5, 1, 2001)[:-1]
    found = np.zeros(len(shares))
    for right, (low, high) in enumerate(bounds):
        chance = comb(rows, right) * shares**right * (1 - shares) ** (rows - right)
        found += np.where((low <= shares) & (shares <= high), chance, 0)
    assert mean_low <= found.mean() <= 0.965
    assert found.min() >= worst
    assert found[shares <= 0.8].min() >= 0.91


@pytest.mark.parametrize("repeats", [1, 4])
def test_the_accumulator_gives_the_interval_of_the_simulation(repeats: int) -> None:
    random = np.random.RandomState(7)
    values = random.beta(4, 1, (60, repeats))
    scores = ScoreAccumulator()
    scores.extend(values.ravel().tolist(), np.repeat(np.arange(60), repeats).tolist())
    rows = values.mean(axis=1)
    expected = mean_interval(
        float(rows.mean()),
        float(rows.std(ddof=1) / 60**0.5),
        60,
        third=float(((rows - rows.mean()) ** 3).mean()),
        answers=None,
        repeated=repeats > 1,
        ends=(float(values.min()), float(values.max())),
    )
    found = scores.summary()
    assert (found.ci_low, found.ci_high) == pytest.approx(expected[:2], abs=1e-12)


def test_zeros_and_ones_have_wilsons_interval_by_the_general_formula() -> None:
    for right in (0, 1, 10, 29, 30):
        share = right / 30
        spread = share * (1 - share)
        found = mean_interval(
            share,
            (spread / 29) ** 0.5,
            30,
            third=spread * (1 - 2 * share),
            answers=None,
            repeated=False,
            ends=(0.0, 1.0),
        )
        assert found[:2] == pytest.approx(wilson_interval(right, 30), abs=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("rows", [1, 5, 20, 300])
def test_equal_values_give_an_interval_with_a_width_within_the_range(value: float, rows: int) -> None:
    scores = Aggregator()
    for row in range(rows):
        scores.add(row, {"f1": value})
    found = scores.summaries()["f1"]
    assert 0 <= found.ci_low <= value <= found.ci_high <= 1  # type: ignore[operator]
    assert found.ci_low < found.ci_high  # type: ignore[operator]


def test_fewer_than_twenty_rows_are_too_few_whatever_the_repeats() -> None:
    def summary(rows: int, repeats: int) -> bool:
        scores = ScoreAccumulator()
        for row in range(rows):
            for _ in range(repeats):
                scores.add(row % 2, row)
        return scores.summary().too_few

    assert [summary(19, 1), summary(20, 1), summary(19, 10), summary(20, 10)] == [True, False, True, False]
    assert PairedResult.of([0] * 19, [1] * 19).too_few
    assert not PairedResult.of([0] * 20, [1] * 20).too_few
