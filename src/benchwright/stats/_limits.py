"""Test whether a mean, a share or a paired difference meets a limit: one-sided tests.

`side` is 1 for a limit that is a minimum, -1 for a maximum. The null hypothesis is always that the limit is
met, so a small p means that it is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from math import erfc, exp, fsum, inf, log, sqrt
from operator import and_
from typing import TypeAlias

from msgspec import Struct, structs

from benchwright.stats._accumulator import ScoreAccumulator
from benchwright.stats._intervals import FEWEST, UNSEEN, wilson_interval
from benchwright.stats._paired import Ends, difference_ends, without_noise
from benchwright.stats._power import Spread, normal_quantile
from benchwright.stats._skewed import betting_p, unskewed
from benchwright.stats._tails import binomial_tail

_MaybeEnds: TypeAlias = Callable[[float], tuple[float | None, float | None]]
_BINOMIAL = "exact binomial test"
_BETS = "test by betting"
_CORRECTED = "interval of the mean, inverted, corrected for skewness"
_BEYOND = "binomial test of the values beyond the limit"
_MCNEMAR = "McNemar's exact test"
_PAIRED_SHARES = "score test of paired shares"
_FARTHEST = 8.0
"""Number of standard errors up to which p-values can be distinguished; p is 6e-16 there."""


LONG_TAIL = 0.2
"""Skewness divided by the root of the number of rows from which Hall's correction no longer compensates a tail."""


