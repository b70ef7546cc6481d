"""How often 95 % intervals contain the true mean, by simulation.

Scores that are zeros and ones have coarse means, so the coverage at one exact parameter swings by several points as that
parameter changes. What can be held is the coverage over a neighbourhood: every simulated run draws its own parameter,
up to 0.35 (pairs: 0.25) away on the logit scale, and its interval must contain the mean that belongs to it.

`python tests/stats/interval_grid.py` prints the table that the tests check; with `full` as argument, it simulates more sizes and more runs.
The seed is fixed, and the frozen generator of numpy gives the same numbers in every version.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from benchwright.stats._intervals import mean_interval
from benchwright.stats._paired import difference_interval

Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"
Random: TypeAlias = np.random.RandomState
Drawn: TypeAlias = Callable[[Random, int, int], tuple[Array, Array]]
"""(random, runs, rows) → a value for each run and row, and the true mean of each run."""
DrawnPairs: TypeAlias = Callable[[Random, int, int], tuple[Array, Array, Array]]


SIZES = (20, 50, 200)
"""Rows of a run."""
RUNS = 1200
"""Simulated runs of a setting. The error of a coverage near 95 % is then 0.6 points."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of data: how it is drawn, and between which coverages its intervals must stay."""

    group: str
    name: str
    low: float
    high: float
    draw: Drawn | None = None
    draw_pairs: DrawnPairs | None = None
    repeats: int = 1
    share: bool = True


def near(random: Random, at: float, runs: int, width: float = 0.35) -> Array:
    """A parameter for each run, around `at`."""
    return np.asarray(1 / (1 + np.exp(-(np.log(at / (1 - at)) + random.uniform(-width, width, runs)))))


def chances(random: Random, means: Array, alike: float, rows: int) -> Array:
    """The chance of each row to be answered rightly; `alike` is the correlation between the replies to a row."""
    shape = (len(means), rows)
    if alike == 0:
        return np.broadcast_to(means[:, None], shape)
    size = (1 - alike) / alike
    return np.asarray(
        random.beta(
            np.broadcast_to(means[:, None] * size, shape), np.broadcast_to((1 - means)[:, None] * size, shape)
        )
    )


def replies(at: float, alike: float, repeats: int) -> Drawn:
    def draw(random: Random, runs: int, rows: int) -> tuple[Array, Array]:
        means = near(random, at, runs)
        return random.binomial(repeats, chances(random, means, alike, rows)) / repeats, means

    return draw


def fixed(values: Callable[[Random, tuple[int, int]], Array], mean: float) -> Drawn:
    """Values of one distribution without a parameter to vary."""
    return lambda random, runs, rows: (
        np.asarray(values(random, (runs, rows)), float),
        np.full(runs, float(mean)),
    )


def rarely(
    usual: Callable[[Random, tuple[int, int]], Array | float], mean: float, other: float, at: float
) -> Drawn:
    """Rows that have a usual value of this mean, and rarely another one."""

    def draw(random: Random, runs: int, rows: int) -> tuple[Array, Array]:
        part = near(random, at, runs)
        values = np.where(random.rand(runs, rows) < part[:, None], other, usual(random, (runs, rows)))
        return values, mean + part * (other - mean)

    return draw


def decided(won: float, lost: float) -> DrawnPairs:
    """Pairs of zeros and ones, of which these shares differ."""

    def draw(random: Random, runs: int, rows: int) -> tuple[Array, Array, Array]:
        gains, losses = near(random, won, runs, 0.25), near(random, lost, runs, 0.25)
        at = random.rand(runs, rows)
        b_only = at < gains[:, None]
        a_only = ~b_only & (at < (gains + losses)[:, None])
        return a_only.astype(float), b_only.astype(float), gains - losses

    return draw


def both_repeated(at: float, alike: float, loss: float) -> DrawnPairs:
    def draw(random: Random, runs: int, rows: int) -> tuple[Array, Array, Array]:
        means = near(random, at, runs, 0.25)
        chance = chances(random, means, alike, rows)
        return random.binomial(3, chance) / 3, random.binomial(3, chance * (1 - loss)) / 3, -loss * means

    return draw


