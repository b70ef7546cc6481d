"""How often 95 % intervals contain the true mean, by simulation.

Scores that are zeros and ones have coarse means, so the coverage at one exact parameter swings by several points as that
parameter changes. What can be held is the coverage over a neighbourhood: every simulated run draws its own parameter,
and its interval must contain the mean that belongs to it.

`python tests/stats/interval_grid.py` prints the table that the tests check; with `full` as argument, it simulates more
settings, more sizes and more runs. The seed is fixed, and the frozen generator of numpy gives the same numbers in every
version.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from interval_settings import Array, Setting, settings

from benchwright.stats._intervals import mean_interval
from benchwright.stats._paired import difference_interval

SIZES = (20, 50, 200)
"""Rows of a run."""
RUNS = 1200
"""Simulated runs of a setting."""
LOW, HIGH = 0.93, 0.97
"""What is held."""
NOISE = 0.006
"""Standard error of a share of 95 % that is found by so many runs, by which the found share may be outside."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a simulation found."""

    held: float
    """Share of the intervals that contain the true mean."""
    width: float
    """Their mean width."""

    def inside(self, setting: Setting) -> bool:
        """Whether this is what the setting promises."""
        return LOW - NOISE <= self.held <= (1 if setting.wide else HIGH + NOISE)


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
    means = zip(a.mean(axis=1).tolist(), b.mean(axis=1).tolist(), strict=True)
    for differences, pair in zip((b - a).tolist(), means, strict=True):
        low, high, _ = difference_interval(differences, pair, binary=binary, bounded=True)
        assert low is not None
        assert high is not None
        assert -1 <= low < high <= 1
        assert low - 1e-12 <= sum(differences) / len(differences) <= high + 1e-12
        found.append((low, high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the 95 % intervals, by simulation.")
    parser.add_argument("full", nargs="?", choices=["full"], help="more of everything: many minutes")
    full = parser.parse_args().full == "full"
    sizes, runs = ((20, 30, 50, 100, 200, 1000), 5000) if full else (SIZES, RUNS)
    print(f"{'group':26} {'setting':40}" + "".join(f"{rows:>17,}" for rows in sizes))
    cells = outside = 0
    for setting in settings(full=full):
        found = [simulate(setting, rows, runs if rows < 1000 else runs // 5) for rows in sizes]
        cells += len(found)
        outside += sum(not one.inside(setting) for one in found)
        columns = "".join(
            f"{one.held:>8.1%}{' ' if one.inside(setting) else '!'}±{one.width / 2:.4f}" for one in found
        )
        print(f"{setting.group:26} {setting.name:40}{columns}   {setting.wide.partition(':')[0]}", flush=True)
    print(f"{outside} of {cells} outside")


if __name__ == "__main__":
    main()
