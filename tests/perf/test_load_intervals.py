"""Intervals hold what they promise, also where neighbours in time are alike."""

from __future__ import annotations

from random import Random

import pytest
from made_records import streamed

from benchwright.perf import LoadSettings, Requests, summarise


def intervals(latencies: list[float]) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    records = [streamed(number, number * 0.01, ttft=ttft, gaps=[]) for number, ttft in enumerate(latencies)]
    found = summarise(Requests.of(records), LoadSettings()).stages[0].metrics["ttft_ms"]
    return found.mean_ci95, found.p99_ci95


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
    held = sum(
        low <= 500.0 <= high
        for low, high in (intervals(dependent(random, 2_000))[0] or (0, 0) for _ in range(60))
    )
    assert held >= 50  # of 60: 95 % are 57, and 50 would be a rare accident at 93 %


def test_intervals_of_99th_percentiles_hold() -> None:
    random = Random(2)
    truth = 1000 * 0.1 * 4.605170185988091  # of an exponential law
    held = 0
    for _ in range(60):
        found = intervals([random.expovariate(10) for _ in range(2_000)])[1]
        assert found is not None
        held += found[0] <= truth <= found[1]
    assert held >= 51


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
    import pyarrow as pa
    import pyarrow.compute as pc

    from benchwright.perf._bootstrap import Blocked, block_count, block_of, draws
    from benchwright.perf._distributions import numbers, percentile

    random = Random(count)
    values = [random.lognormvariate(0, 1) for _ in range(count)]
    array, blocks = pa.array(values), block_of(count)
    order = pc.sort_indices(array)
    blocked = Blocked(array, blocks, numbers(array.take(order)), order, block_count(count))
    own = blocks.to_pylist()
    for weights in draws(block_count(count))[:25]:
        drawn = [value for value, block in zip(values, own, strict=True) for _ in range(weights[block])]
        assert blocked.mean(weights) == pytest.approx(sum(drawn) / len(drawn))
        assert blocked.p99(weights) == pytest.approx(percentile(sorted(drawn), 99))
