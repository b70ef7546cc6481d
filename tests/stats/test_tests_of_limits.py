"""Tests against limits: exact where they claim to be, the same as the intervals elsewhere, and what they can detect."""

from __future__ import annotations

from itertools import product
from math import comb, factorial
from random import Random

import pytest

from benchwright.stats import LimitTest, PairedResult, Spread, holm
from benchwright.stats._accumulator import ScoreAccumulator
from benchwright.stats._limits import _paired_share_p
from benchwright.stats._tails import binomial_tail


@pytest.mark.parametrize(
    ("hits", "n", "share"),
    [(0, 5, 0.3), (3, 5, 0.3), (5, 5, 0.3), (6, 40, 0.05), (30, 40, 0.9), (41, 40, 0.5)],
)
def test_binomial_tails_are_exact(hits: int, n: int, share: float) -> None:
    brute = sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(hits, n + 1))
    assert binomial_tail(hits, n, share) == pytest.approx(brute, rel=1e-9)


def test_a_large_binomial_tail_is_quick_and_sane() -> None:
    assert binomial_tail(500_000, 1_000_000, 0.5) == pytest.approx(0.5, abs=0.001)
    assert 0 < binomial_tail(503_000, 1_000_000, 0.5) < 1e-8


def brute_force_tail(losses: int, wins: int, n: int, excess: float, win: float) -> float:
    """P(losses - wins is at least so much) of three outcomes."""
    loss, net, total = win + excess, losses - wins, 0.0
    for x, y in product(range(n + 1), repeat=2):
        if x + y <= n and x - y >= net:
            ways = factorial(n) // factorial(x) // factorial(y) // factorial(n - x - y)
            total += ways * loss**x * win**y * (1 - loss - win) ** (n - x - y)
    return total


@pytest.mark.parametrize(
    ("losses", "wins", "excess"), [(6, 0, 0.05), (9, 1, 0.05), (9, 2, 0.02), (14, 5, 0.1), (4, 0, 0.02)]
)
def test_the_tail_of_paired_shares_is_nearly_exact(losses: int, wins: int, excess: float) -> None:
    n = 40
    half = losses + wins - (2 * n - losses + wins) * excess
    win = ((half * half + 8 * n * wins * excess * (1 - excess)) ** 0.5 + half) / (4 * n)
    exact = brute_force_tail(losses, wins, n, excess, max(0.0, win))
    assert _paired_share_p(losses, wins, n, -excess) == pytest.approx(exact, rel=0.15)


def test_no_margin_is_half_of_the_two_sided_test() -> None:
    before, after = [1] * 30, [0] * 8 + [1] * 22
    found = LimitTest.of_gain(before, after, 0.0, level=0.95, lower_is_better=False, share=True)
    assert found.p_missed == pytest.approx(PairedResult.of(before, after).p_value / 2)
    turned = LimitTest.of_gain(before, after, 0.0, level=0.95, lower_is_better=True, share=True)
    assert turned.value == -found.value
    assert turned.p_missed == 1.0


def test_p_and_interval_of_graded_gains_agree() -> None:
    before, after = [k % 10 / 20 for k in range(60)], [k % 7 / 20 for k in range(60)]

    def against(limit: float) -> LimitTest:
        return LimitTest.of_gain(before, after, limit, level=0.95, lower_is_better=False, share=True)

    low, high = against(0.0).low, against(0.0).high
    assert low is not None
    assert high is not None
    assert against(high).p_missed == pytest.approx(0.025, abs=1e-4)
    assert against(low).p_missed == pytest.approx(0.975, abs=1e-4)


def test_bets_find_what_is_missed_and_nothing_else() -> None:
    values = [[0.6 + k % 3 / 10] for k in range(60)]  # mean 0.7
    met = LimitTest.of_mean(values, 0.69, 1, level=0.95).p_missed
    assert met is not None
    assert met > 0.5
    below = LimitTest.of_mean(values, 0.8, 1, level=0.95).p_missed
    assert below is not None
    assert below < 1e-6
    above = LimitTest.of_mean(values, 0.6, -1, level=0.95).p_missed
    assert above is not None
    assert above < 0.01  # one row may lose more here, so the stakes are lower
    assert LimitTest.of_mean(values, 0.0, 1, level=0.95).p_missed == 1.0
    assert LimitTest.of_mean(values, 1.0, -1, level=0.95).p_missed == 1.0


def test_skewed_values_are_judged_with_more_care() -> None:
    values = [[1.0 + (40.0 if k % 30 == 0 else 0.0)] for k in range(90)]  # mean 2.33, few large ones
    found = LimitTest.of_mean(values, 6.0, 1, level=0.95)
    turned = LimitTest.of_mean([[-value] for (value,) in values], -6.0, -1, level=0.95)
    assert found.p_missed == pytest.approx(turned.p_missed)
    assert found.p_missed is not None
    assert found.p_missed > 0.01  # the normal approximation says 0.001


