"""Estimates the largest rate with a queue on paper that has the slots and the service times of the server.

If a server answers in the order of arrival, with a fixed number of requests at a time, the times at which requests came and ended tell when each
began, and so how long it waited and how long it was served. All probes tell service times, also those far beyond the boundary. A long run
on paper with these times tells the share of misses at each rate. So a heavy tail needs no burst of misses in a probe to be seen. Whether the server
is such a queue is checked: the same arrivals, with service times in another order, must miss as many limits on paper as they did.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import fsum, inf, log, sqrt
from random import Random
from typing import NamedTuple

_MOST_SLOTS = 1024
_MOST = 16_000
"""How many requests tell service times; of more, the latest."""
_FEWEST = 40
"""Fewer tell nothing."""
_IMPOSSIBLE = 0.003
"""This share of requests may end before they begin on paper: clocks and networks are not exact."""
_FAIL = 0.1
"""If more requests fail, as a share of those that may miss their limits, they decide, and it is unknown what they cost the server."""
_LONG_RUN, _BLOCKS = 60_000, 10
_REPLAYS = 12
_LOWEST, _HIGHEST, _STEP = 0.2, 1.0, 1.01
"""Between which shares of the rate that all slots bear, and how exactly, the largest one is looked for."""
_LEAST_SLOPE, _STEEP = 2.0, 100.0
"""Powers of the rate with which misses grow: at least, and where a long run at the full rate has too few."""
_LEAST_ERROR = 0.012
_LARGEST_ERROR = 0.4
_STRANGE, _OFTEN = 4.0, 0.1
"""The queue is not that of the server if misses, or the slowest tenth of latencies, differ by more standard deviations from those on paper."""
_TINY = 1e-5


class Served(NamedTuple):
    """The requests of a probe in the order in which they came, without those that failed."""

    level: float
    times: tuple[float, ...]
    ends: tuple[float, ...]
    rooms: tuple[float, ...]
    """How much longer each might have waited; negative: it missed a limit, minus infinity: one that waits do not change."""


_Sample = Sequence[tuple[float, float]]
"""Service times, in rising order, each with the longest wait that does not miss a limit."""


@lru_cache(maxsize=4)
def estimate(
    probes: tuple[Served, ...], failed: int, allowed: float, burstiness: float
) -> tuple[float, float] | None:
    """The rate at which the share of misses is what is allowed, as a logarithm, with its standard error. None: the requests are too few, or the
    server is no such queue."""
    chosen = _latest(probes)
    count = sum(len(probe.times) for probe in chosen)
    if count < max(_FEWEST, 2 / allowed) or failed > _FAIL * allowed * (count + failed):
        return None
    slots = number_of_slots(chosen)
    sample = [each for probe in chosen for each in _later(_services(probe, slots))]
    services = [service for service, _ in sample]
    mean = fsum(services) / len(services)
    variance = fsum((each / mean - 1) ** 2 for each in services) / (len(services) - 1)
    ordered, full = sorted(sample), slots / mean

    def misses(rate: float, part: _Sample = ordered) -> float:
        return fsum(_long_run(part, slots, rate, burstiness)) / _BLOCKS

    low, high = _LOWEST * full, _HIGHEST * full
    if misses(low) > allowed:
        return None
    if misses(high) <= allowed:  # requests may wait so long that the rate is nearly that of all slots
        low = high
    while high > _STEP * low:
        middle = sqrt(low * high)
        low, high = (middle, high) if misses(middle) <= allowed else (low, middle)
    found = sqrt(low * high)
    blocks = _long_run(ordered, slots, found, burstiness)
    base = max(_TINY, fsum(blocks) / _BLOCKS)
    below, above = (max(_TINY, misses(factor * found)) for factor in (0.97, 1.02))
    slope = _STEEP if low == high else max(_LEAST_SLOPE, log(above / below) / log(1.02 / 0.97))
    without = [
        log(max(_TINY, misses(found, sorted(_but(sample, block)))) / base) / slope for block in range(_BLOCKS)
    ]
    if (strange := _strange(chosen, ordered, slots, allowed, found)) is None:
        return None
    error = sqrt(
        (_BLOCKS - 1) * _variance(without)
        + _variance(blocks) / (_BLOCKS - 1) / (base * slope) ** 2
        + variance / len(services)
        + (strange / slope) ** 2
        + _LEAST_ERROR**2
    )
    return (log(found), error) if error <= _LARGEST_ERROR else None


def _latest(probes: Sequence[Served]) -> list[Served]:
    found: list[Served] = []
    left = _MOST
    for probe in reversed(probes):
        if left <= 0:
            break
        found.append(
            probe._replace(times=probe.times[:left], ends=probe.ends[:left], rooms=probe.rooms[:left])
        )
        left -= len(probe.times)
    return found


def _later(values: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Without the first quarter, in which a server may still warm up."""
    found = list(values)
    return found[len(found) // 4 :]


def _but(sample: _Sample, block: int) -> Iterator[tuple[float, float]]:
    """Without every tenth: service times do not depend on each other."""
    return (each for place, each in enumerate(sample) if place % _BLOCKS != block)


def _variance(values: Sequence[float]) -> float:
    mean = fsum(values) / len(values)
    return fsum((each - mean) ** 2 for each in values) / len(values)


def _starts(probe: Served, slots: int) -> Iterator[float]:
    """When each request began: as soon as fewer earlier ones than there are slots had not ended."""
    busy = [-inf] * slots
    for at, end in zip(probe.times, probe.ends, strict=True):
        yield max(at, busy[0])
        heapq.heapreplace(busy, max(end, busy[0]))


def _services(probe: Served, slots: int) -> Iterator[tuple[float, float]]:
    for at, start, end, room in zip(probe.times, _starts(probe, slots), probe.ends, probe.rooms, strict=True):
        yield max(1e-9, end - start), room + start - at


def number_of_slots(probes: Sequence[Served]) -> int:
    """The number at which requests that waited are served as long as those that did not. With too few slots on paper they seem to begin late and are
    served for less time; with too many, for more."""
    low, high = 1, 1
    while high < _MOST_SLOTS and _too_few(probes, high):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if _too_few(probes, middle) else (low, middle)
    return low


def _too_few(probes: Sequence[Served], slots: int) -> bool:
    free: list[float] = []
    waited: list[float] = []
    for probe in probes:
        for at, start, end in zip(probe.times, _starts(probe, slots), probe.ends, strict=True):
            (waited if start > at else free).append(end - start)
    if sum(each <= 0 for each in waited) > _IMPOSSIBLE * (len(free) + len(waited)):
        return True
    if not waited or not free:
        return False
    free.sort()
    # The probability that one that waited is served longer than one that did not, less one half, in standard errors.
    longer = fsum(bisect_right(free, each) for each in waited) / len(free) / len(waited) - 0.5
    return longer < -2 * sqrt((1 / len(free) + 1 / len(waited)) / 12)


def _long_run(sample: _Sample, slots: int, rate: float, burstiness: float) -> list[float]:
    """The shares of misses in ten parts of a long run."""
    times, draws = _arrivals(burstiness)
    number, size = len(sample), _LONG_RUN // (_BLOCKS + 1)
    free = [0.0] * slots
    found, missed, replace = [], 0, heapq.heapreplace
    for place, (at, draw) in enumerate(zip(times, draws, strict=True)):
        if place % size == 0:
            found.append(missed / size)
            missed = 0
        at /= rate
        service, bears = sample[int(draw * number)]
        start = free[0]
        if start < at:
            start = at
        replace(free, start + service)
        if start - at > bears:
            missed += 1
    return found[2 : _BLOCKS + 2]  # the first part fills the queue


def _strange(
    probes: Sequence[Served], sample: _Sample, slots: int, allowed: float, found: float
) -> float | None:
    """By how much, as a logarithm, the probes near the boundary missed more or fewer limits than on paper, beyond chance. None: so much that the server is
    not such a queue."""
    near = [probe for probe in probes if 0.7 * found <= probe.level <= 1.1 * found]
    rooms = sorted(room for probe in near for room in probe.rooms[len(probe.rooms) // 4 :])
    if not rooms:
        return None
    worst = 0.0
    for shift in (0.0, rooms[int(_OFTEN * len(rooms))]):
        seen = bisect_right(rooms, shift)
        replays = [_replayed(near, sample, slots, shift, Random(seed)) for seed in range(_REPLAYS)]
        mean = fsum(replays) / _REPLAYS
        chance = sqrt(_variance(replays) * _REPLAYS / (_REPLAYS - 1) + mean + 1)
        if abs(seen - mean) > _STRANGE * chance + 0.25 * mean:
            return None
        if shift == 0.0 and abs(seen - mean) > chance:
            few = 2 * allowed * len(rooms) ** 0.5 + 1
            worst = max(0.0, abs(log((seen + few) / (mean + few))) - chance / (mean + few))
    return worst


def _replayed(probes: Sequence[Served], sample: _Sample, slots: int, shift: float, dice: Random) -> int:
    """How many of the same requests have less room on paper, if service times come in another order."""
    missed = 0
    for probe in probes:
        free, skipped = [-inf] * slots, len(probe.times) // 4
        for place, at in enumerate(probe.times):
            service, bears = sample[int(dice.random() * len(sample))]
            start = max(at, free[0])
            heapq.heapreplace(free, start + service)
            missed += place >= skipped and bears - (start - at) < shift
    return missed


@lru_cache(maxsize=4)
def _arrivals(burstiness: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Times of arrival at one request per second, and numbers that choose service times."""
    dice = Random(7)
    gaps: Callable[[], float] = (
        (lambda: 1.0) if burstiness == inf else (lambda: dice.gammavariate(burstiness, 1 / burstiness))
    )
    times = tuple(accumulate(gaps() for _ in range(_LONG_RUN)))
    return times, tuple(dice.random() for _ in times)
