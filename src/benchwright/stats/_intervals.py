"""Confidence intervals, the quantiles they need, and the spread between rows that have several values."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from math import cos, erfc, hypot, log, pi, sin, sqrt, tan
from typing import Literal, TypeAlias


class ClusterMoments:
    """Running moments of (sum, size) over clusters, for the standard error of a mean of clustered values.

    The error of the mean μ is √(G/(G-1) · Σ (sum - size·μ)²) / n over G clusters of n values in all: the
    cluster-robust estimator with the usual small-sample factor. For clusters of equal size it is the standard
    error of the cluster means; for clusters of size 1 the ordinary one. Since μ is also the ratio of the mean sum
    to the mean size, the squares follow from centred moments, which keep digits that raw moments lose.
    """

    __slots__ = (
        "_covariance",
        "_cubes",
        "_size_m2",
        "_size_mean",
        "_squares",
        "_sum_m2",
        "_sum_mean",
        "count",
    )

    def __init__(self) -> None:
        self.count = 0
        self._sum_mean = self._sum_m2 = 0.0
        self._size_mean = self._size_m2 = 0.0
        self._covariance = 0.0
        # Sums of size·mean² and size·mean³ over the clusters, for the skewness of their means.
        self._squares = self._cubes = 0.0

    @classmethod
    def of_singles(cls, count: int, mean: float, squares: float, cubes: float) -> ClusterMoments:
        """Build the moments of clusters with one value each from the values' moments and the sum of their cubes."""
        moments = cls()
        moments.count, moments._sum_mean, moments._sum_m2 = count, mean, squares
        moments._size_mean = 1.0 if count else 0.0
        moments._squares, moments._cubes = squares + count * mean * mean, cubes
        return moments

    def add(self, total: float, size: int) -> None:
        """Add a cluster, given the sum and the number of its values. This is Welford's update in two dimensions."""
        self.count = count = self.count + 1
        from_sum_mean = total - self._sum_mean
        self._sum_mean += from_sum_mean / count
        self._sum_m2 += from_sum_mean * (total - self._sum_mean)
        square = total * total / size
        self._squares += square
        self._cubes += square * total / size
        from_size_mean = size - self._size_mean
        if from_size_mean:
            self._size_mean += from_size_mean / count
            self._size_m2 += from_size_mean * (size - self._size_mean)
            self._covariance += from_sum_mean * (size - self._size_mean)

    def with_one_more(self, total: float, size: int) -> ClusterMoments:
        """Return a copy with one more cluster, which may still grow in the original."""
        more = copy(self)
        more.add(total, size)
        return more

    @property
    def effective(self) -> float:
        """Kish's effective number of clusters: the number of clusters of equal size with the same information."""
        if not self._size_m2:  # exactly 0 for equal sizes, since they never move the mean
            return float(self.count)
        return self.count / (1 + self._size_m2 / self.count / self._size_mean**2)

    def third(self, mean: float) -> float:
        """Return the third central moment of the clusters' means, weighted by size. `mean` is the mean of all values.
        Only for values from 0 to 1: raw sums of larger values lose digits."""
        values = self.count * self._size_mean
        return (self._cubes - 3 * mean * self._squares) / values + 2 * mean * mean * mean

    def stderr(self, mean: float, values: int) -> float:
        """Return the standard error of `mean` over `values` values; 0.0 for a single cluster."""
        if self.count < 2:
            return 0.0
        squares = self._sum_m2 - 2 * mean * self._covariance + mean * mean * self._size_m2
        return sqrt(max(0.0, squares) * self.count / (self.count - 1)) / values


Z_95 = 1.959963984540054
"""97.5 % quantile of the normal distribution."""

FEWEST = 20
"""Number of rows from which an interval is reliable. Fewer rows show too little of their spread; views then say "too few"."""

UNSEEN = 0.15
"""Part of a row that is added at the end of the range before each end of an interval is computed. Values that hardly
differ do not show a rare row that differs completely: a rare 0 may be missing among fifty values of 0.9. Chosen by simulation
(tests/stats/interval_grid.py): with less, rare failures among graded values are missed; with more, intervals of values
that differ little are too wide."""

RULE_OF_THREE = 3.0
"""Something seen in none of n rows may still occur in 3 / n of all rows: (1 - 3/n)ⁿ is about 5 %."""

_ENOUGH_DIFFERING_ROWS = 4.0
"""Number of rows with wrong replies at which `UNSEEN` is halved: repeated replies then show how far rows differ."""

Interval: TypeAlias = Literal["wilson", "bounded", "clustered", "normal", "none"]
"""How the interval of a mean was computed; docs/results.md has the formulas."""

_SERIES_UP_TO = 200