def test_intervals_grow_with_their_level_and_keep_their_ends_at_95() -> None:
    scores = ScoreAccumulator()
    for k in range(50):
        scores.add(k % 7 / 7, k)
    known = scores.summary()
    assert scores.interval(1.959963984540054) == (known.ci_low, known.ci_high)
    ends = [scores.interval(z) for z in (1.0, 1.64, 1.96, 2.58, 3.3)]
    assert ends == sorted(ends, reverse=True)


def test_few_rows_are_reliable_for_counts_only() -> None:
    assert LimitTest.of_mean([[0]] * 8, 0.9, 1, level=0.95).reliable
    assert LimitTest.of_mean([[0.2], [0.3], [0.1]], 0.9, 1, level=0.95).reliable
    assert not LimitTest.of_gain(
        [5.0] * 4, [3.0, 1.0, 2.0, 7.0], 0.0, level=0.95, lower_is_better=False, share=False
    ).reliable
    assert LimitTest.of_mean([[900.0]] * 3, 5, -1, level=0.95).p_missed is None


def test_shares_and_known_intervals() -> None:
    found = LimitTest.of_share(9, 10, 0.5, -1, level=0.95)
    assert found.p_missed == pytest.approx(11 / 1024)
    assert LimitTest.of_share(0, 10, 0.0, -1, level=0.95).p_missed == 1.0
    assert LimitTest.of_interval(10.0, (8.0, 12.0), 100, 12.0, 1).p_missed == pytest.approx(0.025, abs=1e-3)
    assert LimitTest.of_interval(10.0, (8.0, 12.0), 100, 12.0, -1).p_missed == pytest.approx(0.975, abs=1e-3)


def test_holm_orders_and_caps() -> None:
    assert holm([]) == []
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_rows_needed_are_those_that_detect_the_effect() -> None:
    spread = Spread(100, 0.2, 2.0, null_slope=1.0, true_slope=1.0, curve=1.0)
    effect = spread.smallest_effect(alpha=0.0025, power=0.8)
    assert effect is not None
    needed = spread.rows_needed(effect, alpha=0.0025, power=0.8)
    assert needed == pytest.approx(100, abs=10)
    few = Spread(5, 0.2, 2.0, null_slope=1.0, true_slope=1.0, curve=1.0)
    assert few.smallest_effect(alpha=0.001, power=0.9) is None
    assert spread.rows_needed(0.0, alpha=0.05, power=0.8) is None
    more = spread.smallest_effect(alpha=0.0025, power=0.8, allowed=0.05)
    assert more is not None
    assert more > effect


def test_a_long_tail_makes_one_side_of_an_interval_doubtful() -> None:
    even = [[float(k % 10)] for k in range(100)]
    far = [*even[:-1], [500.0]]
    for values, above, below in (
        (even, False, False),
        (far, True, False),
        ([[-row[0]] for row in far], False, True),
    ):
        found = LimitTest.of_mean(values, 3.0, 1, level=0.95, share=False)
        assert (found.doubtful(1), found.doubtful(-1)) == (above, below)
    zeros = [0.0] * 100
    gained = LimitTest.of_gain(
        zeros, [row[0] for row in far], 0.0, level=0.95, lower_is_better=False, share=False
    )
    assert gained.doubtful(1)
    shares = LimitTest.of_mean([[0.0]] * 99 + [[1.0]], 0.5, 1, level=0.95, share=True)
    assert not shares.doubtful(1), "a test that holds for every distribution of shares"


def test_percentiles_are_missed_as_often_as_stated() -> None:
    """Independent values, and values in queues: each like the one before with a chance of 0.7."""
    for stay, most in ((0.0, 0.05), (0.7, 0.1)):
        dice, alarms, tests = Random(5), 0, 1000
        for _ in range(tests):
            values = [dice.random()]
            while len(values) < 120:
                values.append(values[-1] if dice.random() < stay else dice.random())
            found = LimitTest.of_percentile(values, 90, 0.9, -1, value=0.0, ends95=None)
            alarms += found.p_missed is not None and found.p_missed < 0.05
        assert alarms <= most * tests
    slow = [1.0] * 40 + [0.0] * 60
    found = LimitTest.of_percentile(slow, 99, 0.5, -1, value=1.0, ends95=None)
    assert found.p_missed is not None
    assert found.p_missed < 0.05, "one long stall is not forty slow requests, but is no chance either"