def two(
    a: Callable[[Random, tuple[int, int]], Array], b: Callable[[Random, tuple[int, int]], Array], mean: float
) -> DrawnPairs:
    return lambda random, runs, rows: (a(random, (runs, rows)), b(random, (runs, rows)), np.full(runs, mean))


def settings() -> Iterator[Setting]:
    for at in (0.5, 0.8, 0.9, 0.95, 0.98):
        yield Setting("zeros and ones", f"mean {at}", 0.93, 0.97, replies(at, 0.0, 1))
    for at in (0.5, 0.8, 0.95, 0.98):
        for repeats in (3, 10):
            for alike in (0.0, 0.1, 0.3, 0.7):
                name = f"mean {at}, {repeats} replies, correlation {alike}"
                high = 0.975 if alike > 0.1 else 0.98
                yield Setting("repeats", name, 0.93, high, replies(at, alike, repeats), repeats=repeats)
    graded: dict[str, Drawn] = {
        "spread out": fixed(lambda random, shape: random.beta(2, 2, shape), 0.5),
        "good": fixed(lambda random, shape: random.beta(4, 1, shape), 0.8),
        "mostly near 1": fixed(lambda random, shape: random.beta(0.95, 0.05, shape), 0.95),
        "all, nothing or between": fixed(
            lambda random, shape: np.where(
                random.rand(*shape) < 0.6, random.rand(*shape) < 0.7, random.rand(*shape)
            ),
            0.62,
        ),
        "half perfect": fixed(
            lambda random, shape: np.where(
                random.rand(*shape) < 0.5,
                1.0,
                np.where(random.rand(*shape) < 0.4, 0.0, random.beta(3, 2, shape)),
            ),
            0.68,
        ),
        "five steps, mean 0.8": replies(0.8, 0.0, 4),
        "nine in ten perfect": rarely(lambda random, shape: np.ones(shape), 1.0, 0.5, 0.1),
    }
    for name, draw in graded.items():
        yield Setting("graded", name, 0.93, 0.975, draw)
    for at in (0.005, 0.01, 0.02, 0.05, 0.1):
        yield Setting("rare zeros", f"0.9, {at:.1%} zeros", 0.93, 1, rarely(lambda *_: 0.9, 0.9, 0.0, at))
        yield Setting("rare ones", f"0.5, {at:.1%} ones", 0.93, 1, rarely(lambda *_: 0.5, 0.5, 1.0, at))
        yield Setting(
            "rare zeros, others spread",
            f"0.85 to 0.95, {at:.1%} zeros",
            0.90,
            1,
            rarely(lambda random, shape: random.uniform(0.85, 0.95, shape), 0.9, 0.0, at),
        )
    yield Setting("hardly differ", "near 0.5", 0.93, 1, fixed(lambda random, s: random.beta(50, 50, s), 0.5))
    yield Setting(
        "hardly differ", "near 0.91", 0.93, 1, fixed(lambda random, s: random.beta(50, 5, s), 50 / 55)
    )
    yield Setting("hardly differ", "five steps, mean 0.95", 0.93, 1, replies(0.95, 0.0, 4))
    unbounded: dict[str, Drawn] = {
        "normal": fixed(lambda random, shape: random.normal(50, 20, shape), 50),
        "exponential": fixed(lambda random, shape: random.exponential(2, shape), 2),
        "counts": fixed(lambda random, shape: random.poisson(3, shape), 3),
    }
    for name, draw in unbounded.items():
        yield Setting("beyond 0 to 1", name, 0.925, 0.97, draw, share=False)
    for won, lost in ((0.1, 0.1), (0.05, 0.15), (0.3, 0.1), (0.25, 0.25), (0.6, 0.1), (0.9, 0.02)):
        yield Setting("pairs", f"{won:.0%} won, {lost:.0%} lost", 0.93, 0.98, draw_pairs=decided(won, lost))
    for won, lost in ((0.01, 0.01), (0.02, 0.06), (0.05, 0.05), (0.05, 0.001)):
        yield Setting(
            "pairs, few differ", f"{won:.1%} won, {lost:.1%} lost", 0.93, 1, draw_pairs=decided(won, lost)
        )
    yield Setting("pairs of repeats", "mean 0.8", 0.93, 0.972, draw_pairs=both_repeated(0.8, 0.3, 0.05))
    yield Setting("pairs of repeats", "mean 0.97", 0.93, 1, draw_pairs=both_repeated(0.97, 0.5, 0.02))
    yield Setting(
        "pairs, graded",
        "spread out",
        0.93,
        0.972,
        draw_pairs=two(lambda r, s: r.beta(8, 2, s), lambda r, s: r.beta(7, 3, s), -0.1),
    )
    yield Setting(
        "pairs, graded",
        "one in ten differs",
        0.93,
        1,
        draw_pairs=two(
            lambda r, s: np.zeros(s), lambda r, s: np.where(r.rand(*s) < 0.1, r.rand(*s), 0.0), 0.05
        ),
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a simulation found."""

    held: float
    """Share of the intervals that contain the true mean."""
    width: float
    """Their mean width."""


def simulate(setting: Setting, rows: int, runs: int) -> Coverage:
    """Raises AssertionError for an interval that is missing, has no width, or leaves the range of the values."""
    random = np.random.RandomState(rows)
    if setting.draw_pairs is not None:
        a, b, truth = setting.draw_pairs(random, runs, rows)
        found = _of_pairs(a, b)
    else:
        assert setting.draw is not None
        values, truth = setting.draw(random, runs, rows)
        found = _of_means(values, setting)
    held = [low - 1e-9 <= true <= high + 1e-9 for (low, high), true in zip(found, truth, strict=True)]
    return Coverage(float(np.mean(held)), float(np.mean([high - low for low, high in found])))


def _of_means(values: Array, setting: Setting) -> list[tuple[float, float]]:
    rows = values.shape[1]
    means = values.mean(axis=1)
    columns = (
        means,
        values.std(axis=1, ddof=1) / np.sqrt(rows),
        ((values - means[:, None]) ** 3).mean(axis=1),
        ((values == 0) | (values == 1)).all(axis=1),
        values.min(axis=1),
        values.max(axis=1),
    )
    found = []
    for mean, error, third, binary, least, most in zip(*(c.tolist() for c in columns), strict=True):
        low, high, _ = mean_interval(
            min(1.0, mean) if setting.share else mean,
            error,
            rows,
            third=third,
            answers=rows * setting.repeats if binary or setting.repeats > 1 else None,
            repeated=setting.repeats > 1,
            ends=(least, most),
            share=setting.share,
        )
        assert low is not None
        assert high is not None
        assert low < high
        assert low <= mean + 1e-12
        assert mean - 1e-12 <= high
        assert not setting.share or 0 <= low < high <= 1
        found.append((low, high))
    return found


def _of_pairs(a: Array, b: Array) -> list[tuple[float, float]]:
    binary = bool((((a == 0) | (a == 1)) & ((b == 0) | (b == 1))).all())
    found = []
    for differences in (b - a).tolist():
        low, high, _ = difference_interval(differences, binary=binary, bounded=True)
        assert low is not None
        assert high is not None
        assert -1 <= low < high <= 1
        assert low - 1e-12 <= sum(differences) / len(differences) <= high + 1e-12
        found.append((low, high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals, by simulation.")
    parser.add_argument("full", nargs="?", choices=["full"], help="more sizes and more runs: some minutes")
    full = parser.parse_args().full == "full"
    sizes, runs = ((20, 30, 50, 100, 300, 1000), 8000) if full else (SIZES, RUNS)
    print(f"{'group':26} {'setting':40}" + "".join(f"{rows:>16,}" for rows in sizes))
    outside = 0
    for setting in settings():
        found = [simulate(setting, rows, runs) for rows in sizes]
        bad = sum(not setting.low <= one.held <= setting.high for one in found)
        outside += bad
        cells = "".join(f"{one.held:>7.1%} ±{one.width / 2:.4f}" for one in found)
        print(
            f"{setting.group:26} {setting.name:40}{cells}   held: {setting.low:.0%} to {setting.high:.1%}{' !' * bad}"
        )
    print(f"{outside} outside")


if __name__ == "__main__":
    main()
