"""Computes intervals of means, percentiles and rates with a block bootstrap, because requests close in time share the
server's state.

Requests in the order of sending are cut into at most 50 blocks of equal size, and whole blocks are drawn with
replacement, so that dependent requests stay together. With b blocks, the ends of the interval are a little further out
than 2.5 % and 97.5 %, because few blocks underestimate the spread: by the factor √(b/(b−1)), and by Student's distribution
instead of the normal one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import ceil, erfc, floor, fsum, log, sqrt
from operator import mul
from random import Random
from typing import Any, TypeAlias

from benchwright.perf._distributions import numbers
from benchwright.stats import FEWEST, binomial_tail, percentile, t_quantile

BLOCKS = 50
"""The most blocks. More would be too short to keep dependent requests together; fewer give an uncertain interval."""
SLICES = 20
"""Number of equal slices of time for the interval of a rate."""
DRAWS = 1_000
SEED = 20_240_229

Interval: TypeAlias = tuple[float, float]
Weights: TypeAlias = tuple[int, ...]
"""How often each block was drawn."""


def block_count(values: int) -> int:
    """Blocks for this many requests."""
    return min(BLOCKS, values)


def block_of(requests: int) -> Any:
    """The block of each of this many requests in order, as an Arrow array; blocks differ in size by one at most.

    >>> block_of(3).to_pylist()
    [0, 1, 2]
    """
    import pyarrow as pa

    blocks = block_count(requests)
    places = bytes(place * blocks // requests for place in range(requests))
    return pa.Array.from_buffers(pa.uint8(), requests, [None, pa.py_buffer(places)])


@lru_cache(maxsize=64)
def draws(blocks: int, seed: int = SEED) -> tuple[Weights, ...]:
    """Draws of as many blocks as there are, with replacement; the same ones every time."""
    random = Random(f"{seed}/{blocks}")
    found = []
    for _ in range(DRAWS):
        drawn = Counter(random.choices(range(blocks), k=blocks))
        found.append(tuple(drawn[block] for block in range(blocks)))
    return tuple(found)


def interval_of(estimates: Sequence[float], blocks: int) -> Interval:
    """The 95 % interval from the estimates of the draws."""
    ordered = sorted(estimates)
    outside = 50 * erfc(t_quantile(blocks - 1) * sqrt(blocks / (blocks - 1)) / sqrt(2))  # percent
    return percentile(ordered, outside), percentile(ordered, 100 - outside)


class Blocked:
    """Values in blocks, for means and percentiles of draws.

    `values` is an Arrow array without nulls, `blocks` the block of each value, never smaller than the one before. `ordered` and
    `order` are the values sorted, and the indices that sort them.
    """

    def __init__(self, values: Any, blocks: Any, ordered: Sequence[float], order: Any, count: int) -> None:
        self.count = count
        self._sizes = [0] * count
        for block, size in Counter(_bytes(blocks)).items():
            self._sizes[block] = size
        self._equal = len(set(self._sizes)) == 1
        flat, ends = numbers(values), list(accumulate(self._sizes))
        self._sums = [fsum(flat[end - size : end]) for size, end in zip(self._sizes, ends, strict=True)]
        self.ordered = ordered
        """The values, sorted."""
        self._blocks = _bytes(blocks.take(order))
        self._cell = max(64, len(blocks) // 4096)
        self._above: list[list[int]] = [[0] * count]

    def mean(self, weights: Weights) -> float:
        """The mean of the drawn blocks."""
        return fsum(map(mul, weights, self._sums)) / self._size(weights)

    def percentile(self, weights: Weights, percent: float) -> float:
        """A percentile of the drawn blocks, by linear interpolation, without sorting them again."""
        size = self._size(weights)
        place = (size - 1) * percent / 100
        below = int(place)
        if below == place or below + 1 == size:
            return self._from_top(weights, size - 1 - below)[0]
        high, low = self._from_top(weights, size - 2 - below)
        return low + (place - below) * (high - low)

    def _size(self, weights: Weights) -> int:
        """How many values were drawn. A draw has as many blocks as there are."""
        return len(self._blocks) if self._equal else sum(map(mul, weights, self._sizes))

    def _from_top(self, weights: Weights, rank: int) -> tuple[float, float]:
        """The value with `rank` drawn values above it, and the next lower one, which may be equal. Counts per block are kept
        at every `cell` values, from the top down as far as needed, so that only one cell must be walked through."""
        while sum(map(mul, weights, self._above[-1])) <= rank:
            self._look_further()
        low, high, seen = 0, len(self._above) - 1, 0  # above[low] has at most `rank` values, above[high] more
        while high - low > 1:
            middle = (low + high) // 2
            found = sum(map(mul, weights, self._above[middle]))
            if found <= rank:
                low, seen = middle, found
            else:
                high = middle
        blocks = self._blocks
        place = len(blocks) - low * self._cell
        while seen <= rank:
            place -= 1
            seen += weights[blocks[place]]
        value = self.ordered[place]
        if seen > rank + 1:  # drawn more than once
            return value, value
        while place > 0:
            place -= 1
            if weights[blocks[place]]:
                return value, self.ordered[place]
        return value, value  # the lowest

    def _look_further(self) -> None:
        end = len(self._blocks) - (len(self._above) - 1) * self._cell
        found = self._above[-1].copy()
        for block, size in Counter(self._blocks[max(0, end - self._cell) : end]).items():
            found[block] += size
        self._above.append(found)


def _bytes(blocks: Any) -> bytes:
    return bytes(memoryview(blocks.buffers()[1])[blocks.offset : blocks.offset + len(blocks)])


def mean_interval(blocked: Blocked, requests: int) -> Interval | None:
    """The interval of the mean; None: too few requests."""
    return _interval(blocked.mean, blocked.count) if requests >= FEWEST else None


def fewest_for(percent: float) -> int:
    """How many requests the interval of a percentile needs: a twelfth more than are needed for the most extreme one to be
    beyond the percentile with 97.5 % certainty.

    >>> [fewest_for(percent) for percent in (50, 90, 95, 99, 99.9)]
    [20, 40, 79, 400, 4009]
    """
    inside = max(percent, 100 - percent) / 100
    return max(FEWEST, ceil(ceil(log(0.025) / log(inside)) * 25 / 23))


def percentile_interval(blocked: Blocked, requests: int, percent: float) -> Interval | None:
    """The interval of a percentile; None: too few requests.

    Draws alone end too early in a tail: the 99th percentile of 400 requests is above the end in 10 % of the tests, not
    2.5 %. So the interval also includes that of ranks, which is exact for independent requests.
    """
    if requests < fewest_for(percent):
        return None
    low, high = _interval(lambda weights: blocked.percentile(weights, percent), blocked.count)
    first, last = quantile_ranks(len(blocked.ordered), percent / 100)
    return min(low, blocked.ordered[first]), max(high, blocked.ordered[last])


@lru_cache(maxsize=64)
def quantile_ranks(n: int, share: float) -> tuple[int, int]:
    """The indices of the ordered values between which a quantile is with 95 % certainty.

    >>> quantile_ranks(400, 0.99), quantile_ranks(100, 0.5)
    ((391, 399), (39, 60))
    """
    spread = sqrt(n * share * (1 - share))
    if spread > 30:  # close to normal; the exact ranks of a million values take seconds
        half = t_quantile(n) * spread
        return max(0, floor(n * share - half) - 1), min(n - 1, ceil(n * share + half))
    last = bisect_left(range(n), True, key=lambda place: binomial_tail(place + 1, n, share) <= 0.025)
    first = bisect_left(range(n), True, key=lambda place: binomial_tail(place + 1, n, share) < 0.975)
    return max(0, first - 1), min(n - 1, last)


def rate_interval(slices: Sequence[float]) -> Interval | None:
    """The interval of a rate, from its values in equal slices of time."""
    if len(slices) < SLICES:
        return None
    return _interval(lambda weights: fsum(map(mul, weights, slices)) / len(slices), len(slices))


def _interval(estimate: Callable[[Weights], float], blocks: int) -> Interval:
    return interval_of([estimate(weights) for weights in draws(blocks)], blocks)
