"""One metric: exact where it can be, stable elsewhere, the same bits for the same values."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from fractions import Fraction
from itertools import groupby

import pytest
from hypothesis import given, settings, strategies as st

from benchwright.core import MetricSummary
from benchwright.stats import RowSums, Singles, wilson_interval
from benchwright.stats._accumulator import ScoreAccumulator
from benchwright.stats._intervals import UNSEEN, Z_95, t_quantile

FINITE = st.floats(-1e9, 1e9, allow_nan=False)


def accumulated(values: Iterable[float], clusters: Iterable[int] | None = None) -> ScoreAccumulator:
    scores = ScoreAccumulator()
    values = list(values)
    for value, cluster in zip(values, clusters or range(len(values)), strict=True):
        scores.add(value, cluster)
    return scores


def summary_of(values: Iterable[float], clusters: Iterable[int] | None = None) -> MetricSummary:
    return accumulated(values, clusters).summary()


def robust_stderr(values: list[float], clusters: list[int]) -> float:
    """The cluster-robust formula, written out in exact fractions."""
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    groups = groupby(zip(clusters, exact, strict=True), key=lambda pair: pair[0])
    residuals = [sum(value - mean for _, value in group) for _, group in groups]
    count = len(residuals)
    squares = sum(residual**2 for residual in residuals)
    return math.sqrt(squares * count / (count - 1)) / len(values)


def test_the_documented_example() -> None:
    found = summary_of([1, 1, 1, 1, 1, 1, 0, 0])
    assert found.count == 8
    assert found.value == 0.75
    assert round(found.stddev, 4) == 0.433
    assert round(found.stderr, 4) == 0.1531
    assert found.sample_stderr == pytest.approx(math.sqrt(0.75 * 0.25 / 7), rel=1e-15)
    assert (found.ci_low, found.ci_high) == wilson_interval(6, 8)
    assert found.interval == "wilson"
    assert (found.min, found.max) == (0.0, 1.0)


def test_a_single_value() -> None:
    found = summary_of([0.5])
    assert (found.count, found.value, found.stddev, found.stderr, found.sample_stderr) == (1, 0.5, 0, 0, 0)
    assert (found.ci_low, found.ci_high) == wilson_interval(0.5, 1), "one value says next to nothing"
    assert found.interval == "bounded"
    assert (summary_of([7.0]).ci_low, summary_of([7.0]).interval) == (None, "none")


def test_a_single_right_answer_does_not_claim_certainty() -> None:
    found = summary_of([True])
    assert (found.ci_low, found.ci_high) == wilson_interval(1, 1)
    assert found.ci_low < 0.25


def test_few_graded_values_get_the_widest_interval_that_0_to_1_allows() -> None:
    values = [0.2, 0.4, 0.9, 0.5, 0.7]
    found = summary_of(values)
    assert found.interval == "bounded"
    assert found.sample_stderr == pytest.approx(statistics.stdev(values) / math.sqrt(5), rel=1e-14)
    assert (found.ci_low, found.ci_high) == pytest.approx(wilson_interval(2.7, 5))


def test_many_graded_values_are_as_good_as_their_spread() -> None:
    """By the definition: the interval's end is as far away as q standard errors, or as a part of a row at 0 makes it."""
    values = [0.1, 0.9] * 20
    found = summary_of(values)
    assert found.interval == "bounded"
    variance = statistics.variance(values)
    spread = variance + UNSEEN * 0.25 / 40
    slope = -UNSEEN * 0.125 / 40 / spread
    quantile = Z_95 + (t_quantile(39) - Z_95) * (1 - variance / 0.25)
    away = found.ci_low - 0.5
    assert away**2 == pytest.approx(quantile**2 * (spread + slope * away - away**2) / 40, rel=1e-6)
    assert found.ci_high == pytest.approx(1 - found.ci_low)


def test_values_far_from_the_end_of_the_range_allow_for_rows_that_none_of_them_shows() -> None:
    """Three of 40 rows may be of a kind that was missed. They could lie 0.4 further down than all that were seen."""
    values = [0.4, 0.6] * 20
    found = summary_of(values)
    variance = statistics.variance(values)
    quantile = Z_95 + (t_quantile(39) - Z_95) * (1 - variance / 0.25)
    part = quantile**2 / 40
    seen = math.sqrt(part * variance / (1 + part))
    assert 0.5 - found.ci_low == pytest.approx(math.hypot(seen, 3 / 43 * 0.4), rel=1e-6)
    assert found.ci_high == pytest.approx(1 - found.ci_low)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0])
