"""Intervals and quantiles against published values."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from benchwright.stats import wilson_interval
from benchwright.stats._intervals import Z_95, t_quantile


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17 (1998), table I, score method without continuity correction.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilson_matches_published_table(successes: int, n: int, low: float, high: float) -> None:
    found = wilson_interval(successes, n)
    assert (round(found[0], 4), round(found[1], 4)) == (low, high)


def test_wilson_of_none_and_all_reaches_the_end_exactly() -> None:
    z2 = Z_95 * Z_95
    assert wilson_interval(0, 10)[0] == 0.0
    assert wilson_interval(10, 10)[1] == 1.0
    assert wilson_interval(0, 10)[1] == pytest.approx(z2 / (10 + z2), abs=1e-15)


def test_wilson_of_nothing_knows_nothing() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_wilson_takes_other_confidences() -> None:
    assert wilson_interval(5, 10, 0.95) == wilson_interval(5, 10)
    narrow, wide = wilson_interval(5, 10, 0.8), wilson_interval(5, 10, 0.99)
    assert wide[0] < narrow[0] < 0.5 < narrow[1] < wide[1]


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (float("nan"), 3)])
def test_wilson_refuses_impossible_counts(successes: float, n: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson_interval(successes, n)


@pytest.mark.parametrize("confidence", [0, 1, 95, -0.5, float("nan")])
def test_wilson_refuses_confidences_outside_0_to_1(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence"):
        wilson_interval(1, 2, confidence)


@given(st.integers(1, 10_000), st.data())
def test_wilson_holds_the_share_and_is_symmetric(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    low, high = wilson_interval(successes, n)
    assert 0 <= low <= successes / n <= high <= 1
    mirrored = wilson_interval(n - successes, n)
    assert (1 - mirrored[1], 1 - mirrored[0]) == pytest.approx((low, high), abs=1e-12)


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    [
        # Student's t, upper 2.5 % points as statistical packages print them.
        (1, 12.7062047361747),
        (2, 4.30265272974946),
        (3, 3.18244630528371),
        (4, 2.77644510519779),
        (9, 2.26215716279820),
        (10, 2.22813885198627),
        (29, 2.04522964213270),
        (99, 1.98421695158642),
        (120, 1.97993040508242),
        (1000, 1.96233908082641),
    ],
)
def test_t_quantile_matches_tables(degrees: int, quantile: float) -> None:
    assert t_quantile(degrees) == pytest.approx(quantile, rel=1e-12)


def test_t_quantile_is_smooth_where_the_method_changes_and_ends_at_the_normal() -> None:
    steps = [t_quantile(d) - t_quantile(d + 1) for d in range(196, 206)]
    assert steps == sorted(steps, reverse=True)
    assert t_quantile(10**9) == pytest.approx(Z_95, abs=1e-8)


def test_t_quantile_needs_a_degree_of_freedom() -> None:
    with pytest.raises(ValueError, match="degree"):
        t_quantile(0)
