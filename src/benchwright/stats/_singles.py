"""Statistics of rows with one value each, in one look at the values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import fsum, inf, isfinite, sqrt
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from benchwright.core import MetricSummary
from benchwright.stats._accumulator import LARGEST, MeanSpread, fit, refuse
from benchwright.stats._groups import RowSums, few_means


class Singles(Struct, frozen=True):
    """Rows with one value each: all that their summary and tests need. Its summary is that of a `ScoreAccumulator`, except for the last
    digits of squares and cubes, in a third of the time. Groups that share no row can be joined, which looks at no value again."""

    count: int
    mean: float
    squares: float
    """Sum of the squares of the distances from the mean."""
    cubes: float
    """The same of the cubes."""
    ones: int
    zeros: int
    ends: tuple[float, float]
    """The smallest and the largest value."""
    means: dict[float | Fraction, int] | None
    """As in `RowSums`."""

    @classmethod
    def of_answers(cls, ones: int, zeros: int) -> Singles:
        """So many ones and zeros.

        >>> Singles.of_answers(3, 1).summary().value
        0.75
        """
        count = ones + zeros
        mean, squares = ones / count, ones * zeros / count
        means: dict[float | Fraction, int] = {
            mean: rows for mean, rows in ((1.0, ones), (0.0, zeros)) if rows
        }
        ends = (float(not zeros), float(ones > 0))
        return cls(count, mean, squares, squares * (zeros - ones) / count, ones, zeros, ends, means)

    @classmethod
    def of(cls, values: Sequence[float]) -> Singles:
        """Some values, at least one.

        >>> Singles.of([0.5, 0.75, 1.0]).summary().value
        0.75
        """
        ones, zeros, count = values.count(1.0), values.count(0.0), len(values)
        if ones + zeros == count:
            return cls.of_answers(ones, zeros)
        ends = (float(min(values)), float(max(values)))
        mean = _mean(values, ends)
        apart = [value - mean for value in values]
        squared = list(map(mul, apart, apart))
        return cls(
            count, mean, sum(squared), sum(map(mul, squared, apart)), ones, zeros, ends, few_means(values)
        )

    @classmethod
    def joined(cls, parts: Iterable[Singles], values: Sequence[float]) -> Singles:
        """All of some groups, and their values: these only decide the last digit of the mean."""
        whole, *others = parts
        for part in others:
            whole = whole._with(part)
        return whole if whole.answers else replace(whole, mean=_mean(values, whole.ends))

    def _with(self, other: Singles) -> Singles:
        """Both, by the formulas of Chan, Golub, LeVeque and Pébay."""
        if self.answers and other.answers:
            return Singles.of_answers(self.ones + other.ones, self.zeros + other.zeros)
        one, two, both = self.count, other.count, self.count + other.count
        apart = other.mean - self.mean
        means = None if self.means is None or other.means is None else dict(self.means)
        if means is not None:
            for mean, rows in (other.means or {}).items():
                means[mean] = means.get(mean, 0) + rows
        return Singles(
            both,
            self.mean + apart * two / both,
            self.squares + other.squares + apart * apart * one * two / both,
            self.cubes
            + other.cubes
            + apart * apart * apart * one * two * (one - two) / both / both
            + 3 * apart * (one * other.squares - two * self.squares) / both,
            self.ones + other.ones,
            self.zeros + other.zeros,
            (min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1])),
            None if means is None or len(means) > 2 else means,
        )

    @property
    def answers(self) -> bool:
        """Whether all are ones and zeros."""
        return self.ones + self.zeros == self.count

    def summary(self, *, share: bool = True) -> MetricSummary:
        """The statistics; `share`: as `ScoreAccumulator` has it."""
        n = self.count
        stderr = sqrt(self.squares / (n - 1) / n) if n > 1 else 0.0
        spread = MeanSpread(
            n, self.mean, self.squares, stderr, float(n), self.cubes / n, n, self.answers, self.ends, share
        )
        return spread.summary()

    def rows(self, origin: float) -> RowSums:
        """The sums for tests, of distances from the origin."""
        n, apart = self.count, self.mean - origin
        total, squares = n * apart, self.squares + n * apart * apart
        if self.answers and not origin:  # exactly, as a count says it all
            total = squares = float(self.ones)
        means = None if self.means is None else dict(self.means)
        return RowSums(n, n, total, squares, total, float(n), self.ones, self.zeros, means)


def _mean(values: Sequence[float], ends: tuple[float, float]) -> float:
    total = fsum(values) if ends[0] > -LARGEST and ends[1] < LARGEST else inf
    if not isfinite(total):
        refuse(next(value for value in values if not fit((value,))))
    return min(max(total / len(values), ends[0]), ends[1])
