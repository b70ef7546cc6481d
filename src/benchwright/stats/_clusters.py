"""The spread between rows that have several values."""

from __future__ import annotations

from copy import copy
from math import sqrt


class ClusterMoments:
    """Running moments of (sum, size) over clusters, for the standard error of a mean of clustered values.

    The error of the mean μ is √(G/(G-1) · Σ (sum - size·μ)²) / n over G clusters of n values in all: the
    cluster-robust estimator with the usual small-sample factor. For clusters of equal size it is the standard
    error of the cluster means; for clusters of size 1 the ordinary one. Since μ is also the ratio of the mean sum
    to the mean size, the squares follow from centred moments, which keep their digits where the raw ones lose
    them.
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
        # Sums of size·mean² and size·mean³ over the clusters: how lopsided their means lie.
        self._squares = self._cubes = 0.0

    @classmethod
    def of_singles(cls, count: int, mean: float, squares: float, cubes: float) -> ClusterMoments:
        """Of clusters that have one value each: the moments of those values, and the sum of their cubes."""
        moments = cls()
        moments.count, moments._sum_mean, moments._sum_m2 = count, mean, squares
        moments._size_mean = 1.0 if count else 0.0
        moments._squares, moments._cubes = squares + count * mean * mean, cubes
        return moments

    def add(self, total: float, size: int) -> None:
        """One more cluster: the sum of its values and how many they are. Welford's update, in two dimensions."""
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
        """A copy to which a cluster was added that may still grow."""
        more = copy(self)
        more.add(total, size)
        return more

    @property
    def effective(self) -> float:
        """How many clusters of equal size would tell as much (Kish): all of them where the sizes are equal."""
        if not self._size_m2:  # exact: equal sizes never move the mean
            return float(self.count)
        return self.count / (1 + self._size_m2 / self.count / self._size_mean**2)

    def third(self, mean: float) -> float:
        """Third central moment of the clusters' means, each weighted by its size. `mean` is that of all values. Meant for
        values from 0 to 1: raw sums lose digits of others."""
        values = self.count * self._size_mean
        return (self._cubes - 3 * mean * self._squares) / values + 2 * mean * mean * mean

    def stderr(self, mean: float, values: int) -> float:
        """Standard error of `mean` over `values` values; 0.0 for a single cluster."""
        if self.count < 2:
            return 0.0
        squares = self._sum_m2 - 2 * mean * self._covariance + mean * mean * self._size_m2
        return sqrt(max(0.0, squares) * self.count / (self.count - 1)) / values