def test_equal_values_are_not_certain(value: float) -> None:
    found = summary_of([value] * 30)
    assert found.ci_low is not None
    assert found.ci_high is not None
    assert 0 <= found.ci_low <= value <= found.ci_high <= 1
    assert found.ci_high - found.ci_low > 0.03


def test_no_interval_passes_the_range_of_the_metric() -> None:
    found = summary_of([1.0] * 38 + [0.9, 0.2])
    assert found.ci_low is not None
    assert 0.85 < found.ci_low < found.value < found.ci_high <= 1  # type: ignore[operator]


def test_values_beyond_0_to_1_have_an_interval_from_20_rows_on() -> None:
    assert summary_of([1.0, 5.0] * 9).interval == "none"
    assert summary_of([3.0] * 40).interval == "none", "equal values show no spread, and no range is known"
    found = summary_of([1.0, 5.0] * 20)
    half = t_quantile(39) * math.sqrt((40 * 4.0 + 4.0) / 40 / 41)
    assert (found.ci_low, found.ci_high, found.interval) == (
        pytest.approx(3 - half),
        pytest.approx(3 + half),
        "normal",
    )


def test_a_time_is_no_share() -> None:
    scores = ScoreAccumulator(share=False)
    scores.extend([0.98, 0.99] * 20, list(range(40)))
    found = scores.summary()
    assert found.interval == "normal"
    assert found.ci_high is not None
    assert found.ci_high - found.value < 0.002


def test_repeats_are_not_taken_for_independent() -> None:
    values, clusters = [1, 1, 0, 1, 0, 0, 1, 1] * 6, [row for row in range(24) for _ in range(2)]
    found = summary_of(values, clusters)
    shares = [1, 0.5, 0, 1] * 6
    assert found.interval == "clustered"
    assert accumulated(values, clusters).clusters == 24
    assert found.value == 0.625
    assert found.stderr == pytest.approx(math.sqrt(0.625 * 0.375 / 48))
    assert found.sample_stderr == pytest.approx(statistics.stdev(shares) / math.sqrt(24), rel=1e-14)
    independent, single = wilson_interval(30, 48), wilson_interval(15, 24)
    assert single[0] < found.ci_low < independent[0]
    assert independent[1] < found.ci_high < single[1]


def test_rows_asked_unequally_often_count_for_less() -> None:
    even = summary_of([1, 0] * 100, [row for row in range(20) for _ in range(10)])
    values, clusters = [1, 0] * 90 + [0, 1] * 10, [0] * 180 + list(range(1, 21))
    uneven = summary_of(values, clusters)
    assert even.ci_high - even.ci_low < uneven.ci_high - uneven.ci_low  # type: ignore[operator]
    assert uneven.ci_high - uneven.ci_low > 0.7, "one row has most of the weight"  # type: ignore[operator]