class LimitTest(Struct, frozen=True):
    """A measured figure compared with a limit."""

    value: float
    """The figure itself."""
    low: float | None
    """Lower end of its interval at the requested level; None if there is no basis for one."""
    high: float | None
    """Upper end."""
    p_missed: float | None
    """Probability of a figure at least this far on the wrong side if the limit were just met; None if not tested."""
    test: str
    """The test, in words."""
    spread: Spread
    """Rows and variance, from which the power to find some effect is computed."""
    seen: Spread | None = None
    """The same if the true values are the observed ones; None: `spread` serves for both."""
    tail: float = 0.0
    """Skewness of unbounded values divided by the root of the number of rows; positive for a long upper tail."""

    def doubtful(self, side: int) -> bool:
        """Whether a long tail makes the interval too short on this side: 1 above, -1 below. At 0.2, tests at 5 % say
        "missed" for 4 to 10 of 100 limits that are met, and for more with a longer tail."""
        return side * self.tail > LONG_TAIL

    @property
    def too_few(self) -> bool:
        """Whether the rows are too few to rely on the interval."""
        return self.spread.n < FEWEST

    @property
    def reliable(self) -> bool:
        """Whether p is valid for this number of rows; tests of counts need no estimate of a spread and always are."""
        return not self.too_few or self.test in (_BINOMIAL, _BETS, _BEYOND, _MCNEMAR, _PAIRED_SHARES)

    @classmethod
    def of_mean(
        cls, values: Sequence[Sequence[float]], limit: float, side: int, *, level: float, share: bool = True
    ) -> LimitTest:
        """Test the mean of values, given as a list of repeats for each row. `share`: values cannot lie outside 0 to 1.

        >>> found = LimitTest.of_mean([[1]] * 30 + [[0]] * 20, 0.8, 1, level=0.95)
        >>> found.value, round(found.p_missed, 4), found.test
        (0.6, 0.0009, 'exact binomial test')

        Raises ValueError if there are no values, and for values that cannot be averaged.
        """
        scores = ScoreAccumulator(share=share)
        for number, row in enumerate(values):
            for value in row:
                scores.add(value, number)
        known = scores.summary()
        rows = scores.clusters
        spread = Spread(rows, known.sample_stderr**2 * rows + UNSEEN / rows)
        low, high = scores.interval(_two_sided(level))
        if known.interval == "wilson" and known.count == rows:
            right = round(known.value * known.count)
            p_value = _share_p(right, known.count, limit, side)
            shares = _share_spreads(known.count, known.value, limit, side)
            return cls(known.value, low, high, p_value, _BINOMIAL, *shares)
        means = [fsum(row) / len(row) for row in values]
        if share and known.min >= 0 and known.max <= 1:
            bets, fair = (means, limit) if side > 0 else ([1 - mean for mean in means], 1 - limit)
            # The mean counts every value. So a row bets as much as its share of the values: its distance from the limit shrinks.
            most = max(map(len, values))
            bets = [fair + (bet - fair) * len(row) / most for bet, row in zip(bets, values, strict=True)]
            p_value = 0.0 if _unreachable(limit, side) else betting_p(bets, fair)
            # A miss is assumed to come from rows that fall by a third of the range, which adds to the spread.
            wider = structs.replace(spread, null_slope=0.3, true_slope=0.3, curve=1.0, by_bets=True)
            return cls(known.value, low, high, p_value, _BETS, wider, structs.replace(spread, by_bets=True))
        if low is None:
            return cls(known.value, low, high, None, _CORRECTED, spread)
        skewness = _skewness(means)
        skewed = unskewed((known.value - limit) / (known.sample_stderr or 1e-300), skewness, len(means))
        p_value = max(_inverted(scores.interval, known.value, limit, side), _upper_tail(-side * skewed))
        tail = skewness / sqrt(len(means))
        return cls(known.value, low, high, p_value, _CORRECTED, spread, tail=tail)

    @classmethod
    def of_share(cls, hits: int, n: int, limit: float, side: int, *, level: float) -> LimitTest:
        """Test a share of n items. Raises ValueError if n is 0."""
        if n < 1:
            raise ValueError("no share of nothing")
        found = hits / n
        low, high = wilson_interval(hits, n, level)
        shares = _share_spreads(n, found, limit, side)
        return cls(found, low, high, _share_p(hits, n, limit, side), _BINOMIAL, *shares)

    @classmethod
    def of_gain(
        cls,
        before: Sequence[float],
        after: Sequence[float],
        limit: float,
        *,
        level: float,
        lower_is_better: bool,
        share: bool,
    ) -> LimitTest:
        """Test the mean gain from `before` to `after` over paired rows against a minimum gain, which is negative if a loss is
        allowed. A positive gain is always an improvement.

        >>> found = LimitTest.of_gain([1] * 40, [0] * 9 + [1] * 31, 0.0, level=0.95, lower_is_better=False, share=True)
        >>> found.value, found.p_missed, found.test
        (-0.225, 0.001953125, "McNemar's exact test")

        Raises ValueError if there are no pairs.
        """
        if not before:
            raise ValueError("no pairs to compare")
        if lower_is_better:
            before, after = after, before
        if len(before) != len(after):
            raise ValueError(f"paired values of different length: {len(before)} and {len(after)}")
        gains = without_noise(before, after)
        n = len(gains)
        mean = fsum(gains) / n
        binary = {*before, *after} <= {0, 1}
        bounded = binary or (
            share and min(min(before), min(after)) >= 0 and max(max(before), max(after)) <= 1
        )
        means = fsum(before) / n, fsum(after) / n
        ends, _ = difference_ends(gains, means, binary=binary, bounded=bounded)
        low, high = (None, None) if ends is None else ends(_two_sided(level))
        squares = fsum((gain - mean) ** 2 for gain in gains) / max(1, n - 1)
        spread, seen = Spread(n, squares), None
        if bounded:
            # A loss is assumed to come from rows that fall to 0, beside the changes that cancel each other out. What the observed
            # gain adds to these is left out, as far as it is more than chance.
            raw = fsum(gain * gain for gain in gains) / n
            clear = max(0.0, abs(mean) - sqrt(raw / n))
            fall = 1.0 if binary else means[0]
            spread = Spread(
                n,
                max(0.0, raw - fall * clear) + UNSEEN / n,
                binary * 1.0,
                null_slope=fall,
                true_slope=fall,
                curve=1.0,
            )
            seen = Spread(n, squares, binary * 1.0, null=raw if binary else squares)
        if binary:
            losses, wins = gains.count(-1.0), gains.count(1.0)
            if not limit:
                test, p_value = _MCNEMAR, binomial_tail(losses, losses + wins, 0.5)
            else:
                test, p_value = _PAIRED_SHARES, _paired_share_p(losses, wins, n, limit)
            return cls(mean, low, high, p_value, test, spread, seen)
        p_value_or_none = None if ends is None else _inverted(ends, mean, limit, 1)
        tail = 0.0 if bounded else _skewness(gains) / sqrt(n)
        test = "paired interval of the mean, inverted"
        return cls(mean, low, high, p_value_or_none, test, spread, seen, tail)

    @classmethod
    def of_interval(
        cls, value: float, ends95: tuple[float, float], n: int, limit: float, side: int
    ) -> LimitTest:
        """Test a figure of which only the 95 % interval is known, assuming a normal distribution."""
        error = max((ends95[1] - ends95[0]) / (2 * normal_quantile(0.975)), 1e-300)
        p_value = _upper_tail(side * (limit - value) / error)
        return cls(value, *ends95, p_value, "by its 95 % interval", Spread(n, error * error * n))

    @classmethod
    def of_percentile(
        cls,
        values: Sequence[float],
        percent: float,
        limit: float,
        side: int,
        *,
        value: float,
        ends95: tuple[float, float] | None,
    ) -> LimitTest:
        """Test a percentile of values in the order of their measurement, whose 95 % interval is known if there are enough: if the
        limit is met, at most a known share of the values is beyond it.

        >>> found = LimitTest.of_percentile([191.0] * 30, 99, 150.0, -1, value=191.0, ends95=None)
        >>> found.p_missed < 1e-50, found.reliable
        (True, True)
        """
        beyond = [side * (limit - each) > 0 for each in values]
        share = percent / 100 if side > 0 else 1 - percent / 100
        n, hits = _independent(beyond)
        p_value = binomial_tail(hits, n, share) if values else None
        if ends95 is None:
            return cls(value, None, None, p_value, _BEYOND, Spread(len(values), inf))
        known = cls.of_interval(value, ends95, len(values), limit, side)
        return structs.replace(known, p_missed=p_value, test=_BEYOND)


