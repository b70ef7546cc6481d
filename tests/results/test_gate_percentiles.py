"""Verdicts on percentiles of latencies agree with the interval and the numbers that they quote, whatever the latencies are."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from random import Random

import pytest
from tests.perf.made_records import streamed

from benchwright.perf import LoadSettings, Requests, summarise
from benchwright.results._gates.decide import decide
from benchwright.results._gates.load_claims import LoadRun, load_claims
from benchwright.results._gates.policy import Policy, Rule
from benchwright.results._gates.verdict import RuleRow, Word
from benchwright.stats import binomial_tail, percentile


def chain(dice: Random, count: int) -> list[float]:
    """Each latency is close to the one before it, as in a queue."""
    found, level = [], 0.0
    for _ in range(count):
        level = 0.9 * level + dice.gauss(0, 0.2)
        found.append(0.15 * exp(level))
    return found


LATENCIES: dict[str, Callable[[Random, int], list[float]]] = {
    "independent": lambda dice, count: [dice.lognormvariate(-2, 0.4) for _ in range(count)],
    "chain": chain,
    "steps": lambda dice, count: [0.2 if n // 20 % 2 else 0.1 for n in range(count)],
    "equal": lambda dice, count: [0.15] * count,
}


def run_of(latencies: list[float]) -> LoadRun:
    requests = Requests.of([streamed(n, n * 0.05, ttft=each, gaps=[]) for n, each in enumerate(latencies)])
    return LoadRun(summarise(requests, LoadSettings()), requests)


def row_of(run: LoadRun, percent: int, side: str, limit: float, bound: str) -> RuleRow:
    rule = Rule(kind="load", where="", figure=f"ttft.p{percent}", bound=bound, **{side: limit})  # type: ignore[arg-type]
    (row,), _ = decide(list(load_claims(rule, run)), Policy(source="", rules=(rule,)))
    return row


def check(row: RuleRow, count: int, value: float, limit: float, side: int, bound: str) -> None:
    assert row.n == count
    assert row.n_needed is None or row.n_needed > count
    if abs(value - limit) < 1e-4 * limit:
        return  # the percentile is rounded
    met = side * (value - limit) > 0
    low, high = row.interval or (None, None)
    included = low is not None and high is not None and low <= limit <= high
    if row.verdict is Word.NO_GO:
        assert not met
    if row.verdict is Word.GO:
        assert bound != "value" or met
    if "includes the limit" in row.reason:
        assert included
    if row.interval is not None and not included and bound != "value":
        assert row.verdict is not (Word.NO_GO if met else Word.GO)
        if row.verdict is Word.INCONCLUSIVE:
            assert "misses the limit" in row.reason or "too few" in row.reason
    if row.p is not None and row.verdict is Word.INCONCLUSIVE:
        assert row.p >= 0.05


@pytest.mark.parametrize("kind", LATENCIES)
@pytest.mark.parametrize("count", [1, 20, 60, 150])
def test_a_verdict_agrees_with_what_it_quotes(kind: str, count: int) -> None:
    dice = Random(f"{kind}/{count}")
    latencies = LATENCIES[kind](dice, count)
    run, ordered = run_of(latencies), sorted(1000 * each for each in latencies)
    for percent in (50, 90, 99):
        value = percentile(ordered, percent)
        for factor in (0.5, 0.8, 1.0, 1.3, 2.0):
            for side, sign in (("max", -1), ("min", 1)):
                for bound in ("lower", "upper", "value"):
                    row = row_of(run, percent, side, factor * value, bound)
                    check(row, count, value, factor * value, sign, bound)


@pytest.mark.parametrize("percent", [50, 99])
@pytest.mark.parametrize("count", [40, 150])
def test_the_test_of_a_percentile_is_never_stricter_than_the_exact_binomial_one(
    percent: int, count: int
) -> None:
    """The chance of so many requests beyond the limit, or more, if the limit is met; those in a row count for less."""
    for beyond in sorted({0, 1, 2, 3, 5, count // 3, count // 2, count // 2 + 7, count}):
        flags = [True] * beyond + [False] * (count - beyond)
        Random(beyond).shuffle(flags)
        row = row_of(run_of([0.2 if flag else 0.1 for flag in flags]), percent, "max", 150.0, "lower")
        chance = binomial_tail(beyond, count, 1 - percent / 100)
        if chance < 0.5:
            assert row.p is None or row.p >= chance - 1e-12
        if chance > 0.05:
            assert row.verdict is not Word.NO_GO


def test_a_median_beyond_the_limit_decides_any_higher_percentile() -> None:
    """111 requests whose median is 191 ms do not have a 99th percentile of 150 ms."""
    dice = Random(6)
    row = row_of(run_of([dice.uniform(0.17, 0.24) for _ in range(111)]), 99, "max", 150.0, "upper")
    assert row.verdict is Word.NO_GO
