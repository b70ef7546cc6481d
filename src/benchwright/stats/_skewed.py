"""Tests of a mean that are valid for skewed values. The normal approximation says "missed" too often far out in a tail,
where tests that are corrected for their number are decided."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, fsum, log, sqrt
from random import Random

BETS = (0.05, 0.005, 0.0005)
"""Levels for which the stakes are chosen; the resulting capitals are averaged."""
_MOST = 0.75
"""Largest share of the capital that one row can lose."""


def betting_p(values: Sequence[float], least: float) -> float:
    """Return p of values from 0 to 1 whose mean is at least `least` if the limit is met: one over the most capital that
    bets against it would have won (Waudby-Smith and Ramdas, 2024). It is valid for every distribution and every number of
    rows. Rows are taken in a shuffled order, which is the same for equal numbers of rows.

    >>> round(betting_p([0.1, 0.3] * 30, 0.5), 5), betting_p([0.5, 0.9] * 30, 0.5)
    (0.0, 1.0)
    """
    if least <= 0:
        return 1.0
    rows = list(values)
    Random(0).shuffle(rows)
    n = len(rows)
    capitals = [0.0] * len(BETS)  # as logarithms
    largest = 0.0
    count, mean, squares = 1, least, 0.25
    ceiling = _MOST / max(1 - least, 1e-9)
    stakes = [sqrt(2 * log(1 / alpha) / n) for alpha in BETS]
    for value in rows:
        spread = sqrt(max(squares / count, 1e-4))
        for at, stake in enumerate(stakes):
            capitals[at] += log(1 + min(stake / spread, ceiling) * (least - value))
        count += 1
        from_mean = value - mean
        mean += from_mean / count
        squares += from_mean * (value - mean)
        largest = max(largest, fsum(map(_power, capitals)) / len(capitals))
    return min(1.0, 1 / largest) if largest > 1 else 1.0


def _power(logarithm: float) -> float:
    return exp(min(logarithm, 600.0))


def unskewed(score: float, skewness: float, n: int) -> float:
    """Correct a standardised mean for the skewness of the values by Hall's transformation (1992).

    >>> round(unskewed(-4.0, 3.0, 100), 2)
    -2.56
    """
    part = skewness / sqrt(n)
    return score + part * score * score / 3 + part * part * score**3 / 27 + part / 6