def test_repeats_that_always_agree_count_once() -> None:
    found = summary_of([1] * 9, [0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert found.interval == "wilson"
    assert (found.ci_low, found.ci_high) == wilson_interval(3, 3)


def test_rows_whose_repeats_agree_get_the_interval_of_as_many_single_replies() -> None:
    for repeats in (2, 3, 5000):  # 5000: a row that is folded in two parts
        values = [right for right in (1, 0, 1, 1) for _ in range(repeats)]
        rows = accumulated(values, [row for row in range(4) for _ in range(repeats)])
        found = rows.summary()
        assert found.interval == "wilson"
        assert (found.ci_low, found.ci_high) == wilson_interval(3, 4)
        assert (rows.clusters, found.count) == (4, 4 * repeats)
        assert found.sample_stderr == pytest.approx(summary_of([1, 0, 1, 1]).sample_stderr, rel=1e-14)


def test_equal_shares_of_all_rows_do_not_give_an_interval_without_width() -> None:
    found = summary_of([1, 0, 0, 1, 1, 0], [0, 0, 1, 1, 2, 2])
    assert (found.interval, found.sample_stderr) == ("wilson", 0.0)
    assert (found.ci_low, found.ci_high) == wilson_interval(1.5, 3)
    many = summary_of([1, 0] * 30, [row for row in range(30) for _ in range(2)])
    assert (many.ci_low, many.ci_high) == pytest.approx(wilson_interval(30, 60)), "sixty replies, no more"


def test_repeats_of_one_sample_cannot_tell_the_spread() -> None:
    rows = accumulated([1, 0, 1, 1], [5, 5, 5, 5])
    found = rows.summary()
    assert (rows.clusters, found.sample_stderr) == (1, 0.0)
    assert (found.ci_low, found.ci_high) == wilson_interval(0.75, 1)
    assert found.stddev > 0


def test_clusters_of_unequal_size() -> None:
    values, clusters = [0.5, 1, 2, 2.5, 4, 1], [0, 1, 1, 1, 2, 2]
    found = summary_of(values, clusters)
    assert found.sample_stderr == pytest.approx(robust_stderr(values, clusters), rel=1e-13)
    assert found.stddev == pytest.approx(statistics.pstdev(values), rel=1e-14)


@given(st.lists(st.booleans(), min_size=1, max_size=300))
def test_share_of_right_answers_is_exact(values: list[bool]) -> None:
    found = summary_of(values)
    right, n = sum(values), len(values)
    assert found.value == right / n
    assert found.stddev == math.sqrt(right * (n - right) / n / n)


@given(st.lists(FINITE, min_size=2, max_size=60))
def test_moments_agree_with_exact_arithmetic(values: list[float]) -> None:
    found = summary_of(values)
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    scale = max(map(abs, values))
    assert found.value == pytest.approx(float(mean), rel=1e-12, abs=1e-14 * scale)
    assert found.stddev == pytest.approx(math.sqrt(variance), rel=1e-9, abs=1e-12 * scale)
    assert found.min == min(values)
    assert found.max == max(values)


@given(st.lists(st.lists(st.floats(0, 1), min_size=1, max_size=4), min_size=2, max_size=12))
def test_clustered_error_agrees_with_the_formula(groups: list[list[float]]) -> None:
    values = [value for group in groups for value in group]
    clusters = [index for index, group in enumerate(groups) for _ in group]
    found = summary_of(values, clusters)
    assert accumulated(values, clusters).clusters == len(groups)
    assert found.sample_stderr == pytest.approx(robust_stderr(values, clusters), rel=1e-6, abs=1e-9)
    assert found.stddev == pytest.approx(statistics.pstdev(values), rel=1e-9, abs=1e-12)


@given(
    st.lists(
        st.tuples(st.one_of(st.booleans(), st.floats(-10, 10)), st.integers(1, 3)), min_size=1, max_size=30
    ),
    st.sets(st.integers(0, 90)),
)
def test_looking_in_between_changes_no_bit(groups: list[tuple[float, int]], looks: set[int]) -> None:
    undisturbed, watched = ScoreAccumulator(), ScoreAccumulator()
    seen = 0
    for cluster, (value, repeats) in enumerate(groups):
        for repeat in range(repeats):
            undisturbed.add(value + repeat / 3, cluster)
            watched.add(value + repeat / 3, cluster)
            seen += 1
            if seen in looks:
                watched.summary()
                watched = watched.copy()
    assert watched.summary() == undisturbed.summary()


@given(
    st.lists(
        st.lists(
            st.tuples(
                st.one_of(st.booleans(), st.sampled_from([0, 1, 0.0, 1.0]), st.floats(-10, 10)),
                st.integers(0, 3),
            ),
            max_size=12,
        ),
        max_size=6,
    )
)
def test_values_by_the_block_give_the_bits_of_one_by_one(blocks: list[list[tuple[float, int]]]) -> None:
    one_by_one, by_block = ScoreAccumulator(), ScoreAccumulator()
    cluster = 0
    for block in blocks:
        values, clusters = [], []
        for value, step in block:
            cluster += step  # 0: one more of the same cluster
            values.append(value)
            clusters.append(cluster)
            one_by_one.add(value, cluster)
            one_by_one.summary()  # folds one value at a time
        by_block.extend(values, clusters)
    assert by_block.count == one_by_one.count
    if by_block.count:
        assert by_block.summary() == one_by_one.summary()


def test_a_block_with_an_impossible_value_is_refused_whole() -> None:
    scores = ScoreAccumulator()
    with pytest.raises(ValueError, match="score nan cannot be averaged"):
        scores.extend([1.0, math.nan], [0, 1])
    assert scores.count == 0


def test_a_copy_goes_its_own_way() -> None:
    first = ScoreAccumulator()
    for index, value in enumerate([0.5, 0.5, 0.25]):
        first.add(value, index // 2)
    second = first.copy()
    second.add(0.75, 1)
    second.add(7, 2)
    assert first.count == 3
    assert first.summary() == summary_of([0.5, 0.5, 0.25], [0, 0, 1])
    assert second.summary() == summary_of([0.5, 0.5, 0.25, 0.75, 7], [0, 0, 1, 1, 2])


def test_a_large_offset_does_not_swallow_the_spread() -> None:
    values = [1e9 + offset for offset in (4.0, 7.0, 13.0, 16.0)] * 2500
    found = summary_of(values)
    assert found.value == pytest.approx(1e9 + 10, rel=1e-15)
    assert found.stddev == pytest.approx(math.sqrt(22.5), rel=1e-9)


def test_many_values_beyond_one_batch() -> None:
    values = [(index * 7919 % 1000) / 1000 for index in range(10_000)]
    found = summary_of(values)
    assert found.count == 10_000
    assert found.value == pytest.approx(math.fsum(values) / 10_000, rel=1e-14)
    assert found.stddev == pytest.approx(statistics.pstdev(values), rel=1e-12)


@settings(max_examples=30)
@given(st.floats(-5, 5), st.integers(2, 200))
def test_equal_values_have_no_spread(value: float, n: int) -> None:
    found = summary_of([value] * n, [index // 2 for index in range(n)])
    assert found.value == value
    assert (found.stddev, found.sample_stderr) == (0.0, 0.0)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e200, 10**400])
def test_what_cannot_be_averaged_is_refused_and_leaves_no_trace(value: float) -> None:
    scores = ScoreAccumulator()
    scores.add(1, 0)
    with pytest.raises(ValueError, match="cannot be averaged"):
        scores.add(value, 1)
    assert scores.summary() == summary_of([1])


def test_nothing_has_no_summary() -> None:
    with pytest.raises(ValueError, match="no values"):
        ScoreAccumulator().summary()


VALUES = st.one_of(st.sampled_from([0.0, 1.0]), st.floats(-1e6, 1e6))


@settings(max_examples=40)
@given(st.lists(st.lists(VALUES, min_size=1, max_size=6), min_size=1, max_size=4))
def test_groups_of_single_values_and_all_of_them_are_summarised_as_one_by_one(
    groups: list[list[float]],
) -> None:
    parts = [Singles.of(group) for group in groups]
    values = [value for group in groups for value in group]
    for found, given_values in [*zip(parts, groups, strict=True), (Singles.joined(parts, values), values)]:
        scores = ScoreAccumulator(share=True)
        scores.extend(given_values, range(len(given_values)))
        expected, summary = scores.summary(), found.summary()
        for name in ("count", "min", "max", "too_few", "interval"):
            assert getattr(summary, name) == getattr(expected, name), name
        size = max(map(abs, given_values))
        assert summary.value == pytest.approx(expected.value, rel=1e-12, abs=1e-12 * size)
        for name in ("stddev", "sample_stderr", "ci_low", "ci_high"):
            one, other = getattr(summary, name), getattr(expected, name)
            assert one == (other and pytest.approx(other, rel=1e-6, abs=1e-6 * size)), name
        rows, origin = found.rows(0.25), RowSums.of(given_values, range(len(given_values)), 0.25)
        for name in ("rows", "values", "sizes", "ones", "zeros", "means"):
            assert getattr(rows, name) == getattr(origin, name), name
        for name in ("total", "squares", "products"):
            near = pytest.approx(getattr(origin, name), rel=1e-6, abs=1e-6 * size * size + 1e-9)
            assert getattr(rows, name) == near, name
