"""Planned output lengths: the distributions that a meta file may name, and the lengths drawn from them. Pure; every draw
comes from the generator that the caller passes."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from random import Random
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import LengthLaw

LengthOrder: TypeAlias = Literal["shuffled", "blocked"]
"""Whether the lengths of a percentage distribution are mixed, or come one after the other in the written order."""


class OutputLengths(Struct, frozen=True):
    """How long replies may become. Here, only the rows know."""

    @property
    def shortest(self) -> int | None:
        """The shortest possible length; None if only the rows know."""
        return None

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int] | None:
        """The lengths of so many requests, in order; None if only the rows know."""
        return None


class FixedLength(OutputLengths, frozen=True):
    """The same length for every request."""

    value: int
    """Tokens."""

    @property
    def shortest(self) -> int:
        return self.value

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        return [self.value] * count


class UniformLengths(OutputLengths, frozen=True):
    """Whole numbers between two bounds, equally likely."""

    min_value: int
    """Shortest, in tokens."""
    max_value: int
    """Longest, included."""

    @property
    def shortest(self) -> int:
        return self.min_value

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        return [random.randint(self.min_value, self.max_value) for _ in range(count)]


class NormalLengths(OutputLengths, frozen=True):
    """A bell curve, cut off at both ends."""

    mean: float
    """Mean in tokens, before the ends are cut off."""
    stddev: float
    """Standard deviation, before the ends are cut off."""
    min_value: int = 1
    """Shortest, in tokens."""
    max_value: int | None = None
    """Longest, included; None for no end."""

    @property
    def shortest(self) -> int:
        return self.min_value

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        ends = self.min_value, self.max_value
        return [
            round(value) for value in _cut_normal(self.mean, self.stddev, *ends, count, random, log=False)
        ]


class LogNormalLengths(NormalLengths, frozen=True):
    """Many short and a few long lengths, like those of real replies."""

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        # Mean and deviation of the logarithm of a value with this mean and deviation.
        spread = math.sqrt(math.log1p((self.stddev / self.mean) ** 2))
        centre = math.log(self.mean) - spread**2 / 2
        ends = self.min_value, self.max_value
        return [round(value) for value in _cut_normal(centre, spread, *ends, count, random, log=True)]


class ZipfLengths(OutputLengths, frozen=True):
    """Mostly short lengths: the k-th shortest has the weight 1/k^alpha."""

    alpha: float
    """How steeply the weights fall."""
    min_value: int
    """Shortest and likeliest, in tokens."""
    max_value: int
    """Longest, included."""

    @property
    def shortest(self) -> int:
        return self.min_value

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        low, high = self.min_value, self.max_value
        weights = list(accumulate(k**-self.alpha for k in range(1, high - low + 2)))
        last = len(weights) - 1
        return [low + min(bisect_right(weights, random.random() * weights[-1]), last) for _ in range(count)]


class LengthShares(OutputLengths, frozen=True):
    """Several lengths, each for a share of the requests."""

    shares: tuple[tuple[int, Fraction], ...]
    """Length in tokens and its share, exactly as written; the shares add up to 1."""
    order: LengthOrder = "shuffled"
    """Mixed, or one length after the other."""

    @property
    def shortest(self) -> int:
        return min(length for length, _ in self.shares)

    def draw(self, count: int, random: Random, *, compat: bool) -> list[int]:
        counts = share_counts(self, count, compat=compat)
        planned = [
            length for (length, _), times in zip(self.shares, counts, strict=True) for _ in range(times)
        ]
        if self.order == "shuffled":
            random.shuffle(planned)
        return planned


class ColumnLengths(OutputLengths, frozen=True):
    """The length in a column of each row."""

    column: str
    """Column with the length, by its name after field mapping."""


LENGTH_METHODS: dict[str, type[OutputLengths]] = {
    LengthLaw.UNIFORM.value: UniformLengths,
    "percentage": LengthShares,
    LengthLaw.FIXED.value: FixedLength,
    LengthLaw.NORMAL.value: NormalLengths,
    LengthLaw.LOGNORMAL.value: LogNormalLengths,
    LengthLaw.ZIPF.value: ZipfLengths,
    "column": ColumnLengths,
}
"""The distribution for each `output_config.method`."""

LENGTH_PARAMS = {
    method: tuple("percentage_distribute" if name == "shares" else name for name in law.__struct_fields__)
    for method, law in LENGTH_METHODS.items()
}
"""For each method, the keys of `output_config.params`."""


def share_counts(lengths: LengthShares, count: int, *, compat: bool) -> list[int]:
    """How many of `count` requests get each length.

    Requests are distributed by largest remainder: every length gets the whole part of its share, and the rest goes to the
    largest fractions, the first written in a tie. With `compat`, whole parts are those of binary floating-point products
    (0.29 of 100 gives 28), and the rest goes to the last length.

    >>> shares = LengthShares(((100, Fraction(5, 10)), (200, Fraction(3, 10)), (400, Fraction(2, 10))))
    >>> share_counts(shares, 7, compat=False), share_counts(shares, 7, compat=True)
    ([4, 2, 1], [3, 2, 2])
    """
    if compat:
        counts = [int(float(share) * count) for _, share in lengths.shares]
        counts[-1] += count - sum(counts)
        return counts
    quotas = [share * count for _, share in lengths.shares]
    counts = [int(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda at: counts[at] - quotas[at])
    for at in by_remainder[: count - sum(counts)]:
        counts[at] += 1
    return counts


def _cut_normal(
    mean: float, stddev: float, low: int, high: int | None, count: int, random: Random, *, log: bool
) -> list[float]:
    """Values of a normal distribution (of logarithms, with `log`) between two ends, drawn by its inverse. The shape between
    the ends is kept, and no value is drawn in vain."""
    from statistics import NormalDist

    # Half a token beyond each end, so that after rounding the end itself is as likely as its neighbours.
    start, end = low - 0.5, math.inf if high is None else high + 0.5
    if log:
        start, end = math.log(start), math.log(end)
    law = NormalDist(mean, stddev)
    first, last = law.cdf(start), 1.0 if end == math.inf else law.cdf(end)
    values = []
    for _ in range(count):
        at = first + (last - first) * random.random()
        # Too far out for the curve to have any area: use the nearer end.
        value = law.inv_cdf(at) if 0.0 < at < 1.0 else (start if at <= 0.0 else end)
        value = min(max(value, start), end)
        if log:
            value = math.exp(value)
        values.append(min(max(value, low), math.inf if high is None else high))
    return values
