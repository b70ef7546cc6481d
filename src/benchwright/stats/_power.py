"""The power of a test: the smallest effect that it detects with a given power, and the rows that an effect needs."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, sqrt

from msgspec import Struct
from msgspec.structs import replace

from benchwright.stats._intervals import Z_95

_MOST_ROWS = 10**9
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
    skew: float = 0.0
    """How much longer the tail of an exact test is than that of a normal one: 1 for rare events, 0 for even odds."""
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

    def reached(self, effect: float, *, alpha: float, power: float, allowed: float = 0.0) -> bool:
        """Whether an effect larger than `allowed` is detected with this power at the one-sided level `alpha`."""
        # Part of what is allowed does not look like a change to a test of that margin.
        changed = effect - 0.75 * allowed
        null = self.variance + self.null_slope * changed if self.null is None else self.null
        true = max(0.0, self.variance + self.true_slope * effect - self.curve * effect * effect)
        certain = normal_quantile(1 - alpha) + self.by_bets * _COST_OF_BETS
        noise = certain * sqrt(self.n * null) + normal_quantile(power) * sqrt(self.n * true)
        longer = self.skew * (certain * certain - 1) / 6  # the first term of Cornish and Fisher's expansion
        return self.n * (effect - allowed) >= noise + self.step + longer


def smallest_effect(spread: Spread, *, alpha: float, power: float, allowed: float = 0.0) -> float | None:
    """Return the smallest effect that is detected with this power; None if not even the largest possible one is.

    >>> found = smallest_effect(Spread(400, 0.2), alpha=0.05, power=0.8)
    >>> round(found, 3)
    0.056
    """
    low, high = allowed, 1.0
    while not spread.reached(high, alpha=alpha, power=power, allowed=allowed):
        if spread.curve or high > 1e150:
            return None
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        reached = spread.reached(middle, alpha=alpha, power=power, allowed=allowed)
        low, high = (low, middle) if reached else (middle, high)
    return high


def rows_needed(
    spread: Spread, effect: float, *, alpha: float, power: float, allowed: float = 0.0
) -> int | None:
    """Return the number of rows from which an effect is detected with this power; None if more than a billion, or never."""

    def enough(n: int) -> bool:
        more = replace(spread, n=n)
        return more.reached(effect, alpha=alpha, power=power, allowed=allowed)

    if effect <= allowed or not enough(_MOST_ROWS):
        return None
    low, high = 1, _MOST_ROWS
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle + 1, high)
    return _rounded_up(low)


def _rounded_up(rows: int) -> int:
    """Round up to three digits; more would suggest that the spread of unseen rows is known."""
    digits = int(10 ** max(0, len(str(rows)) - 3))
    return ceil(rows / digits) * digits


@lru_cache(maxsize=256)
def normal_quantile(share: float) -> float:
    """Return the value below which this share of a normal distribution lies."""
    if share == 0.975:
        return Z_95
    from statistics import NormalDist  # takes 10 ms to import

    return NormalDist().inv_cdf(share)
