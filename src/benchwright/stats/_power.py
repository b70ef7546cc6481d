"""The power of a test: the smallest effect that it detects with a given power, and the rows that an effect needs."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, sqrt

from msgspec import Struct
from msgspec.structs import replace

from benchwright.stats._intervals import Z_95, wilson_interval
from benchwright.stats._tails import binomial_tail

_MOST_ROWS = 10**9
_MUCH_POWER = 0.02
"""Power above the wanted one for which a number of rows is not larger than needed."""
_MOST_COUNTED = 1000
"""Variance of the sum of zeros and ones up to which the power is counted; beyond, its jumps are below 0.01."""
_COST_OF_BETS = 0.55
"""How many standard errors further from the limit a mean must be for the test by betting than for a normal one: 0.5 at a level
of 5 %, 0.65 at 0.05 %, by simulation."""


class Spread(Struct, frozen=True):
    """The figures on which the power of a test depends."""

    n: int
    """Number of rows or pairs."""
    variance: float
    """Variance of one row, or of the difference of a pair."""
    step: float = 0.0
    """Step in which the sum of all rows moves; a discrete test needs one step more to reject."""
    null_slope: float = 0.0
    """How much an effect adds to the variance that the test assumes."""
    true_slope: float = 0.0
    """How much an effect adds to the true variance."""
    curve: float = 0.0
    """How much the square of the effect takes from the true variance; 1 for shares."""

    null: float | None = None
    """The variance that the test assumes if the true values are the observed ones; None: as `variance` and `null_slope` say."""
    by_bets: bool = False
    """Whether the test is valid for every distribution, which costs power."""
    least_share: float | None = None
    """Of zeros and ones: the limit of their share, turned into a minimum. Their power is exact; the other figures only tell
    where to search."""

    def reached(self, effect: float, *, alpha: float, power: float, allowed: float = 0.0) -> bool:
        """Whether an effect larger than `allowed` is detected with this power at the one-sided level `alpha`."""
        # Part of what is allowed does not look like a change to a test of that margin.
        changed = effect - 0.75 * allowed
        null = self.variance + self.null_slope * changed if self.null is None else self.null
        true = max(0.0, self.variance + self.true_slope * effect - self.curve * effect * effect)
        certain = normal_quantile(1 - alpha) + self.by_bets * _COST_OF_BETS
        noise = certain * sqrt(self.n * null) + normal_quantile(power) * sqrt(self.n * true)
        return self.n * (effect - allowed) >= noise + self.step

    def smallest_effect(self, *, alpha: float, power: float, allowed: float = 0.0) -> float | None:
        """Return the smallest effect that is detected with this power; None if not even the largest possible one is.

        >>> found = Spread(400, 0.2).smallest_effect(alpha=0.05, power=0.8)
        >>> round(found, 3)
        0.056
        """
        if self.least_share is not None:
            return _smallest_of_share(self.n, self.least_share, alpha, power)
        low, high = allowed, 1.0
        while not self.reached(high, alpha=alpha, power=power, allowed=allowed):
            if self.curve or high > 1e150:
                return None
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            reached = self.reached(middle, alpha=alpha, power=power, allowed=allowed)
            low, high = (low, middle) if reached else (middle, high)
        return high

    def rows_needed(
        self, effect: float, *, alpha: float, power: float, allowed: float = 0.0, shows: bool = False
    ) -> int | None:
        """Return the number of rows from which an effect is detected with this power; None if more than a billion, or never.
        `shows`: an effect in the good direction, which the end of an interval shows."""
        spread = replace(self, by_bets=False, step=0.0) if shows else self

        def enough(n: int) -> bool:
            more = replace(spread, n=n)
            return more.reached(effect, alpha=alpha, power=power, allowed=allowed)

        if effect <= allowed or not enough(_MOST_ROWS):
            return None
        low, high = 1, _MOST_ROWS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(middle) else (middle + 1, high)
        unit = int(
            10 ** max(0, len(str(low)) - 3)
        )  # more digits would suggest that the spread of unseen rows is known
        rows = ceil(low / unit) * unit
        share = spread.least_share
        if share is None or rows * share * (1 - share) > _MOST_COUNTED:
            return rows
        return _counted_rows(rows, unit, share, effect, alpha, power, shows)


def _counted_rows(
    start: int, unit: int, limit: float, effect: float, alpha: float, power: float, shows: bool
) -> int:
    """Return a number of zeros and ones near `start` that has this power, in steps of the unit. The power of counts rises in
    jumps and falls between them, so the nearest number that has hardly more is taken; failing that, the next that has it."""
    reach = start // 8 // unit * unit
    for away in sorted(range(-reach, reach + 1, unit), key=abs):
        if power <= share_power(start + away, limit, effect, alpha, shows=shows) <= power + _MUCH_POWER:
            return start + away
    while share_power(start, limit, effect, alpha, shows=shows) < power:
        start += unit
    return start


def share_power(n: int, limit: float, effect: float, alpha: float, *, shows: bool = False) -> float:
    """Return the probability that n zeros and ones decide about a minimum of their share, if the true share differs from it
    by the effect: below it, by the exact binomial test at the level `alpha`; or, with `shows`, above it, by the lower end of
    Wilson's interval.

    >>> round(share_power(100, 0.8, 0.1, 0.05), 3)
    0.704
    """
    if shows:
        return binomial_tail(_fewest_hits(n, limit, alpha), n, limit + effect)
    return binomial_tail(_fewest_misses(n, limit, alpha), n, 1 - limit + effect)


def _fewest_misses(n: int, limit: float, alpha: float) -> int:
    """The fewest zeros of n values that show that the share of ones is below the limit; n + 1 if not even n do."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if binomial_tail(middle, n, 1 - limit) < alpha else (middle + 1, high)
    return low


def _fewest_hits(n: int, limit: float, alpha: float) -> int:
    """The fewest ones of n values that show that their share is at least the limit; n + 1 if not even n do."""
    low, high, level = 0, n + 1, 1 - 2 * alpha
    while low < high:
        middle = (low + high) // 2
        enough = middle > n or wilson_interval(middle, n, level)[0] >= limit
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _smallest_of_share(n: int, limit: float, alpha: float, power: float) -> float | None:
    misses = _fewest_misses(n, limit, alpha)
    if misses > n:
        return None
    low, high = 0.0, limit
    for _ in range(40):
        middle = (low + high) / 2
        reached = binomial_tail(misses, n, 1 - limit + middle) >= power
        low, high = (low, middle) if reached else (middle, high)
    return high


@lru_cache(maxsize=256)
def normal_quantile(share: float) -> float:
    """Return the value below which this share of a normal distribution lies."""
    if share == 0.975:
        return Z_95
    from statistics import NormalDist  # takes 10 ms to import

    return NormalDist().inv_cdf(share)
