"""`Statistics` and `Classification`, against hand-computed values; Student's t against published tables."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from benchwright import Classification, Statistics
from benchwright.stats import t_quantile

NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)

# Two-sided quantiles as printed in the usual tables (three or four decimals), and to ten where one is known exactly.
TABLE = {
    (1, 0.90): 6.314, (1, 0.95): 12.706, (1, 0.99): 63.657, (1, 0.999): 636.619,
    (2, 0.95): 4.303, (2, 0.99): 9.925, (3, 0.95): 3.182, (4, 0.99): 4.604, (5, 0.80): 1.476,
    (9, 0.95): 2.262, (10, 0.99): 3.169, (15, 0.999): 4.073, (20, 0.95): 2.086, (29, 0.95): 2.045,
    (30, 0.99): 2.750, (40, 0.95): 2.021, (60, 0.90): 1.671, (120, 0.95): 1.980, (120, 0.999): 3.373,
    (1000, 0.95): 1.962, (1000, 0.999): 3.300,
}  # fmt: skip


@pytest.mark.parametrize(("degrees", "confidence"), TABLE)
def test_students_t_agrees_with_published_tables(degrees: int, confidence: float) -> None:
    assert round(t_quantile(degrees, confidence), 3) == TABLE[degrees, confidence]


@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.8, 0.95, 0.99, 0.999, 0.99999])
def test_students_t_is_exact_where_a_closed_form_is_known(confidence: float) -> None:
    share = (1 + confidence) / 2
    assert t_quantile(1, confidence) == pytest.approx(math.tan(math.pi * (share - 0.5)), rel=1e-9)
    two = 2 * (share - 0.5) * math.sqrt(2 / (4 * share * (1 - share)))
    assert t_quantile(2, confidence) == pytest.approx(two, rel=1e-9)
    a = 4 * share * (1 - share)
    four = 2 * math.sqrt(math.cos(math.acos(math.sqrt(a)) / 3) / math.sqrt(a) - 1)
    assert t_quantile(4, confidence) == pytest.approx(four, rel=1e-9)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.9999, 0.9999999])
def test_students_t_does_not_jump_where_the_method_changes(confidence: float) -> None:
    around = [t_quantile(degrees, confidence) for degrees in range(190, 215)]
    steps = [before - after for before, after in pairwise(around)]
    assert all(step > 0 for step in steps)
    assert all(abs(b / a - 1) < 0.05 for a, b in pairwise(steps))


@given(NUMBERS)
def test_means_and_spreads_agree_with_the_standard_library(vals: list[float]) -> None:
    assert Statistics.mean(vals) == pytest.approx(statistics.fmean(vals), abs=1e-6)
    assert Statistics.variance(vals) == pytest.approx(statistics.pvariance(vals), rel=1e-9, abs=1e-6)
    assert Statistics.stddev(vals) == pytest.approx(statistics.pstdev(vals), rel=1e-9, abs=1e-3)
    if len(vals) > 1:
        assert Statistics.variance(vals, sample=True) == pytest.approx(
            statistics.variance(vals), rel=1e-9, abs=1e-6
        )
    low, high = Statistics.confidence_interval(vals)
    assert low <= Statistics.mean(vals) + 1e-9
    assert high >= Statistics.mean(vals) - 1e-9


def test_intervals_of_known_samples() -> None:
    low, high = Statistics.confidence_interval([9.8, 10.2, 10.4, 9.8, 10.0, 10.2, 9.6])
    assert (round(low, 2), round(high, 2)) == (9.74, 10.26)
    assert Statistics.confidence_interval([3.5]) == (3.5, 3.5)
    wide = Statistics.confidence_interval([1, 2, 3], confidence=0.99)
    assert wide[0] < Statistics.confidence_interval([1, 2, 3])[0]


def test_accuracy_and_clipped_means() -> None:
    assert Statistics.accuracy(0, 0) == 0.0
    assert Statistics.accuracy(2, 3) == 2 / 3
    assert Statistics.clipped_mean([-1, 0.5, 9]) == 0.5
    assert Statistics.clipped_mean([-1, 5], min_max=(0, 10)) == 2.5
    assert Statistics.variance([4.0], sample=True) == 0.0


def test_nothing_has_no_mean() -> None:
    for call in (
        Statistics.mean,
        Statistics.clipped_mean,
        Statistics.variance,
        Statistics.stddev,
        Statistics.confidence_interval,
    ):
        with pytest.raises(ValueError, match="no values"):
            call([])  # type: ignore[operator]
    with pytest.raises(ValueError, match="lower one first"):
        Statistics.clipped_mean([1], min_max=(1, 1))
    with pytest.raises(ValueError, match="between 0 and 1"):
        Statistics.confidence_interval([1, 2], confidence=95)


def test_figures_of_decisions() -> None:
    true = [True, True, True, False, False, False, False, True]
    said = [True, True, False, True, False, False, False, False]
    assert Classification.precision(true, said) == 2 / 3
    assert Classification.recall(true, said) == 0.5
    assert Classification.specificity(true, said) == 0.75
    assert Classification.f1(true, said) == pytest.approx(2 * (2 / 3) * 0.5 / (2 / 3 + 0.5))


def test_figures_of_decisions_are_zero_where_nothing_can_be_divided() -> None:
    for figure in (
        Classification.precision,
        Classification.recall,
        Classification.specificity,
        Classification.f1,
    ):
        assert figure([], []) == 0.0
        with pytest.raises(ValueError, match="as many of both"):
            figure([True], [])
    assert Classification.precision([True], [False]) == 0.0
    assert Classification.recall([False], [True]) == 0.0
    assert Classification.specificity([True], [True]) == 0.0
