"""Test whether two measurements of the same samples differ: exact tests, and intervals of the differences.

Numbers in, numbers out. Every interval is of the mean difference b - a; every test is two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from math import erfc, fsum, gcd, hypot, sqrt
from operator import mul, sub
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from benchwright.stats._intervals import FEWEST, UNSEEN, Z_95, rule_of_three
from benchwright.stats._tails import binomial_tail

PairedInterval: TypeAlias = Literal["score", "normal", "none"]
"""How the interval of a difference was computed; docs/comparing.md has the formulas."""
Ends: TypeAlias = Callable[[float], tuple[float, float]]
"""A function from the normal quantile of a level to both ends of the interval."""

_ENOUGH_DIFFER = 15
"""Number of differing pairs from which their spread is estimated; fewer say too little about it."""
_SAME_DIGITS = 1e-10
"""Scores that differ by no more than this part of themselves are equal: sums in another order differ in their last bits."""
_SAME_SCALE = 1e-13
"""Scores that differ by no more than this part of the largest score are equal: 0.1 + 0.2 - 0.3 is not 0."""
_EXACT_WORK = 2e9
"""Bits to add up to which the signed-rank test counts all sign patterns: about 200 differences of unequal size, or 1,000
of equal size."""


class PairedResult(Struct, frozen=True):
    """The result of a comparison of paired values."""

    pairs: int
    """Number of samples measured by both sides."""
    mean_a: float
    """Mean of the first side over those samples."""
    mean_b: float
    """Mean of the second side."""
    difference: float
    """mean_b - mean_a."""
    ci_low: float | None
    """Lower end of the 95 % interval of the difference; None if there are too few pairs for one."""
    ci_high: float | None
    """Upper end."""
    interval: PairedInterval
    """How the interval was computed; `none`: there is no basis for one."""
    p_value: float
    """Two-sided probability of a difference at least this large if the sides did not differ."""
    test: Literal["mcnemar", "wilcoxon"]
    """McNemar's exact test for right-or-wrong values, Wilcoxon's signed-rank test for others."""
    wins: int
    """Number of samples where b is higher; where less is better, `turned` makes it those where b is lower."""
    losses: int
    """Number of samples where b is lower, or higher if less is better."""
    ties: int
    """Number of samples where both are equal, or differ by no more than the tolerance."""
    leaning: Literal[-1, 0, 1] = 0
    """The sign of the change that the test finds: of most ranks, or of most pairs that differ. It may not be the sign of the
    mean difference, if few samples change much and many others a little in the other direction."""

    @property
    def too_few(self) -> bool:
        """Whether the pairs are too few to rely on the interval."""
        return self.pairs < FEWEST

    @property
    def differing(self) -> int:
        """Pairs whose sides are not equal."""
        return self.wins + self.losses

    @property
    def significant(self) -> bool:
        """Whether the test distinguishes the sides at 5 %."""
        return self.p_value < 0.05

    def turned(self) -> PairedResult:
        """The same result for a metric where less is better: a sample is won where b is lower."""
        return replace(self, wins=self.losses, losses=self.wins)

    @classmethod
    def of(
        cls, a: Sequence[float], b: Sequence[float], *, share: bool = True, tolerance: float = 0.0
    ) -> PairedResult:
        """Compare two measurements of the same samples, in the same order. `share`: values seen between 0 and 1 cannot lie
        outside that range; False for latencies, for example. `tolerance`: pairs that differ by no more than this are ties.

        Values that differ only by the rounding of floating-point numbers are equal: to ten digits, or to 13 digits of the
        largest value.

        >>> result = PairedResult.of([0, 0, 0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0])
        >>> result.wins, result.losses, result.test, result.p_value
        (6, 0, 'mcnemar', 0.03125)

        Raises ValueError if the sides differ in length or there are no pairs.
        """
        if len(a) != len(b):
            raise ValueError(f"paired values of different length: {len(a)} and {len(b)}")
        if not a:
            raise ValueError("no pairs to compare")
        n = len(a)
        binary = {*a, *b} <= {0, 1}
        differences = without_noise(a, b)
        if binary:
            wins, losses = differences.count(1.0), differences.count(-1.0)
            if tolerance >= 1:
                wins = losses = 0
            p_value, leaning = mcnemar_exact(wins, losses), _sign(wins - losses)
        else:
            allowed = tolerance * (1 + _SAME_DIGITS)
            tested = [
                (d, e) for d, e in zip(differences, _noise(a, b), strict=True) if d and abs(d) > allowed
            ]
            wins = sum(d > 0 for d, _ in tested)
            losses = len(tested) - wins
            p_value, leaning = _signed_ranks(tested)
        bounded = binary or (share and min(min(a), min(b)) >= 0 and max(max(a), max(b)) <= 1)
        mean_a, mean_b = fsum(a) / n, fsum(b) / n
        low, high, how = difference_interval(differences, (mean_a, mean_b), binary=binary, bounded=bounded)
        return cls(
            pairs=n,
            mean_a=mean_a,
            mean_b=mean_b,
            difference=fsum(differences) / n,
            ci_low=low,
            ci_high=high,
            interval=how,
            p_value=p_value,
            test="mcnemar" if binary else "wilcoxon",
            wins=wins,
            losses=losses,
            ties=n - wins - losses,
            leaning=leaning,
        )


def same_score(a: float, b: float, tolerance: float = 0.0) -> bool:
    """Whether two scores differ by no more than the tolerance and the rounding of floating-point numbers.

    >>> same_score(0.3, 0.1 + 0.2), same_score(0.3, 0.4, 0.1), same_score(0.3, 0.4)
    (True, True, False)
    """
    return abs(b - a) <= max(tolerance * (1 + _SAME_DIGITS), _SAME_DIGITS * max(abs(a), abs(b)), _SAME_SCALE)


def without_noise(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """Return the differences b - a of pairs, with 0 for those that come from rounding.

    >>> without_noise([0.3, 0.5], [0.1 + 0.2, 0.75])
    [0.0, 0.25]
    """
    differences = list(map(sub, map(float, b), map(float, a)))
    most = max(map(abs, chain(a, b)), default=0.0) * _SAME_DIGITS
    if all(map(most.__lt__, filter(None, map(abs, differences)))):  # usually: scores have few digits
        return differences
    return [d if abs(d) > e else 0.0 for d, e in zip(differences, _noise(a, b), strict=True)]


def _noise(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """The difference up to which the values of each pair are equal."""
    sizes = list(map(max, map(abs, a), map(abs, b)))
    least = max(sizes) * _SAME_SCALE
    return [noise if (noise := size * _SAME_DIGITS) > least else least for size in sizes]


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return p of McNemar's exact test, which uses only the pairs that differ: both directions are equally likely if
    the sides do not differ.

    >>> mcnemar_exact(10, 2)
    0.03857421875
    """
    return min(1.0, 2 * binomial_tail(max(wins, losses), wins + losses, 0.5))


