"""Confidence intervals and the quantiles they need."""

from __future__ import annotations

from functools import lru_cache
from math import cos, pi, sin, sqrt, tan
from typing import Literal, TypeAlias

Z_95 = 1.959963984540054
"""97.5 % quantile of the normal distribution."""

FEWEST = 20
"""Rows from which on their spread is estimated. Fewer say too little about it to hold 95 %."""

PRIOR = 0.15
"""Squared deviation that is added before a spread is estimated, towards the widest that values from 0 to 1 can have.
Near 0 and 1, and where all rows are equal, the data hardly show their spread. Chosen by simulation
(tests/stats/test_coverage.py): less falls below 93 % near the ceiling, more exceeds 97 % elsewhere."""

LEAST = 0.45
"""Squared deviation that graded values are taken to have at least. Values that hardly differ hide the rare row that
differs wholly: of fifty values of 0.9, one may be missing that is 0."""

Interval: TypeAlias = Literal["wilson", "bounded", "clustered", "normal", "none"]
"""How the interval of a mean was made; docs/results.md has the formulas."""

_SERIES_UP_TO = 200


def mean_interval(
    mean: float,
    stderr: float,
    rows: float,
    *,
    values: int | None,
    repeated: bool,
    ends: tuple[float, float],
    share: bool = True,
) -> tuple[float | None, float | None, Interval]:
    """The 95 % interval of a mean, and how it was made; None and `none` where there is no basis for one.

    Args:
        mean: The mean.
        stderr: Its standard error with n - 1, by rows where rows have several values.
        rows: Independent rows; fewer than there are where they have unequal numbers of values.
        values: Zeros and ones behind the mean; None: the values are others.
        repeated: Whether rows have several values.
        ends: Smallest and largest value.
        share: Whether values from 0 to 1 can be no others.
    """
    low, high = ends
    if not (share or values is not None) or low < 0 or high > 1:
        if rows < FEWEST or low == high:
            return None, None, "none"
        # Skewed values: the largest deviation counts once more, since the sample tends to miss the tail.
        reach = max(high - mean, mean - low)
        half = Z_95 * sqrt((stderr * stderr * (rows - 1) + reach * reach / rows) / (rows + 1))
        return mean - half, mean + half, "clustered" if repeated else "normal"
    if values is not None and not repeated:
        return (*wilson_interval(round(mean * values), values), "wilson")
    effective = rows
    if rows >= FEWEST:
        widest = mean * (1 - mean)
        # The variance as a part of the widest that 0..1 allows.
        shown = rows * rows * stderr * stderr
        added = PRIOR if values is not None else max(PRIOR, LEAST - shown)
        part = min(1.0, (shown + added) / (rows * widest + added))
        effective = rows / part
        if values is not None:
            effective = max(rows, min(effective, values))
    bounds = wilson_interval(mean * effective, effective)
    if values is not None and effective == rows:
        return (*bounds, "wilson")
    return (*bounds, "clustered" if repeated else "bounded")


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a share, without continuity correction.

    Unlike mean ± z·stderr it stays within 0..1 and does not collapse when all or none succeed. With n = 0
    nothing is known: (0, 1). Both may be fractions, for a share that is itself a mean, and an effective n.

    >>> low, high = wilson_interval(81, 263)
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)

    Raises:
        ValueError: not 0 ≤ successes ≤ n, or a confidence outside 0..1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"wilson_interval: {successes} successes of {n}; expected 0 ≤ successes ≤ n")
    z = _normal_quantile(confidence)
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    spread = z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # At the ends the bound is exact; rounding must not move it.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


@lru_cache(maxsize=256)
def t_quantile(degrees: int, confidence: float = 0.95) -> float:
    """The t with P(|T| < t) = confidence, for Student's t, to about 1e-10.

    Few degrees: the finite series for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 26.7.4), solved by
    bisection. More than 200: Fisher's expansion about the normal quantile (26.7.5), where its first omitted
    term, about 27 z¹¹ / (368,640 degrees⁵), is below 1e-10.
    """
    if degrees < 1:
        raise ValueError(f"Student's t needs at least 1 degree of freedom, not {degrees}")
    z = _normal_quantile(confidence)
    if degrees > _SERIES_UP_TO and 27 * z**11 / 368_640 / degrees**5 < 1e-10:
        return _expanded_t(z, degrees)
    low, high = 0.0, pi / 2
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return tan(middle) * sqrt(degrees)
        if _central_probability(middle, degrees) < confidence:
            low = middle
        else:
            high = middle


def _central_probability(theta: float, degrees: int) -> float:
    """P(|T| < t) for t = √degrees · tan(theta)."""
    squared = cos(theta) ** 2
    odd = degrees % 2 == 1
    # Odd: 2/π (θ + sin θ (cos θ + 2/3 cos³ θ + …)); even: sin θ (1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + …).
    term = cos(theta) if odd else 1.0
    total = 0.0
    for k in range(degrees // 2):
        total += term
        term *= squared * ((2 * k + 2) / (2 * k + 3) if odd else (2 * k + 1) / (2 * k + 2))
    return 2 / pi * (theta + sin(theta) * total) if odd else sin(theta) * total


def _expanded_t(z: float, degrees: int) -> float:
    z2 = z * z
    g1 = z * (z2 + 1) / 4
    g2 = z * ((5 * z2 + 16) * z2 + 3) / 96
    g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384
    g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160
    return z + (g1 + (g2 + (g3 + g4 / degrees) / degrees) / degrees) / degrees


@lru_cache(maxsize=64)
def _normal_quantile(confidence: float) -> float:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence {confidence} is not between 0 and 1; write 0.95 for 95 %")
    if confidence == 0.95:
        return Z_95
    from statistics import NormalDist  # 10 ms to import, for other confidences only

    return NormalDist().inv_cdf((1 + confidence) / 2)
