"""Differences between two load tests: found where they are, not where they are not, sharper in pairs."""

from __future__ import annotations

from random import Random

import pytest
from made_records import closed_loop, failed, streamed

from benchwright.perf import (
    Difference,
    LoadSettings,
    RequestOutcome,
    RequestRecord,
    Requests,
    StageComparison,
    summarise,
)


def made(
    seed: int, *, slower: float = 0.0, rows: int = 0, count: int = 600, lengths: int = 1
) -> list[RequestRecord]:
    """Requests whose latency depends mostly on their row; `slower` seconds are added to each first token."""
    own, noise = Random(99), Random(seed)
    needs = [own.lognormvariate(-2, 0.8) for _ in range(count)]
    return [
        streamed(number, sent, ttft=needs[number] + slower + noise.uniform(0, 0.005), gaps=[0.01] * 5, row=number + rows)
        for number, sent, _ in closed_loop(count, 8, lambda number: needs[number] + 0.1)
    ]  # fmt: skip


def compared(
    a: list[RequestRecord], b: list[RequestRecord], slo: tuple[tuple[str, float], ...] = ()
) -> StageComparison:
    settings = LoadSettings(levels=(8.0,), slo=slo)
    sides = [Requests.of(each) for each in (a, b)]
    summaries = [summarise(each, settings).stages[0] for each in sides]
    (found,) = StageComparison.adjusted([StageComparison.of(*sides, *summaries)])
    return found


def difference(found: StageComparison, name: str, statistic: str = "mean") -> Difference:
    (each,) = [each for each in found.differences if (each.name, each.statistic) == (name, statistic)]
    return each


def test_pairs_show_a_difference_that_is_lost_in_the_spread_of_rows() -> None:
    a, b = made(1), made(2, slower=0.003)
    paired = difference(compared(a, b), "ttft")
    assert paired.paired
    assert paired.difference == pytest.approx(3.0, abs=0.5)
    assert paired.ci95 is not None
    assert paired.ci95[0] < 3.0 < paired.ci95[1]
    assert paired.significant
    assert paired.worse
    other = compared(a, made(2, slower=0.003, rows=1))
    assert other.pairs == 0
    apart = difference(other, "ttft")
    assert not apart.paired
    assert not apart.significant
    assert apart.ci95 is not None
    assert apart.ci95[1] - apart.ci95[0] > 10 * (paired.ci95[1] - paired.ci95[0])


@pytest.mark.slow
def test_equal_servers_are_not_called_different() -> None:
    """Over many tests of which none differs, a false alarm is rare, although each compares some thirty figures."""
    alarms = sum(
        any(each.significant for each in compared(made(2 * seed), made(2 * seed + 1)).differences)
        for seed in range(10, 20)
    )
    assert alarms <= 1


def test_every_request_that_both_have_is_a_pair() -> None:
    found = compared(made(1), made(2)[:500])
    assert found.pairs == 500
    assert difference(found, "e2e", "p99").paired


def test_a_much_slower_tail_is_found() -> None:
    random = Random(4)
    b = [
        streamed(number, number * 0.01, ttft=0.05 + (0.5 if random.random() < 0.05 else 0.0), gaps=[])
        for number in range(2_000)
    ]
    a = [
        streamed(number, number * 0.01, ttft=0.05 + random.random() / 1000, gaps=[])
        for number in range(2_000)
    ]
    found = difference(compared(a, b), "ttft", "p99")
    assert found.difference == pytest.approx(500, abs=2)
    assert found.significant
    assert not difference(compared(a, b), "ttft", "p50").difference > 1


def test_shares_of_failures_and_of_good_requests_are_compared() -> None:
    a = made(1)
    b = [
        failed(each.number, each.sent or 0.0, RequestOutcome.HTTP_5XX) if each.number % 5 == 0 else each
        for each in a
    ]
    found = compared(a, b, (("ttft", 10.0),))
    errors, good = difference(found, "error_share", "value"), difference(found, "good_share", "value")
    assert errors.difference == 0.2
    assert errors.ci95 is not None
    assert errors.ci95[0] == pytest.approx(0.169, abs=0.002)
    assert errors.worse
    assert errors.significant
    assert good.difference == -0.2
    assert good.worse


def test_few_requests_have_a_difference_and_no_interval() -> None:
    found = difference(compared(made(1, count=15), made(2, count=15)), "ttft")
    assert found.ci95 is None
    assert found.p_value is None
    assert not found.significant


def test_throughput_is_compared() -> None:
    slow = [streamed(n, at, ttft=0.05, gaps=[0.05]) for n, at, _ in closed_loop(400, 4, lambda _: 0.1)]
    fast = [streamed(n, at, ttft=0.025, gaps=[0.025]) for n, at, _ in closed_loop(400, 4, lambda _: 0.05)]
    found = difference(compared(slow, fast), "request_throughput", "value")
    assert found.relative == pytest.approx(1.0, abs=0.05)
    assert found.significant
    assert not found.worse