def mean_interval(
    mean: float,
    stderr: float,
    rows: float,
    *,
    third: float,
    answers: int | None,
    repeated: bool,
    ends: tuple[float, float],
    share: bool = True,
    z: float = Z_95,
) -> tuple[float | None, float | None, Interval]:
    """Compute the interval of a mean and return it with its method; None and `none` if there is no basis for one.

    Args:
        mean: The mean.
        stderr: Its standard error with n - 1; by rows if rows have several values.
        rows: Effective number of independent rows; less than their number if rows have unequal numbers of values.
        third: Third central moment of the rows; only used for values from 0 to 1.
        answers: Number of zeros and ones that the mean is of; None for other values.
        repeated: Whether rows have several values.
        ends: Smallest and largest value.
        share: Whether values seen between 0 and 1 cannot lie outside that range.
        z: Normal quantile of its level; 95 % unless given.
    """
    low, high = ends
    binary = answers is not None
    if not (share or binary) or low < 0 or high > 1:
        if rows < FEWEST or low == high:
            return None, None, "none"
        # For skewed values the largest deviation is counted twice, since samples tend to miss the tail.
        reach = max(high - mean, mean - low)
        quantile = _expanded_t(z, rows - 1)
        half = quantile * sqrt((stderr * stderr * (rows - 1) + reach * reach / rows) / (rows + 1))
        return mean - half, mean + half, "clustered" if repeated else "normal"
    if rows < FEWEST or (binary and not repeated):
        # So few rows do not show their spread; the widest possible is assumed, that of zeros and ones.
        bounds = _wilson(round(mean * rows) if binary and not repeated else mean * rows, rows, z)
        return (*bounds, "wilson" if binary else "clustered" if repeated else "bounded")
    bounds = _bounded_interval(mean, stderr, third, rows, None if binary else ends, z)
    if answers is not None:  # never narrower than for as many rows with one answer each
        least = _wilson(mean * answers, answers, z)
        bounds = min(bounds[0], least[0]), max(bounds[1], least[1])
    return (*bounds, "clustered" if repeated else "bounded")


def _bounded_interval(
    mean: float, stderr: float, third: float, rows: float, ends: tuple[float, float] | None, z: float
) -> tuple[float, float]:
    """Score interval of a mean of values from 0 to 1: all means μ with (mean - μ)² ≤ q² v(μ) / rows.

    v(μ) = v + s (μ - mean) - (μ - mean)², where v is the variance of the rows and s their third moment divided by v, is how
    the variance would change with the mean. For zeros and ones it is μ (1 - μ), which gives Wilson's interval. Each end
    is the wider of two: for the rows alone, and with a part of a row added at that end of the range.

    `ends` are the smallest and the largest value; None if the rows are shares of zeros and ones.
    """
    widest = mean * (1 - mean)
    variance = min(stderr * stderr * rows, widest)
    # The spread of zeros and ones follows from their mean; other spreads are estimated, hence Student's t.
    known = variance / widest if widest else 1.0
    quantile = z + (_expanded_t(z, rows - 1) - z) * (1 - known)
    three = rule_of_three(z)

    def end(side: int, added: float) -> float:
        away = (1 - mean) if side > 0 else -mean
        spread = min(variance + added * away * away / rows, widest)
        slope = (third + added * away**3 / rows) / spread if spread else 0.0
        # The bounds for values between 0 and 1 with this mean and variance; reached if only two values occur.
        slope = max(slope, (spread / mean if mean > 0 else 1.0) - mean)
        slope = min(slope, (1 - mean) - (spread / (1 - mean) if mean < 1 else 1.0))
        part = quantile * quantile / rows
        root = sqrt((part * slope) ** 2 + 4 * (1 + part) * part * spread)
        return mean + (part * slope + side * root) / (2 * (1 + part))

    def graded_end(side: int, beyond: float) -> float:
        # `beyond`: how far beyond the values seen other values could lie. Such rows may have been missed.
        distance = hypot(end(side, 0.0) - mean, beyond * three / (rows + three))
        return mean + side * max(distance, side * (end(side, UNSEEN) - mean))

    def replies_end(side: int) -> float:
        # Kish's effective number of rows that differ from the end of the range; the more there are, the
        # better the spread between rows is known, and the less has to be added to it.
        apart = mean if side > 0 else 1 - mean
        differing = rows * apart * apart / (variance * (rows - 1) / rows + apart * apart) if apart else 0.0
        added = UNSEEN * _ENOUGH_DIFFERING_ROWS / (_ENOUGH_DIFFERING_ROWS + differing)
        return mean + side * max(side * (end(side, 0.0) - mean), side * (end(side, added) - mean))

    if ends is None:
        low, high = replies_end(-1), replies_end(1)
    else:
        low, high = graded_end(-1, ends[0]), graded_end(1, 1 - ends[1])
    return max(0.0, low), min(1.0, high)


def wilson_interval(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share, without continuity correction.

    Unlike mean ± z·stderr it stays within 0..1 and does not collapse when all or none succeed. With n = 0
    nothing is known and the result is (0, 1). Both arguments may be fractions, for a share that is a mean and an effective n.

    >>> low, high = wilson_interval(81, 263)
    >>> round(low, 4), round(high, 4)
    (0.2553, 0.3662)

    Raises:
        ValueError: not 0 ≤ successes ≤ n, or a confidence outside 0..1.
    """
    if not 0 <= successes <= n:
        raise ValueError(f"wilson_interval: {successes} successes of {n}; expected 0 ≤ successes ≤ n")
    return _wilson(successes, n, _normal_quantile(confidence))


def rule_of_three(z: float) -> float:
    """Return `RULE_OF_THREE` for the level given as a normal quantile."""
    return RULE_OF_THREE if z == Z_95 else -log(max(erfc(z / sqrt(2)), 1e-300))


def _wilson(successes: float, n: float, z: float) -> tuple[float, float]:
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    spread = z * z / n
    centre = (share + spread / 2) / (1 + spread)
    half = z * sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    # The bounds 0 and 1 are exact; rounding must not move them.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return low, high


@lru_cache(maxsize=256)
def t_quantile(degrees: int, confidence: float = 0.95) -> float:
    """Return the t with P(|T| < t) = confidence for Student's t, accurate to about 1e-10.

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


def _expanded_t(z: float, degrees: float) -> float:
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
    from statistics import NormalDist  # takes 10 ms to import and is rarely needed

    return NormalDist().inv_cdf((1 + confidence) / 2)