def wilcoxon_signed_rank(differences: Sequence[float]) -> float:
    """Return p of Wilcoxon's signed-rank test; zeros are left out, and sizes that are equal but for rounding share their mean
    rank.

    Up to about 200 differences (1,000 if all have the same size), p is exact: the share of all patterns of signs, with these
    ranks, whose sum is at least as far from the middle. For more, the normal approximation with the correction for ties
    and for continuity.

    >>> wilcoxon_signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), wilcoxon_signed_rank([1 / 3] * 5)
    (0.03125, 0.0625)
    """
    sizes = [abs(float(d)) for d in differences]
    least = max(sizes, default=0.0) * _SAME_SCALE
    noise = [max(size * _SAME_DIGITS, least) for size in sizes]
    return _signed_ranks([(float(d), e) for d, e in zip(differences, noise, strict=True) if abs(d) > least])[
        0
    ]


def _signed_ranks(differences: Sequence[tuple[float, float]]) -> tuple[float, Literal[-1, 0, 1]]:
    """Return p of the signed-rank test of differences that are not 0, each with its noise, and the direction of most ranks."""
    n = len(differences)
    if not n:
        return 1.0, 0
    kept = sorted(differences, key=lambda each: abs(each[0]))
    groups: list[tuple[int, int]] = []  # twice the rank, and how many share it
    plus = at = tied = 0
    for end in _ends_of_ties(kept):
        twice, size = at + 1 + end, end - at
        groups.append((twice, size))
        plus += twice * (kept[at][0] > 0 if size == 1 else sum(d > 0 for d, _ in kept[at:end]))
        tied += size**3 - size
        at = end
    total = n * (n + 1)
    smaller = min(plus, total - plus)
    unit = gcd(*(twice for twice, _ in groups))
    leaning = _sign(2 * plus - total)
    bits = n + 1
    if total // unit * bits * n <= _EXACT_WORK:
        return min(1.0, 2 * _patterns_up_to(smaller // unit, groups, unit, n) / (1 << n)), leaning
    spread = sqrt(n * (n + 1) * (2 * n + 1) / 24 - tied / 48)
    return _normal_two_sided((total / 2 - smaller - unit / 2) / 2 / spread), leaning


def _ends_of_ties(kept: Sequence[tuple[float, float]]) -> Iterator[int]:
    """Where each group of differences whose sizes are equal but for noise ends."""
    last, last_noise = abs(kept[0][0]), kept[0][1]
    for at, (difference, noise) in enumerate(kept):
        size = abs(difference)
        if size - last > noise and size - last > last_noise:
            yield at
        last, last_noise = size, noise
    yield len(kept)


def _patterns_up_to(limit: int, groups: Sequence[tuple[int, int]], unit: int, n: int) -> int:
    """Count the sign patterns whose positive ranks sum to at most `limit`.

    The counts of all sums are the coefficients of the product of 1 + x^rank over all ranks. They are held in one
    integer, each in as many bytes as 2ⁿ needs, since Python adds long integers quickly.
    """
    width = n // 8 + 1
    counts = 1
    beyond = (1 << (8 * width * (limit + 1))) - 1
    for rank, size in groups:
        shift = 8 * width * (rank // unit)
        for _ in range(size):
            counts = (counts + (counts << shift)) & beyond
    held = counts.to_bytes(width * (limit + 1), "little")
    return sum(int.from_bytes(held[at : at + width], "little") for at in range(0, len(held), width))


def _sign(value: float) -> Literal[-1, 0, 1]:
    return 1 if value > 0 else -1 if value < 0 else 0


def difference_interval(
    differences: Sequence[float], means: tuple[float, float], *, binary: bool, bounded: bool
) -> tuple[float | None, float | None, PairedInterval]:
    """Compute the 95 % interval of the mean of paired differences, and return it with its method.

    Args:
        differences: The differences b - a of the pairs.
        means: The means of a and of b.
        binary: Whether the paired values are all zeros and ones.
        bounded: Whether they are limited to the range 0 to 1.
    """
    ends, how = difference_ends(differences, means, binary=binary, bounded=bounded)
    return (None, None, how) if ends is None else (*ends(Z_95), how)


def difference_ends(
    differences: Sequence[float], means: tuple[float, float], *, binary: bool, bounded: bool
) -> tuple[Ends | None, PairedInterval]:
    """Like `difference_interval`, but for every level: return a function from the level's normal quantile to both ends."""
    n = len(differences)
    if binary or n < FEWEST or sum(map(bool, differences)) < _ENOUGH_DIFFER:
        return (score_ends(differences), "score") if bounded else (None, "none")
    # The largest difference is counted once more, half of it each way: samples tend to miss the tail, and pairs that
    # all differ by the same amount must not give an interval of width 0.
    least, most = min(differences), max(differences)
    largest = max(-least, most)
    total = fsum(differences)
    mean = total / (n + 1)
    raw = fsum(map(mul, differences, differences))
    spread = sqrt(max(0.0, raw + largest * largest - (n + 1) * mean * mean) / n / (n + 1))
    if not bounded:
        return (lambda z: (mean - z * spread, mean + z * spread)), "normal"
    # Pairs in which one value falls to 0 or rises to 1 may have been missed if they would differ more than all others.
    found = total / n
    error = sqrt(max(0.0, raw - total * found) / (n - 1) / n)
    lost = max(0.0, max(means[0], 1 - means[1]) + least)
    gained = max(0.0, max(means[1], 1 - means[0]) - most)

    def ends(z: float) -> tuple[float, float]:
        three = rule_of_three(z)
        share = three / (n + three)
        low = min(mean - z * spread, found - hypot(z * error, share * lost))
        high = max(mean + z * spread, found + hypot(z * error, share * gained))
        return max(-1.0, low), min(1.0, high)

    return ends, "normal"


def score_of(differences: Sequence[float]) -> tuple[float, Callable[[float], float]]:
    """Return the difference found, and Tango's score of paired shares (Statistics in Medicine 17, 1998): how many
    standard errors another difference is from it. If differences are fractions, an effective number of pairs is used."""
    gained = fsum(d for d in differences if d > 0)
    lost = -fsum(d for d in differences if d < 0)
    # The square of a difference of at most 1 is at most the difference; this is the ratio of the two.
    part = min(1.0, (fsum(d * d for d in differences) + UNSEEN) / (gained + lost + UNSEEN))
    gained, lost, n = gained / part, lost / part, len(differences) / part

    def score(difference: float) -> float:
        # The likeliest share of losses if `difference` were the true one, from the quadratic equation (4) of Tango.
        half = gained + lost - (2 * n - gained + lost) * difference
        losses = (sqrt(max(0.0, half * half + 8 * n * lost * difference * (1 - difference))) + half) / (4 * n)
        variance = n * (2 * losses + difference * (1 - difference))
        return abs(gained - lost - n * difference) / sqrt(max(variance, 1e-300))

    return (gained - lost) / n, score


def score_ends(differences: Sequence[float]) -> Ends:
    """Return a function from the normal quantile of a level to both ends of Tango's interval."""
    found, score = score_of(differences)

    def end(near: float, far: float, z: float) -> float:
        for _ in range(40):
            middle = (near + far) / 2
            if score(middle) < z:
                near = middle
            else:
                far = middle
        return near

    return lambda z: (end(found, -1.0, z), end(found, 1.0, z))


def _normal_two_sided(z: float) -> float:
    return min(1.0, erfc(max(0.0, z) / sqrt(2)))
