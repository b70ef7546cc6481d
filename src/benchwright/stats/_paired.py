"""Whether two measurements of the same samples differ: exact tests and intervals on the differences.

Numbers in, numbers out. Every interval is of the mean difference b - a; every test is two-sided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, erfc, sqrt
from typing import Literal

from benchwright.stats._intervals import Z_95

RESAMPLES = 10_000
"""Resamples of a bootstrap, as long as that is affordable."""

_DRAWS = 10_000_000
"""Most draws of one bootstrap: about a second and a half. Beyond it there are fewer resamples, and that is said."""
_FEWEST_RESAMPLES = 1_000
_NORMAL_FROM = 10_000
"""From so many pairs on, the mean's own normal interval stands in: the bootstrap would say the same."""
_EXACT_RANKS = 25
"""Up to so many untied differences, the signed-rank test counts all sign patterns."""


@dataclass(frozen=True, slots=True)
class PairedResult:
    """What a comparison of paired values found."""

    pairs: int
    """Samples measured by both sides."""
    mean_a: float
    """Mean of the first side over those samples."""
    mean_b: float
    """Mean of the second side."""
    difference: float
    """mean_b - mean_a."""
    ci_low: float
    """Lower end of the 95 % interval of the difference."""
    ci_high: float
    """Upper end."""
    interval: Literal["bootstrap", "normal", "exact"]
    """How the interval was computed; `exact` when no pair differs."""
    resamples: int
    """Resamples of the bootstrap; 0 for other intervals."""
    p_value: float
    """Two-sided probability of a difference at least this large if the sides were alike."""
    test: Literal["mcnemar", "wilcoxon"]
    """McNemar's exact test for right-or-wrong values, Wilcoxon's signed-rank test for others."""
    wins: int
    """Samples where b is higher."""
    losses: int
    """Samples where b is lower."""
    ties: int
    """Samples where both are equal."""

    @property
    def significant(self) -> bool:
        """Whether the test tells the sides apart at 5 %."""
        return self.p_value < 0.05


def compare_pairs(a: Sequence[float], b: Sequence[float], *, seed: int = 42) -> PairedResult:
    """Compare two measurements of the same samples, in the same order.

    >>> result = compare_pairs([0, 0, 0, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 0])
    >>> result.wins, result.losses, result.test, result.p_value
    (6, 0, 'mcnemar', 0.03125)

    Raises ValueError for sides of different length, or without any pair.
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
    low, high, how, resamples = _interval(differences, seed)
    mean_a, mean_b = sum(a) / n, sum(b) / n
    return PairedResult(
        pairs=n,
        mean_a=mean_a,
        mean_b=mean_b,
        difference=mean_b - mean_a,
        ci_low=low,
        ci_high=high,
        interval=how,
        resamples=resamples,
        p_value=p_value,
        test="mcnemar" if binary else "wilcoxon",
        wins=wins,
        losses=losses,
        ties=n - wins - losses,
    )


def mcnemar_exact(wins: int, losses: int) -> float:
    """McNemar's exact test: only the pairs that differ tell, and each way is as likely if the sides are alike.

    >>> mcnemar_exact(10, 2)
    0.03857421875
    """
    total = wins + losses
    if total == 0:
        return 1.0
    fewer = min(wins, losses)
    if total > 2_000:  # the binomial's tail, with the usual correction: whole numbers of this size take long
        return _normal_two_sided((abs(wins - losses) - 1) / sqrt(total))
    tail = sum(comb(total, k) for k in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << total))


def wilcoxon_signed_rank(differences: Sequence[float]) -> float:
    """Wilcoxon's signed-rank test; zeros are left out, equal sizes share their mean rank.

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
        end = at
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
    """Sign patterns of the ranks 1…n whose positive ranks sum to at most `limit`."""
    counts = [1] + [0] * limit
    for rank in range(1, n + 1):
        for total in range(limit, rank - 1, -1):
            counts[total] += counts[total - rank]
    return sum(counts)


def _interval(
    differences: Sequence[float], seed: int
) -> tuple[float, float, Literal["bootstrap", "normal", "exact"], int]:
    n = len(differences)
    mean = sum(differences) / n
    if len(set(differences)) == 1:
        # Nothing to resample: the data show no spread, and only their number limits what is known.
        return mean, mean, "exact", 0
    if n >= _NORMAL_FROM:
        error = sqrt(sum((d - mean) ** 2 for d in differences) / (n - 1) / n)
        return mean - Z_95 * error, mean + Z_95 * error, "normal", 0
    from random import Random

    resamples = max(_FEWEST_RESAMPLES, min(RESAMPLES, _DRAWS // n))
    draw = Random(seed).choices
    means = sorted(sum(draw(differences, k=n)) / n for _ in range(resamples))
    return means[int(0.025 * resamples)], means[int(0.975 * resamples) - 1], "bootstrap", resamples


def _normal_two_sided(z: float) -> float:
    return min(1.0, erfc(max(0.0, z) / sqrt(2)))
