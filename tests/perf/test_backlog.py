"""The queue on paper: the largest rate by requests that came at random times, and what it cannot tell."""

from __future__ import annotations

from itertools import accumulate
from math import exp, inf
from random import Random

import pytest
from tests.perf.simulated_servers import SERVERS, Serve, slots

from benchwright.perf._backlog import Trace, estimate


def trace_of(serve: Serve, limit: float, rate: float, number: int, dice: Random) -> Trace:
    times = list(accumulate(dice.expovariate(rate) for _ in range(number)))
    return Trace(times, [inf if each is None else each / limit for each in serve(times, dice)])


def chance(rate: float, number: int, misses: float, dice: Random) -> Trace:
    """Requests that miss their limit whatever the queue is."""
    times = list(accumulate(dice.expovariate(rate) for _ in range(number)))
    return Trace(times, [dice.uniform(1.0, 1.5) if dice.random() < misses else 0.5 for _ in times])


@pytest.mark.parametrize("of_capacity", [0.95, 1.0, 1.03])
def test_the_largest_rate_is_told_from_either_side(of_capacity: float) -> None:
    server = SERVERS["one slot, 5 times its time"]
    rate = of_capacity * server.capacity
    found = estimate([trace_of(server.serve, server.limit, rate, 4000, Random(3))], [rate], 0.01)
    assert found is not None
    assert 0.9 <= exp(found[0]) / server.capacity <= 1.1
    assert 0.02 <= found[1] < 0.1


def test_few_requests_tell_nothing() -> None:
    assert estimate([chance(10, 80, 0.01, Random(1))], [10.0], 0.01) is None


def test_a_rate_that_is_far_above_is_not_told() -> None:
    assert estimate([trace_of(slots(50, 0.1), 1.0, 5.0, 1000, Random(1))], [5.0], 0.01) is None


@pytest.mark.parametrize("seed", range(3))
def test_misses_that_waits_do_not_explain_are_not_put_on_rates_that_passed(seed: int) -> None:
    """A rate misses few limits, the next too many, and no queue on paper says when. All requests together miss more than allowed, but the
    largest rate is not below both."""
    dice = Random(seed)
    rates = [10.0, 12.0]
    traces = [chance(rates[0], 2000, 0.002, dice), chance(rates[1], 2000, 0.05, dice)]
    found = estimate(traces, rates, 0.01)
    assert found is None or exp(found[0]) > 0.9 * rates[0]
