"""How often 95 % intervals hold the truth, by simulation: 93 to 97 of 100 where there are 20 rows or more.

Shares are discrete, so near 0 and 1 no interval holds exactly 95 %: there it may hold more, and must not hold less.
Each setting is simulated with a fixed seed. The frozen generator of numpy gives the same numbers in every version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from benchwright.stats import compare_pairs
from benchwright.stats._intervals import mean_interval

RESTING = 2500
"""Simulated runs of a setting. The error of a coverage near 95 % is then 0.4 points."""


def draw(seed: int) -> np.random.RandomState:
    return np.random.RandomState(seed)


def coverage_of_means(values: np.ndarray, truth: float, *, repeats: int = 1, share: bool = True) -> float:
    """Rows × simulated runs of row means; with repeats each is the share of so many zeros and ones."""
    rows = values.shape[1]
    means = values.mean(axis=1)
    errors = values.std(axis=1, ddof=1) / np.sqrt(rows)
    binary = repeats > 1 or bool(np.isin(values, (0, 1)).all())
    held = 0
    for mean, error, low, high in zip(means, errors, values.min(axis=1), values.max(axis=1), strict=True):
        found = mean_interval(
            min(1.0, float(mean)) if share else float(mean),
            float(error),
            rows,
            values=rows * repeats if binary else None,
            repeated=repeats > 1,
            ends=(float(low), float(high)),
            share=share,
        )
        assert found[0] is not None
        assert found[1] is not None
        assert found[0] < found[1], "an interval has a width"
        assert not share or 0 <= found[0] <= found[1] <= 1
        held += found[0] <= truth + 1e-12 and truth - 1e-12 <= found[1]
    return held / len(values)


def likely(random: np.random.RandomState, mean: float, alike: float, shape: tuple[int, int]) -> np.ndarray:
    """The chance of each row to be answered rightly; `alike` is the correlation between the replies to a row."""
    if alike == 0:
        return np.full(shape, mean)
    size = (1 - alike) / alike
    return random.beta(mean * size, (1 - mean) * size, shape)


def repeated_settings() -> Iterator[tuple[int, int, float, float]]:
    for rows in (20, 100):
        for repeats in (3, 10):
            for mean in (0.5, 0.8, 0.95, 0.98):
                for alike in (0.0, 0.3, 0.7):
                    yield rows, repeats, mean, alike


def test_repeated_zeros_and_ones() -> None:
    found = {}
    for seed, (rows, repeats, mean, alike) in enumerate(repeated_settings()):
        random = draw(seed)
        chances = likely(random, mean, alike, (RESTING // 2, rows))
        values = random.binomial(repeats, chances) / repeats
        found[rows, repeats, mean, alike] = coverage_of_means(values, mean, repeats=repeats)
    assert min(found.values()) >= 0.925, {key: share for key, share in found.items() if share < 0.925}
    assert 0.945 <= np.mean(list(found.values())) <= 0.965
    # Away from the ceiling, and with replies that depend on the row as they do, it is not too wide either.
    usual = {key: share for key, share in found.items() if key[2] <= 0.8 and key[3] > 0}
    assert max(usual.values()) <= 0.97, usual


Drawn = Callable[[np.random.RandomState, tuple[int, int]], np.ndarray]

GRADED: dict[str, tuple[Drawn, float]] = {
    "spread out": (lambda random, shape: random.beta(2, 2, shape), 0.5),
    "good": (lambda random, shape: random.beta(4, 1, shape), 0.8),
    "all or nothing and between": (
        lambda random, shape: np.where(
            random.rand(*shape) < 0.6, random.rand(*shape) < 0.7, random.rand(*shape)
        ),
        0.6 * 0.7 + 0.4 * 0.5,
    ),
    "five steps": (lambda random, shape: random.binomial(4, 0.8, shape) / 4, 0.8),
    "nine in ten perfect": (
        lambda random, shape: np.where(random.rand(*shape) < 0.9, 1, random.rand(*shape)),
        0.95,
    ),
    "mostly near 1": (lambda random, shape: random.beta(0.95, 0.05, shape), 0.95),
}


@pytest.mark.parametrize("name", GRADED)
def test_graded_values_from_0_to_1(name: str) -> None:
    values, truth = GRADED[name]
    for rows in (20, 50, 200):
        share = coverage_of_means(values(draw(rows), (RESTING, rows)), truth)
        assert 0.93 <= share <= 0.975, (name, rows, share)


@pytest.mark.parametrize(("rows", "failing"), [(20, 0.02), (20, 0.05), (30, 0.02), (50, 0.005), (50, 0.02)])
def test_equal_values_do_not_hide_rare_failures(rows: int, failing: float) -> None:
    """Where many samples show no failing row at all, the interval must reach down to what a few would give."""
    values = np.where(draw(rows).rand(RESTING, rows) < failing, 0.0, 0.9)
    assert coverage_of_means(values, 0.9 * (1 - failing)) >= 0.93


def test_values_beyond_0_to_1() -> None:
    for rows in (20, 50, 200):
        normal = draw(rows).normal(50, 20, (RESTING, rows))
        assert 0.93 <= coverage_of_means(normal, 50, share=False) <= 0.97
        skewed = draw(rows).exponential(2, (RESTING, rows))
        assert 0.925 <= coverage_of_means(skewed, 2, share=False) <= 0.97


def test_single_zeros_and_ones() -> None:
    """Wilson's own coverage swings with the share; over the shares of a range it is 95 %."""
    for rows in (20, 50, 200):
        random = draw(rows)
        shares = []
        for mean in np.linspace(0.6, 0.97, 12):
            values = (random.rand(RESTING // 5, rows) < mean).astype(float)
            shares.append(coverage_of_means(values, float(mean)))
        assert 0.94 <= np.mean(shares) <= 0.965, (rows, shares)


def coverage_of_pairs(a: np.ndarray, b: np.ndarray, truth: float, *, share: bool = True) -> float:
    held = 0
    for left, right in zip(a.tolist(), b.tolist(), strict=True):
        found = compare_pairs(left, right, share=share)
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.ci_low < found.ci_high, "an interval has a width"
        assert found.ci_low <= found.difference <= found.ci_high
        held += found.ci_low <= truth + 1e-9 and truth - 1e-9 <= found.ci_high
    return held / len(a)


def test_pairs_of_zeros_and_ones() -> None:
    for rows, won, lost in (
        (20, 0.15, 0.15),
        (20, 0.3, 0.1),
        (40, 0.05, 0.15),
        (40, 0.1, 0.1),
        (100, 0.02, 0.06),
    ):
        random = draw(rows)
        kind = random.choice(3, p=[won, lost, 1 - won - lost], size=(RESTING // 2, rows))
        a, b = np.where(kind == 1, 1, 0), np.where(kind == 0, 1, 0)
        share = coverage_of_pairs(a, b, won - lost)
        assert 0.93 <= share <= 0.975, (rows, won, lost, share)


def test_pairs_of_repeated_and_graded_values() -> None:
    for rows in (20, 50):
        random = draw(rows)
        shape = (RESTING // 2, rows)
        chances = likely(random, 0.8, 0.3, shape)
        a, b = random.binomial(3, chances) / 3, random.binomial(3, chances * 0.95) / 3
        assert 0.93 <= coverage_of_pairs(a, b, -0.04) <= 0.975
        first, second = random.beta(8, 2, shape), random.beta(7, 3, shape)
        assert 0.93 <= coverage_of_pairs(first, second, -0.1) <= 0.975
        # Few rows differ, and all one way: an interval may be wide there, never too narrow.
        lone = np.where(random.rand(*shape) < 0.1, random.rand(*shape), 0.0)
        assert coverage_of_pairs(np.zeros(shape), lone, 0.05) >= 0.93
