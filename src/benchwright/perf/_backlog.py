"""Estimates the largest rate from requests that came at random times, with the help of a queue on paper.

Near the boundary, requests miss their limits in a few long bursts, whenever more requests than usual come close together. How often that
happens in ten minutes is chance, but when requests came is known, and how often they come so close in the long run can be computed. So
the same requests are sent through a queue on paper, with the number of slots and the speed that explain the slow replies best. The
requests tell how likely a miss is after a given wait on paper; a long run on paper tells how often each wait occurs at each rate. Together they tell
the share of misses at each rate. The law between waits and misses is that of the real requests: if the queue on paper
explains little, the share is nearly the one that was counted.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from math import ceil, exp, fsum, inf, log, sqrt
from random import Random
from typing import NamedTuple, TypeAlias

_SLOTS = tuple(2**power for power in range(9))
_SPEEDS = (1.03, 1.08, 1.15, 1.25, 1.4, 1.6, 2.0, 2.6)
"""Slots of queues that are tried, and their speeds as multiples of the rate of the requests."""
_TRIED = 4000
"""How many requests, the latest, choose the queue."""
_SLOW, _WAITED = 7.0, 4.0
"""Slow requests choose the queue: this many times as many as may miss. Law and scatter of latencies come from the requests that waited longest:
so many times as many as may miss, and at least the share below."""
_LEAST_WAITED = 0.25
_PRIOR_MISSES = 20.0
"""Misses that correct the law as much as it is trusted."""
_LONG_RUN = 200_000
_STEP = 1.01
"""Long runs are computed for rates so far apart."""
_BELOW, _ABOVE = 0.2, 0.08
"""How far below and above the rates that were probed an estimate may lie, as logarithms."""
_BEYOND = 0.1
"""The least error of an estimate that would lie farther above."""
_BLOCKS = 10
_LEAST_ERROR, _OF_ONE = 0.02, 0.8
"""What is added to the error that the blocks show: because no server is quite like a queue on paper, and because few requests are few bursts (the second,
over the root of their number)."""
_LARGEST_ERROR = 0.15
"""An estimate with a larger error tells less than the probes that passed and failed."""
_MOST = 8000
"""How many requests make the law. Of more, every second, third … is taken: neighbours are alike."""


class Trace(NamedTuple):
    """The requests of a probe in the order of their planned times."""

    times: Sequence[float]
    used: Sequence[float]
    """The largest part of a limit that each used: more than 1, it missed one; infinite: it has no latency."""
    ends: Sequence[float | None] = ()
    """When each ended; None: it failed. Empty: not known."""
    rooms: Sequence[float] = ()
    """How much longer each might have waited, in seconds; minus infinity: it missed a limit that waits do not change."""


_Queue: TypeAlias = tuple[int, float]
"""Slots, and requests per second of all slots together."""


def _waits(slots: int, speed: float, times: Sequence[float]) -> list[float]:
    """How long each request waits in a queue; if a slot was free, by how much less than nothing."""
    service = slots / speed
    found = [0.0] * len(times)
    for slot in range(slots):
        own = times[slot::slots]
        waits, wait, before = [], -service, -inf
        for at in own:
            wait = max(-service, service - at + before + (wait if wait > 0 else 0.0))
            before = at
            waits.append(wait)
        found[slot::slots] = waits
    return found


def estimate(
    traces: Sequence[Trace], rates: Sequence[float], allowed: float, burstiness: float = 1.0
) -> tuple[float, float] | None:
    """The rate at which the share of misses is what is allowed, as a logarithm, with its standard error, by probes at rates close to it. None: the requests are
    too few, or the rate is farther away than the queue can tell. Then waits on paper explain the misses badly, or the rates are not close."""
    used = [each for trace in traces for each in _later(trace.used)]
    if sum(each < inf for each in used) < 2 * _BLOCKS / max(allowed, _LEAST_WAITED):
        return None
    queue = _best_queue(traces, exp(fsum(map(log, rates)) / len(rates)), allowed)
    waits = [wait for trace in traces for wait in _later(_waits(*queue, trace.times))]
    number = len(used)
    waits, used = (each[:: ceil(number / _MOST)] for each in (waits, used))
    reach = log(min(rates)) - _BELOW, log(max(rates)) + _ABOVE

    def place(waits: Sequence[float], used: Sequence[float]) -> float:
        return _place(_law(waits, used, allowed), queue, reach, allowed, burstiness)

    edges = [len(used) * block // _BLOCKS for block in range(_BLOCKS + 1)]
    without = [
        place([*waits[:start], *waits[end:]], [*used[:start], *used[end:]]) for start, end in pairwise(edges)
    ]
    mean = fsum(without) / _BLOCKS
    scatter = (_BLOCKS - 1) / _BLOCKS * fsum((each - mean) ** 2 for each in without)
    found = place(waits, used)
    if found == reach[0] or all(each == reach[1] for each in (found, *without)):
        return None
    # Some of the requests say that the rate is within reach, so it may be.
    beyond = _BEYOND**2 if found == reach[1] else 0.0
    error = sqrt(scatter + _LEAST_ERROR**2 + _OF_ONE**2 / number + beyond)
    return (found, error) if error <= _LARGEST_ERROR else None


def _later(values: Sequence[float]) -> Sequence[float]:
    """The values of a probe after the first quarter, in which a server may still warm up."""
    return values[len(values) // 4 :]


def _best_queue(traces: Sequence[Trace], rate: float, allowed: float) -> _Queue:
    """The queue in which the slow requests rank highest by their waits."""
    chosen: list[Trace] = []
    for trace in reversed(traces):
        left = _TRIED - sum(len(each.used) for each in chosen)
        if left <= 0:
            break
        chosen.append(Trace(trace.times[:left], trace.used[:left]))
    used = [each for trace in chosen for each in trace.used]
    limit = min(1.0, sorted(used)[int(len(used) * max(0.5, 1 - _SLOW * allowed))])
    slow = [each > limit for each in used]

    def ranks(queue: _Queue) -> int:
        waits = [wait for trace in chosen for wait in _waits(*queue, trace.times)]
        order = sorted(range(len(waits)), key=waits.__getitem__)
        return sum(rank for rank, place in enumerate(order) if slow[place])

    slots = [each for each in _SLOTS if 20 * each <= len(used)] or [1]
    first = max(((each, rate * speed) for each in slots for speed in _SPEEDS[2::2]), key=ranks)
    return max(((first[0], rate * speed) for speed in _SPEEDS), key=ranks)


def _law(waits: Sequence[float], used: Sequence[float], allowed: float) -> Callable[[float], float]:
    """The probability of a miss after a wait on paper.

    Among the requests that waited longest, latencies grow with the wait along a line, and scatter around it by factors. Failures
    come more often the longer the wait; they have no latency. The law is scaled so that it agrees with the misses that were counted.
    """
    order = sorted(range(len(used)), key=waits.__getitem__)
    failing = _rising([(waits[place], used[place] == inf) for place in order])
    order = [place for place in order if used[place] != inf]
    number = max(2, int(len(order) * max(_LEAST_WAITED, min(1.0, _WAITED * allowed))))
    early, late = order[:-number], order[-number:]
    first = waits[late[0]] if late else inf
    line = _line([(waits[place], used[place]) for place in late])
    factors = sorted(used[place] / line(waits[place]) for place in late)
    among_early = sum(used[place] > 1 for place in early) / max(1, len(early))

    def plain(wait: float) -> float:
        slow = among_early if wait < first else 1 - bisect_right(factors, 1 / line(wait)) / len(factors)
        return 1 - (1 - slow) * (1 - failing(wait))

    counted = sum(each > 1 for each in used)
    factor = (counted + _PRIOR_MISSES) / (fsum(map(plain, waits)) + _PRIOR_MISSES)
    return lambda wait: min(1.0, factor * plain(wait))


def _line(points: Sequence[tuple[float, float]]) -> Callable[[float], float]:
    """The line of least squares, if it rises; nowhere far below the mean."""
    middle, height = (fsum(each) / len(points) for each in zip(*points, strict=True))
    spread = fsum((x - middle) ** 2 for x, _ in points)
    slope = max(0.0, fsum((x - middle) * (y - height) for x, y in points) / spread) if spread else 0.0
    return lambda x: max(0.25 * height, height + slope * (x - middle))


def _rising(points: Sequence[tuple[float, bool]]) -> Callable[[float], float]:
    """The rising steps that are closest to sorted points."""
    blocks: list[tuple[float, int, int]] = []
    if any(true for _, true in points):
        for start, true in points:
            count, of = int(true), 1
            while blocks and blocks[-1][1] * of >= count * blocks[-1][2]:
                start, before, many = blocks.pop()
                count, of = count + before, of + many
            blocks.append((start, count, of))
    starts = [start for start, _, _ in blocks[1:]]
    heights = [count / of for _, count, of in blocks] or [0.0]
    return lambda x: heights[bisect_right(starts, x)]


def _place(
    law: Callable[[float], float],
    queue: _Queue,
    reach: tuple[float, float],
    allowed: float,
    burstiness: float,
) -> float:
    """Where the share of misses in the long run reaches what is allowed, between two rates for which it is computed; or one end of the reach."""

    slots, speed = queue

    def misses(step: int) -> float:
        found = speed / _STEP**step
        return fsum(weight * law(wait / found) for wait, weight in _long_run(slots, step, burstiness))

    lowest, highest = reach
    slow, fast = (max(1, round((log(speed) - end) / log(_STEP))) for end in reach)
    if misses(slow) >= allowed:
        return lowest
    if misses(fast) <= allowed:
        return highest
    while slow - fast > 1:
        between = (slow + fast) // 2
        fast, slow = (fast, between) if misses(between) <= allowed else (between, slow)
    low, high = (log(max(misses(step), 1e-9)) for step in (slow, fast))
    part = (log(allowed) - low) / (high - low) if high > low else 0.0
    return log(speed) - (slow - part) * log(_STEP)


@lru_cache(maxsize=512)
def _long_run(slots: int, step: int, burstiness: float) -> tuple[tuple[float, float], ...]:
    """Waits in the long run and how often they occur, for one request per second and a queue that is `_STEP**step` times as fast."""
    waits = sorted(_waits(slots, _STEP**step, _arrivals(burstiness))[_LONG_RUN // 50 :])
    return tuple(
        (waits[int(len(waits) * (1 - sqrt(above * below)))], above - below) for above, below in _tails()
    )


def _tails() -> Iterator[tuple[float, float]]:
    """Shares of the requests that wait longest, in falling order: neighbours differ by 7 %."""
    for number in range(150):
        yield exp(-0.07 * number), exp(-0.07 * (number + 1))


@lru_cache(maxsize=4)
def _arrivals(burstiness: float) -> tuple[float, ...]:
    dice = Random(7)
    return tuple(accumulate(dice.gammavariate(burstiness, 1 / burstiness) for _ in range(_LONG_RUN)))
