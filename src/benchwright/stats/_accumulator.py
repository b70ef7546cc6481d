"""Running statistics of one metric in bounded memory, and the summary that they end in."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import islice
from math import fsum, inf, isfinite, sqrt
from operator import eq
from typing import NoReturn

from msgspec import Struct

from benchwright.core import MetricSummary
from benchwright.stats._intervals import FEWEST, Z_95, ClusterMoments, Interval, mean_interval


class MeanSpread(Struct, frozen=True):
    """The figures from which the interval of a mean is computed."""

    n: int
    mean: float
    squares: float
    stderr: float
    rows: float
    third: float
    clusters: int
    binary: bool
    ends: tuple[float, float]
    share: bool

    def interval(self, z: float) -> tuple[float | None, float | None, Interval]:
        """Return the interval at the level given as a normal quantile, and how it was computed."""
        return mean_interval(
            self.mean,
            self.stderr,
            self.rows,
            third=self.third,
            answers=self.n if self.binary else None,
            repeated=self.clusters != self.n,
            ends=self.ends,
            share=self.share,
            z=z,
        )

    def summary(self) -> MetricSummary:
        """All statistics."""
        low, high, interval = self.interval(Z_95)
        stddev = sqrt(self.squares / self.n)
        return MetricSummary(
            value=self.mean,
            count=self.n,
            stddev=stddev,
            stderr=stddev / sqrt(self.n),
            sample_stderr=self.stderr,
            ci_low=low,
            ci_high=high,
            interval=interval,
            min=self.ends[0],
            max=self.ends[1],
            with_failures=None,
            with_failures_count=None,
            too_few=self.clusters < FEWEST,
        )


LARGEST = MetricSummary.LARGEST
"""Values must be smaller than this, so that the sum of their squares stays finite."""

_PENDING = 4096


def fit(values: Sequence[float]) -> bool:
    """Whether all of the values can be averaged."""
    if not values or set(map(type, values)) <= {bool}:
        return True
    try:
        return all(map(isfinite, values)) and min(values) > -LARGEST and max(values) < LARGEST
    except OverflowError:  # a whole number that no float can hold
        return False


class ScoreAccumulator:
    """Takes values one by one and can summarise them at any time, in bounded memory.

    Values of one cluster (the repeats of one sample) must arrive one after the other. The same values in the same
    order give exactly the same result, even if `summary` is called in between.

    >>> scores = ScoreAccumulator()
    >>> for index, value in enumerate([1, 0, 1, 1]):
    ...     scores.add(value, index)
    >>> scores.summary().value
    0.75
    """

    __slots__ = (
        "_clusters", "_compensation", "_cubes", "_m2", "_max", "_mean", "_min", "_moments", "_n", "_ones", "_open", "_open_m2",
        "_open_mean", "_open_size", "_open_sum", "_pending", "_pending_clusters", "_share", "_total", "_zeros",
    )  # fmt: skip

    def __init__(self, *, share: bool = True) -> None:
        """`share`: values seen between 0 and 1 cannot lie outside that range, as for an accuracy or an F1. False for a
        metric that merely happens to be small, such as a latency."""
        self._share = share
        # Values are buffered here with their clusters and added by the thousand: a loop over local variables costs less
        # than half of the same arithmetic on attributes in single calls.
        self._pending: list[float] = []
        self._pending_clusters: list[int] = []
        self._ones = self._zeros = 0
        self._total = self._compensation = 0.0
        self._min, self._max = inf, -inf
        # Closed clusters: values, their mean and squares about it, and how many clusters.
        self._n = 0
        self._mean = self._m2 = 0.0
        self._cubes = 0.0  # sum of the cubes of closed clusters, while each has one value
        self._clusters = 0
        # Moments of cluster sums and sizes; None while every cluster has one value, which needs no others.
        self._moments: ClusterMoments | None = None
        # The cluster that may still grow.
        self._open: int | None = None
        self._open_size = 0
        self._open_sum = self._open_mean = self._open_m2 = 0.0

    @property
    def count(self) -> int:
        """Values seen so far."""
        return self._n + self._open_size + len(self._pending)

    @property
    def clusters(self) -> int:
        """Samples seen so far."""
        self._fold()
        return self._clusters + (self._open_size > 0)

    def add(self, value: float, cluster: int) -> None:
        """Add a value of the sample `cluster`.

        Raises:
            ValueError: the value is NaN, infinite, or so large (1e150) that sums of its square would overflow.
                Such a score cannot be averaged, and leaving it out would flatter the metric.
        """
        if not -LARGEST < value < LARGEST:
            refuse(value)
        self._pending.append(value)
        self._pending_clusters.append(cluster)
        if len(self._pending) >= _PENDING:
            self._fold()

    def extend(self, values: Sequence[float], clusters: Sequence[int]) -> None:
        """Add several values in order, each with its cluster. The result is bit for bit that of `add`.

        Raises:
            ValueError: as from `add`; none of the values is added then.
        """
        if not fit(values):
            refuse(next(value for value in values if not fit((value,))))
        self._pending += values
        self._pending_clusters += clusters
        if len(self._pending) >= _PENDING:
            self._fold()

    def copy(self) -> ScoreAccumulator:
        """Return an independent accumulator with the same values."""
        self._fold()
        copied = ScoreAccumulator()
        for name in self.__slots__:
            setattr(copied, name, copy(getattr(self, name)))
        return copied

    def summary(self) -> MetricSummary:
        """Return the statistics of all values so far.

        Raises:
            ValueError: there are no values.
        """
        return self._spread().summary()

    def interval(self, z: float) -> tuple[float | None, float | None]:
        """Return the mean's interval at the level given as a normal quantile. Raises ValueError if there are no values."""
        return self._spread().interval(z)[:2]

    def _spread(self) -> MeanSpread:
        self._fold()
        n, _, squares = _merged(
            (self._n, self._mean, self._m2), (self._open_size, self._open_mean, self._open_m2)
        )
        if n == 0:
            raise ValueError("no values to summarise")
        ones = self._ones
        binary = ones + self._zeros == n
        mean = min(max((self._total + self._compensation) / n, self._min), self._max)
        if binary:
            squares = ones * (n - ones) / n  # exact, not the sum of roundings
        clusters = self._clusters + 1
        rows = float(clusters)
        if clusters == n:
            stderr = sqrt(squares / (n - 1) / n) if n > 1 else 0.0
            opened = self._open_sum
            third = (self._cubes + opened * opened * opened) / n - 3 * mean * squares / n - mean * mean * mean
        else:
            moments = self._all_moments()
            stderr = 0.0 if self._min == self._max else moments.stderr(mean, n)
            rows = moments.effective
            third = moments.third(mean)
        return MeanSpread(
            n,
            mean,
            squares,
            stderr,
            rows,
            third,
            clusters,
            binary,
            (float(self._min), float(self._max)),
            self._share,
        )

    def _all_moments(self) -> ClusterMoments:
        moments = self._moments or ClusterMoments.of_singles(
            self._clusters, self._mean, self._m2, self._cubes
        )
        return moments.with_one_more(self._open_sum, self._open_size)

    def _fold(self) -> None:
        values, clusters = self._pending, self._pending_clusters
        if not values:
            return
        ones, zeros = values.count(True), values.count(False)
        self._ones += ones
        self._zeros += zeros
        other = len(values) - ones - zeros
        differing = values if other else [0] * bool(zeros) + [1] * bool(ones)
        self._min = min(self._min, *differing)
        self._max = max(self._max, *differing)
        if self._ones + self._zeros == self._n + self._open_size + len(values):
            self._total = float(self._ones)
        else:
            self._sum_up(values)
        repeated = clusters[0] == self._open or any(map(eq, clusters, islice(clusters, 1, None)))
        if repeated or self._open_size > 1 or self._moments is not None:
            self._fold_clusters(values, clusters)
        else:
            self._fold_singles(
                values, clusters[-1], graded=other > 0 or self._ones + self._zeros < self.count
            )
        self._pending, self._pending_clusters = [], []

    def _fold_singles(self, values: list[float], last: int, *, graded: bool) -> None:
        """Give bit for bit the result of `_fold_clusters`, faster, while every cluster has one value."""
        if self._open_size:
            values.insert(0, self._open_sum)
        opened = values.pop()
        n, mean, m2 = self._n, self._mean, self._m2
        for value in values:  # Welford: squares about the mean, without the cancellation of raw squares
            n += 1
            from_mean = value - mean
            mean += from_mean / n
            m2 += from_mean * (value - mean)
        self._n, self._mean, self._m2, self._clusters = n, mean, m2, n
        if graded:
            cubes = self._cubes
            for value in values:
                cubes += value * value * value
            self._cubes = cubes
        else:
            self._cubes += values.count(1)
        self._open, self._open_size = last, 1
        self._open_sum = self._open_mean = opened
        self._open_m2 = 0.0

    def _fold_clusters(self, values: list[float], among: list[int]) -> None:
        n, mean, m2, clusters, moments = self._n, self._mean, self._m2, self._clusters, self._moments
        opened, size, total, cubes = self._open, self._open_size, self._open_sum, self._cubes
        open_mean, open_m2 = self._open_mean, self._open_m2
        for value, cluster in zip(values, among, strict=True):
            if cluster == opened and size:
                size += 1
                total += value
                from_mean = value - open_mean
                open_mean += from_mean / size
                open_m2 += from_mean * (value - open_mean)
                continue
            if size == 1:
                n += 1
                from_mean = total - mean
                mean += from_mean / n
                m2 += from_mean * (total - mean)
                cubes += total * total * total
            elif size:
                if moments is None:
                    moments = ClusterMoments.of_singles(clusters, mean, m2, cubes)
                n, mean, m2 = _merged((n, mean, m2), (size, open_mean, open_m2))
            if size:
                clusters += 1
                if moments is not None:
                    moments.add(total, size)
            opened, size, total, open_mean, open_m2 = cluster, 1, value, value, 0.0
        self._n, self._mean, self._m2, self._clusters, self._moments = n, mean, m2, clusters, moments
        self._open, self._open_size, self._open_sum, self._cubes = opened, size, total, cubes
        self._open_mean, self._open_m2 = open_mean, open_m2

    def _sum_up(self, values: list[float]) -> None:
        """Update the exact sum, stored as a float and its rounding error."""
        terms = [self._total, self._compensation, *values]
        self._total = fsum(terms)
        terms.append(-self._total)
        self._compensation = fsum(terms)


def refuse(value: float) -> NoReturn:
    """Raise ValueError for a value that cannot be averaged."""
    raise ValueError(f"score {value!r} cannot be averaged; expected a finite number below {LARGEST:g}")


def _merged(left: tuple[int, float, float], right: tuple[int, float, float]) -> tuple[int, float, float]:
    """Combine count, mean and squares about the mean of two groups (Chan, Golub and LeVeque)."""
    left_n, left_mean, left_m2 = left
    right_n, right_mean, right_m2 = right
    n = left_n + right_n
    if not left_n or not right_n:
        return left if left_n else right
    apart = right_mean - left_mean
    return n, left_mean + apart * right_n / n, left_m2 + right_m2 + apart * apart * left_n * right_n / n
