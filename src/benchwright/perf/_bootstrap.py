"""Intervals of means, percentiles and rates by drawing blocks of neighbours, which share the server's state at their time.

Requests in the order of their sending are cut into at most 50 blocks of equal size; whole blocks are drawn with
replacement, so that what depends on each other stays together. With b blocks the ends of the interval are taken a little
further out than at 2.5 % and 97.5 %: few blocks show less of the spread than there is, by the factor √(b/(b−1)) and by
Student's law instead of the normal one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from math import erfc, fsum, sqrt
from operator import mul
from random import Random
from typing import Any, TypeAlias

from benchwright.perf._distributions import numbers, percentile
from benchwright.stats import FEWEST, t_quantile

BLOCKS = 50
"""Most blocks. More would be shorter than what depends on each other; fewer give an uncertain interval."""
SLICES = 20
"""Equal slices of time of which a rate is the mean."""
DRAWS = 1_000
FEWEST_FOR_P99 = 400
"""Below 368 values, not even the largest of them is above the 99th percentile with 97.5 % certainty."""
SEED = 20_240_229

Interval: TypeAlias = tuple[float, float]
Weights: TypeAlias = tuple[int, ...]
"""How often each block was drawn."""


def block_count(values: int) -> int:
    """Blocks for so many requests."""
    return min(BLOCKS, values)


def block_of(requests: int) -> Any:
    """The block of each of so many requests in order, as an Arrow array; blocks differ in size by one at most.

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
    """The 95 % interval out of what the draws gave."""
    ordered = sorted(estimates)
    outside = 50 * erfc(t_quantile(blocks - 1) * sqrt(blocks / (blocks - 1)) / sqrt(2))  # percent
    return percentile(ordered, outside), percentile(ordered, 100 - outside)


class Blocked:
    """Values in blocks: what means and 99th percentiles of draws are computed from.

    `values` is an Arrow array without nulls, `blocks` the block of each value, never smaller than the one before. `ordered` and
    `order` are the values sorted, and the indices that sort them.
    """

    def __init__(self, values: Any, blocks: Any, ordered: Sequence[float], order: Any, count: int) -> None:
        self.count = count
        self._sizes = [0] * count
        for block, size in Counter(_bytes(blocks)).items():
            self._sizes[block] = size
        flat, ends = numbers(values), list(accumulate(self._sizes))
        self._sums = [fsum(flat[end - size : end]) for size, end in zip(self._sizes, ends, strict=True)]
        self._ordered = ordered
        self._blocks = _bytes(blocks.take(order))
        self._cell = max(64, len(blocks) // 4096)
        self._above: list[list[int]] = [[0] * count]

    def mean(self, weights: Weights) -> float:
        """Of the drawn blocks."""
        size: int = sum(map(mul, weights, self._sizes))
        return fsum(map(mul, weights, self._sums)) / size

    def p99(self, weights: Weights) -> float:
        """99th percentile of the drawn blocks."""
        return self.percentile(weights, 99)

    def percentile(self, weights: Weights, percent: float) -> float:
        """A percentile of the drawn blocks, by linear interpolation, without sorting them again."""
        size: int = sum(map(mul, weights, self._sizes))
        place = (size - 1) * percent / 100
        below = int(place)
        if below == place or below + 1 == size:
            return self._from_top(weights, size - 1 - below)[0]
        high, low = self._from_top(weights, size - 2 - below)
        return low + (place - below) * (high - low)

    def _from_top(self, weights: Weights, rank: int) -> tuple[float, float]:
        """The value that has `rank` drawn values above it, and the next lower one, which may be equal. Counts per block at
        every `cell` values are kept, from the top down as far as ever needed; a search among them leaves one cell to walk
        through."""
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
        value = self._ordered[place]
        if seen > rank + 1:  # drawn more than once
            return value, value
        while place > 0:
            place -= 1
            if weights[blocks[place]]:
                return value, self._ordered[place]
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
    """Of the mean; None: too few requests."""
    return _interval(blocked.mean, blocked.count) if requests >= FEWEST else None


def p99_interval(blocked: Blocked, requests: int) -> Interval | None:
    """Of the 99th percentile; None: too few requests."""
    return _interval(blocked.p99, blocked.count) if requests >= FEWEST_FOR_P99 else None


def rate_interval(slices: Sequence[float]) -> Interval | None:
    """Of a rate, out of its values in equal slices of time."""
    if len(slices) < SLICES:
        return None
    return _interval(lambda weights: fsum(map(mul, weights, slices)) / len(slices), len(slices))


def _interval(estimate: Callable[[Weights], float], blocks: int) -> Interval:
    return interval_of([estimate(weights) for weights in draws(blocks)], blocks)
