"""Tells whether a group of rows differs from all others: Fisher's exact test of shares, Welch's test of other means.

Rows are independent of each other; several values of one row are not, so every figure is by rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby
from math import exp, lgamma, log, log1p, sqrt
from operator import itemgetter
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.stats._intervals import FEWEST

GroupTest: TypeAlias = Literal["fisher", "welch"]


class RowSums(Struct):
    """Sums over rows, each with one or several values: all that the tests need of a group. Sums of two groups that share no row can
    be added, and those of a part taken away."""

    rows: int = 0
    """Rows that have a value."""
    values: int = 0
    total: float = 0.0
    """Sum of the values, each less the origin."""
    squares: float = 0.0
    """Sum over rows of the square of the row's total."""
    products: float = 0.0
    """Sum over rows of the row's total times the number of its values."""
    sizes: float = 0.0
    """Sum over rows of the square of the number of its values."""
    ones: int = 0
    """Values that are 1."""
    zeros: int = 0
    """Values that are 0."""

    means: dict[float | Fraction, int] | None = {}
    """Rows by their exact mean, while there are at most two means; None if there are more. Sums of floats cannot tell that all
    rows are equal: their rounding errors look like a spread."""

    @classmethod
    def of(cls, values: Sequence[float], clusters: Sequence[int], origin: float) -> RowSums:
        """The sums of rows; `clusters`: the row of each value, those of a row after each other."""
        sums = cls(values=len(values), ones=values.count(1.0), zeros=values.count(0.0))
        rows = [
            [value for _, value in row]
            for _, row in groupby(zip(clusters, values, strict=True), itemgetter(0))
        ]
        for row in rows:
            total, size = sum(value - origin for value in row), len(row)
            sums.rows += 1
            sums.total += total
            sums.squares += total * total
            sums.products += total * size
            sums.sizes += size * size
        sums.means = few_means(map(_exact_mean, rows))
        return sums

    def without(self, part: RowSums) -> RowSums:
        """The sums of the rows that are not in `part`."""
        names = [name for name in self.__struct_fields__ if name != "means"]
        rest = RowSums(*(getattr(self, name) - getattr(part, name) for name in names))
        if self.means is None or part.means is None:
            rest.means = None
        else:
            left = {mean: rows - part.means.get(mean, 0) for mean, rows in self.means.items()}
            rest.means = {mean: rows for mean, rows in left.items() if rows}
        return rest

    @property
    def constant(self) -> bool:
        """Whether all rows have the same mean."""
        return self.means is not None and len(self.means) <= 1

    @property
    def mean(self) -> float:
        """Mean of the values, less the origin."""
        return self.total / self.values

    @property
    def right_or_wrong(self) -> bool:
        """Whether every row has one value, 0 or 1."""
        return self.rows == self.values == self.ones + self.zeros

    @property
    def variance(self) -> float:
        """The variance of the mean, by rows."""
        if self.constant or self.rows < 2:
            return 0.0
        mean = self.mean
        squares = self.squares - 2 * mean * self.products + mean * mean * self.sizes
        return max(0.0, squares) * self.rows / (self.rows - 1) / self.values**2

    def compared_with(self, others: RowSums) -> tuple[float | None, GroupTest]:
        """The two-sided p-value of a difference between the means of two groups of rows, and its test. None if it cannot be tested:
        a side has no rows, or too few to show their spread, or all values of both are equal to each other.

        >>> found, test = RowSums(rows=4, values=4, ones=1, zeros=3).compared_with(RowSums(rows=4, values=4, ones=4))
        >>> round(found, 4), test
        (0.1429, 'fisher')
        """
        if self.right_or_wrong and others.right_or_wrong:
            if not self.rows or not others.rows:
                return None, "fisher"
            return fisher_exact(self.ones, self.zeros, others.ones, others.zeros), "fisher"
        if min(self.rows, others.rows) < FEWEST:
            return None, "welch"
        one, other = self.variance, others.variance
        if not one + other:
            return None, "welch"
        degrees = (one + other) ** 2 / (one**2 / (self.rows - 1) + other**2 / (others.rows - 1))
        return student_two_sided((self.mean - others.mean) / sqrt(one + other), degrees), "welch"


def few_means(means: Iterable[float | Fraction]) -> dict[float | Fraction, int] | None:
    """How often each occurs; None if there are more than two."""
    found: dict[float | Fraction, int] = {}
    for mean in means:
        found[mean] = found.get(mean, 0) + 1
        if len(found) > 2:
            return None
    return found


def _exact_mean(values: Sequence[float]) -> float | Fraction:
    """The mean without rounding: a Fraction equals the float of the same value."""
    return values[0] if min(values) == max(values) else sum(map(Fraction, values)) / len(values)


def fisher_exact(ones: int, zeros: int, other_ones: int, other_zeros: int) -> float:
    """Return twice the smaller tail of the hypergeometric distribution, at most 1: whether two shares differ.

    >>> round(fisher_exact(1, 9, 11, 3), 6)
    0.002759
    """
    size, rest = ones + zeros, other_ones + other_zeros
    marked = ones + other_ones
    least, most = max(0, marked - rest), min(size, marked)

    def term(at: int) -> float:
        return exp(_log_choose(size, at) + _log_choose(rest, marked - at) - _log_choose(size + rest, marked))

    def tail(step: int) -> float:
        chance = total = term(ones)
        at = ones
        while least <= at + step <= most:
            if step > 0:
                chance *= (size - at) / (at + 1) * (marked - at) / (rest - marked + at + 1)
            else:
                chance *= at / (size - at + 1) * (rest - marked + at) / (marked - at + 1)
            at += step
            total += chance
            if chance < 1e-17 * total:
                break
        return total

    return min(1.0, 2 * min(tail(1), tail(-1)))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def student_two_sided(t: float, degrees: float) -> float:
    """Return P(abs(T) > abs(t)) of Student's t, for any degrees of freedom.

    >>> round(student_two_sided(2.0, 10), 6), round(student_two_sided(-1.96, 1e9), 4)
    (0.073388, 0.05)
    """
    return _incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - _incomplete_beta(b, a, 1 - x)
    tiny = 1e-300
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > tiny else tiny)
    found = d
    for m in range(1, 1000):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 + term * d
            d = 1.0 / (d if abs(d) > tiny else tiny)
            c = 1.0 + term / c
            c = c if abs(c) > tiny else tiny
            found *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return min(1.0, front * found)
