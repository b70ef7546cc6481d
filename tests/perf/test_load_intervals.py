"""Intervals hold what they promise, also where neighbours in time are alike."""

from __future__ import annotations

from math import log
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from made_records import streamed

from benchwright.perf import LoadSettings, Requests, summarise
from benchwright.perf._bootstrap import (
    Blocked,
    Interval,
    block_count,
    block_of,
    draws,
    fewest_for,
    mean_interval,
    percentile_interval,
    quantile_ranks,
)
from benchwright.perf._distributions import numbers
from benchwright.stats import binomial_tail, percentile


def intervals(latencies: list[float]) -> tuple[Interval | None, Interval | None]:
    """Of mean and 99th percentile, in milliseconds, as a summary has them."""
    records = [streamed(number, number * 0.01, ttft=ttft, gaps=[]) for number, ttft in enumerate(latencies)]
    found = summarise(Requests.of(records), LoadSettings()).stages[0].metrics["ttft_ms"]
    return found.mean_ci95, found.p99_ci95


def blocked(values: list[float]) -> Blocked:
    """What both intervals are drawn from; a summary draws those of a dozen other figures, too."""
    array, blocks = pa.array(values), block_of(len(values))
    order = pc.sort_indices(array)
    return Blocked(array, blocks, numbers(array.take(order)), order, block_count(len(values)))


def dependent(random: Random, count: int) -> list[float]:
    """Latencies with a memory of some 20 requests; their mean is 0.5."""
    level, found = 0.0, []
    for _ in range(count):
        level = 0.95 * level + random.gauss(0, 0.3122)  # standard deviation 1
        found.append(0.5 + 0.1 * level)
    return found


def test_intervals_of_means_hold_95_percent_where_neighbours_are_alike() -> None:
    """An ordinary bootstrap, which takes requests for independent, would hold less than half."""
    random = Random(1)
    held = 0
    for _ in range(60):
        low, high = mean_interval(blocked(dependent(random, 2_000)), 2_000) or (0.0, 0.0)
        held += low <= 0.5 <= high
    assert held >= 50  # of 60: 95 % are 57, and 50 would be a rare accident at 93 %


def test_intervals_of_99th_percentiles_hold() -> None:
    random = Random(2)
    truth = 0.1 * 4.605170185988091  # of an exponential law
    held = 0
    for _ in range(60):
        found = percentile_interval(blocked([random.expovariate(10) for _ in range(2_000)]), 2_000, 99)
        assert found is not None
        held += found[0] <= truth <= found[1]
    assert held >= 51


@pytest.mark.parametrize("percent", [50, 90, 95, 99])
def test_the_upper_end_of_a_percentile_holds_from_the_fewest_requests_on(percent: int) -> None:
    """Draws alone miss 10 % of the tests above, of 120 about 12."""
    random, count = Random(percent), fewest_for(percent)
    truth, missed = -0.1 * log(1 - percent / 100), 0
    assert (
        percentile_interval(blocked([random.random() for _ in range(count - 1)]), count - 1, percent) is None
    )
    for _ in range(120):
        found = percentile_interval(blocked([random.expovariate(10) for _ in range(count)]), count, percent)
        assert found is not None
        missed += found[1] < truth
    assert missed <= 8  # 2.5 % are 3, and 9 would be a rare accident


@pytest.mark.parametrize(("n", "share"), [(40, 0.9), (400, 0.99), (400, 0.01), (20_000, 0.5)])
def test_a_quantile_lies_between_its_ranks(n: int, share: float) -> None:
    first, last = quantile_ranks(n, share)
    below = 1 - binomial_tail(
        first + 1, n, share
    )  # so few values are below the quantile that the lower end is above it
    above = binomial_tail(last + 1, n, share)
    assert 0.01 < below <= 0.0251
    assert 0.01 < above <= 0.0251


def test_the_intervals_of_a_summary_are_these() -> None:
    values = dependent(Random(5), 1_000)
    mean, p99 = intervals(values)
    apart = blocked([1000 * value for value in values])
    assert mean == pytest.approx(mean_interval(apart, 1_000))
    assert p99 == pytest.approx(percentile_interval(apart, 1_000, 99))


def test_few_requests_have_no_interval_rather_than_a_narrow_one() -> None:
    random = Random(3)
    assert intervals([random.random() for _ in range(19)]) == (None, None)
    mean, p99 = intervals([random.random() for _ in range(399)])
    assert mean is not None
    assert p99 is None
    assert intervals([0.5] * 1_000) == (None, None)


def test_intervals_are_the_same_every_time() -> None:
    values = dependent(Random(4), 1_000)
    assert intervals(values) == intervals(values)


@pytest.mark.parametrize("count", [401, 997, 5_000])
def test_percentiles_of_draws_are_those_of_sorting_them(count: int) -> None:
    random = Random(count)
    values = [random.lognormvariate(0, 1) for _ in range(count)]
    found = blocked(values)
    own = block_of(count).to_pylist()
    for weights in draws(block_count(count))[:25]:
        drawn = [value for value, block in zip(values, own, strict=True) for _ in range(weights[block])]
        assert found.mean(weights) == pytest.approx(sum(drawn) / len(drawn))
        assert found.percentile(weights, 99) == pytest.approx(percentile(sorted(drawn), 99))