def _skewness(values: Sequence[float]) -> float:
    n = len(values)
    mean = fsum(values) / n
    spread = sqrt(fsum((value - mean) ** 2 for value in values) / n)
    return fsum((value - mean) ** 3 for value in values) / n / spread**3 if spread else 0.0


def _independent(flags: Sequence[bool]) -> tuple[int, int]:
    """As how many independent flags these count, and how many of those are set: flags that are set in a row, such as requests
    that waited in one queue, tell less."""
    n, hits = len(flags), sum(flags)
    if not 0 < hits < n:
        return n, hits
    mean = hits / n
    together = sum(map(and_, flags, islice(flags, 1, None))) / max(1, n - 1)
    alike = min(0.95, max(0.0, (together - mean * mean) / (mean * (1 - mean))))
    part = (1 - alike) / (1 + alike)
    return max(1, int(n * part)), int(hits * part)


def _share_spreads(n: int, found: float, limit: float, side: int) -> tuple[Spread, Spread]:
    """Return the spread of zeros and ones whose share is exactly the limit, and of those whose share is the one found."""
    at_limit = max(0.0, limit * (1 - limit))
    least = (limit if side > 0 else 1 - limit) if 0 <= limit <= 1 else None
    return (
        Spread(n, at_limit, 0.5, true_slope=side * (2 * limit - 1), curve=1.0, least_share=least),
        Spread(n, found * (1 - found), 0.5, null=at_limit, least_share=least),
    )


def _unreachable(limit: float, side: int) -> bool:
    """Whether no share meets the limit."""
    return limit > 1 if side > 0 else limit < 0


def _share_p(hits: int, n: int, limit: float, side: int) -> float:
    if _unreachable(limit, side):
        return 0.0
    return binomial_tail(n - hits, n, 1 - limit) if side > 0 else binomial_tail(hits, n, limit)


def _paired_share_p(losses: int, wins: int, n: int, limit: float) -> float:
    """Return the tail of losses - wins at the limit, with the likeliest share of wins there, by Lugannani and
    Rice's expansion: the normal approximation is too small if few pairs differ and many tests are corrected."""
    excess, net = -limit, losses - wins
    # The likeliest share of wins if losses exceed them by `excess`, from the quadratic equation (4) of Tango.
    half = losses + wins - (2 * n - losses + wins) * excess
    win = (sqrt(max(0.0, half * half + 8 * n * wins * excess * (1 - excess))) + half) / (4 * n)
    win = min(max(win, 0.0), (1 - excess) / 2)
    loss = win + excess
    variance = loss + win - excess * excess
    if net <= -n or variance <= 0:
        return 1.0
    if net - n * excess <= 0.5:  # the expansion is only valid in the tail; p is large here anyway
        return _upper_tail((net - n * excess) / sqrt(n * variance))
    at = min(net, n - 1e-9) / n

    def moments(t: float) -> tuple[float, float, float]:
        up, down, stay = loss * exp(t), win * exp(-t), max(0.0, 1 - loss - win)
        total = up + down + stay
        mean = (up - down) / total
        return log(total), mean, (up + down) / total - mean * mean

    low, high = 0.0, 1.0
    while moments(high)[1] < at and high < 60:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moments(middle)[1] < at else (low, middle)
    generated, _, curvature = moments(high)
    rooted = 2 * n * (high * at - generated)
    if rooted < 1e-6 or curvature <= 0:
        return _upper_tail((net - n * excess - 0.5) / sqrt(n * variance))
    root = sqrt(rooted)
    other = (1 - exp(-high)) * sqrt(n * curvature)  # the form for whole numbers
    density = exp(-root * root / 2) / 2.5066282746310002
    return min(1.0, max(0.0, _upper_tail(root) + density * (1 / other - 1 / root)))


def _inverted(ends: _MaybeEnds | Ends, value: float, limit: float, side: int) -> float:
    """Return p from the level at which the end of the interval reaches the limit."""
    missed = side * (limit - value) > 0
    upper = (side > 0) == missed
    low, high = 0.0, _FARTHEST
    for _ in range(40):
        middle = (low + high) / 2
        end = ends(middle)[1 if upper else 0]
        beyond = end is not None and (end - limit) * (1 if upper else -1) >= 0
        low, high = (low, middle) if beyond else (middle, high)
    p_value = _upper_tail(low)
    return p_value if missed else 1 - p_value


def _two_sided(level: float) -> float:
    return normal_quantile((1 + level) / 2)


def _upper_tail(z: float) -> float:
    return erfc(z / sqrt(2)) / 2
