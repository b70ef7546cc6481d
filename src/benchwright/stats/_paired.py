"""Test whether two measurements of the same samples differ: exact tests, and intervals of the differences.

Numbers in, numbers out. Every interval is of the mean difference b - a; every test is two-sided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb, erfc, fsum, hypot, sqrt
from operator import mul
from typing import Literal, TypeAlias

from benchwright.stats._intervals import FEWEST, UNSEEN, Z_95, rule_of_three

PairedInterval: TypeAlias = Literal["score", "normal", "none"]
"""How the interval of a difference was computed; docs/comparing.md has the formulas."""
Ends: TypeAlias = Callable[[float], tuple[float, float]]
"""A function from the normal quantile of a level to both ends of the interval."""

_ENOUGH_DIFFER = 15
"""Number of differing pairs from which their spread is estimated; fewer say too little about it."""
_EXACT_RANKS = 25
"""Number of untied differences up to which the signed-rank test counts all sign patterns."""


@dataclass(frozen=True, slots=True)
class PairedResult:
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
    """Number of samples where b is higher."""
    losses: int
    """Number of samples where b is lower."""
    ties: int
    """Number of samples where both are equal."""

    @property
    def too_few(self) -> bool:
        """Whether the pairs are too few to rely on the interval."""
        return self.pairs < FEWEST

    @property
    def significant(self) -> bool:
        """Whether the test distinguishes the sides at 5 %."""
        return self.p_value < 0.05


def compare_pairs(a: Sequence[float], b: Sequence[float], *, share: bool = True) -> PairedResult:
    """Compare two measurements of the same samples, in the same order. `share`: values seen between 0 and 1 cannot lie
    outside that range; False for latencies, for example.

    >>> result = compare_pairs([0, 0, 0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0])
    >>> result.wins, result.losses, result.test, result.p_value
    (6, 0, 'mcnemar', 0.03125)

    Raises ValueError if the sides differ in length or there are no pairs.
    """
    if len(a) != len(b):
        raise ValueError(f"paired values of different length: {len(a)} and {len(b)}")
    if not a:
        raise ValueError("no pairs to compare")
    differences = [float(y) - float(x) for x, y in zip(a, b, strict=True)]
    n = len(differences)
    wins = sum(1 for d in differences if d > 0)
    losses = sum(1 for d in differences if d < 0)
    binary = {*a, *b} <= {0, 1}
    p_value = mcnemar_exact(wins, losses) if binary else wilcoxon_signed_rank(differences)
    bounded = binary or (share and min(min(a), min(b)) >= 0 and max(max(a), max(b)) <= 1)
    mean_a, mean_b = fsum(a) / n, fsum(b) / n
    low, high, how = difference_interval(differences, (mean_a, mean_b), binary=binary, bounded=bounded)
    return PairedResult(
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
    )


def mcnemar_exact(wins: int, losses: int) -> float:
    """Return p of McNemar's exact test, which uses only the pairs that differ: both directions are equally likely if
    the sides do not differ.

    >>> mcnemar_exact(10, 2)
    0.03857421875
    """
    total = wins + losses
    if total == 0:
        return 1.0
    fewer = min(wins, losses)
    if total > 2_000:  # normal tail with continuity correction, since exact integers of this size are slow
        return _normal_two_sided((abs(wins - losses) - 1) / sqrt(total))
    tail = sum(comb(total, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << total))


def wilcoxon_signed_rank(differences: Sequence[float]) -> float:
    """Return p of Wilcoxon's signed-rank test; zeros are left out, and equal sizes share their mean rank.

    Exact for up to 25 untied differences, else the normal approximation with the correction for ties and for
    continuity.

    >>> wilcoxon_signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    0.03125
    """
    kept = sorted((abs(d), d > 0) for d in differences if d != 0)
    n = len(kept)
    if n == 0:
        return 1.0
    plus = 0.0
    tied = 0
    at = 0
    while at < n:
        end = at + 1
        while end < n and kept[end][0] == kept[at][0]:
            end += 1
        rank = (at + 1 + end) / 2
        plus += rank * sum(1 for _, positive in kept[at:end] if positive)
        size = end - at
        tied += size**3 - size
        at = end
    smaller = min(plus, n * (n + 1) / 2 - plus)
    if n <= _EXACT_RANKS and not tied:
        return min(1.0, 2 * _patterns_up_to(int(smaller), n) / (1 << n))
    centre = n * (n + 1) / 4
    spread = sqrt(n * (n + 1) * (2 * n + 1) / 24 - tied / 48)
    return _normal_two_sided(max(0.0, centre - smaller - 0.5) / spread) if spread else 1.0


def _patterns_up_to(limit: int, n: int) -> int:
    """Count the sign patterns of the ranks 1…n whose positive ranks sum to at most `limit`."""
    counts = [1] + [0] * limit
    for rank in range(1, n + 1):
        for total in range(limit, rank - 1, -1):
            counts[total] += counts[total - rank]
    return sum(counts)


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
