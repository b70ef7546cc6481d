"""Finds stalls of some requests while others go on, as if half of the connections stood still.

Some requests always take much longer than others. By chance, only so many of them do at the same moment as a Poisson law with their mean
number allows; if many more do, they have one cause. If they wait for a reply, others that were sent later must have been answered as fast
as usual: in a queue, all wait.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil, exp, fsum
from typing import TypeAlias

from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import numbers
from benchwright.perf._requests import Requests
from benchwright.perf._stalls import HIGH, SHORTEST_S, TIMES_THE_GAP, TIMES_THE_WAIT, Stall

_BLOCKS, _LEAST, _MOST = 8, 20, 100
"""What is usual is told by blocks of neighbouring requests: about so many, each with at least and at most so many requests."""
_BIN_S = 0.1
_FEWEST = 3
"""Late requests at a moment that may be chance, whatever the law says; and requests that must have gone on."""
_CHANCE = 1e-7
_TOGETHER, _WITHIN = 0.6, 0.25
"""What stood still goes on at the same time: this share of the late requests, within this share of the stall and the time that a request usually
waits."""
_LEAST_MEAN = 0.05
_MOST_LATE = 100_000


_Late: TypeAlias = tuple[float, float, bool]
"""From when to when a request was late, and whether it waited for its reply; else, a stream paused."""


def partial_stalls(sent: Requests, stalls: Sequence[Stall]) -> Iterator[Stall]:
    """The partial stalls of a stage, from its requests that were sent; not those that are part of one of all requests."""
    known = sent.where(pc.and_(pc.is_valid(sent["sent"]), pc.is_valid(sent["ended"])))
    if len(known) < 2 * _LEAST:
        return
    waits = _Waits(known)
    late = sorted([*_pauses(known), *waits.late()])[:_MOST_LATE]
    if len(late) <= _FEWEST:
        return
    first = min(start for start, *_ in late)
    counts = _covering(late, first)
    whole = max(waits.ends) - min(waits.sent)
    enough = _enough_late(counts, whole)
    for above, bins in groupby(range(len(counts)), lambda place: counts[place] >= enough):
        if not above:
            continue
        run = [*bins]
        middle = first + (run[0] + run[-1] + 1) / 2 * _BIN_S
        own = [each for each in late if each[0] <= middle <= each[1]]
        # A few that are late for other reasons do not decide where it begins and ends.
        start = sorted(begun for begun, *_ in own)[min(enough, len(own)) - 1]
        ends = sorted(ended for _, ended, _ in own)
        end = ends[ceil(0.25 * (len(own) - 1))]
        together = _WITHIN * (end - start) + waits.usual(start)
        if _most_within(ends, together) < _TOGETHER * len(own):
            continue
        if end - start < SHORTEST_S or any(start < each.end and end > each.start for each in stalls):
            continue
        others = waits.went_on(start, end)
        if 2 * sum(waited for *_, waited in own) < len(own) or others >= _FEWEST:
            yield Stall(start, end, len(own), others)


class _Waits:
    """How long requests waited for their first token, or for the whole reply if it was not streamed, in the order in which they were sent."""

    def __init__(self, known: Requests) -> None:
        ordered = known.in_order("sent")
        self.sent = numbers(ordered["sent"])
        self.ends = numbers(pc.coalesce(ordered["first_token"], ordered["ended"]))
        self._usual = self._blocks()

    def late(self) -> Iterator[_Late]:
        """The waits that were much longer than those of their neighbours."""
        for place, (sent, end) in enumerate(zip(self.sent, self.ends, strict=True)):
            if end - sent > max(SHORTEST_S, TIMES_THE_WAIT * self._usual_at(place)):
                yield sent, end, True

    def usual(self, at: float) -> float:
        """A long wait at this time."""
        return self._usual_at(bisect_left(self.sent, at))

    def went_on(self, start: float, end: float) -> int:
        """Requests that were sent and answered in a span of time, as fast as usual."""
        inside = range(bisect_left(self.sent, start), bisect_right(self.sent, end))
        return sum(
            self.ends[place] <= end and self.ends[place] - self.sent[place] <= self._usual_at(place)
            for place in inside
        )

    def _blocks(self) -> list[float]:
        self._size = min(_MOST, max(_LEAST, len(self.sent) // _BLOCKS))
        starts = range(0, max(1, len(self.sent) - self._size // 2), self._size)
        return [self._high(start, start + self._size) for start in starts]

    def _high(self, start: int, end: int) -> float:
        waits = sorted(
            end - sent for sent, end in zip(self.sent[start:end], self.ends[start:end], strict=True)
        )
        return waits[int(HIGH * (len(waits) - 1))]

    def _usual_at(self, place: int) -> float:
        """A long wait, of the blocks around a request: the one in which waits are shortest, because a stall makes its own block slow."""
        block = min(place // self._size, len(self._usual) - 1)
        return min(self._usual[max(0, block - 1) : block + 2])


def _pauses(known: Requests) -> Iterator[_Late]:
    """The pauses inside streams."""
    gaps = known.gaps
    if not len(gaps):
        return
    long = max(SHORTEST_S, TIMES_THE_GAP * float(pc.quantile(gaps, q=HIGH)[0].as_py()))
    arrivals = known["arrivals"]
    request = pc.list_parent_indices(arrivals)
    times = pc.add(known["sent"].take(request), pc.list_flatten(arrivals))
    later, earlier = times.slice(1), times.slice(0, len(times) - 1)
    chosen = pc.and_(
        pc.equal(request.slice(1), request.slice(0, len(request) - 1)),
        pc.greater(pc.subtract(later, earlier), long),
    )
    for start, end in zip(earlier.filter(chosen).to_pylist(), later.filter(chosen).to_pylist(), strict=True):
        yield start, end, False


def _covering(late: Sequence[_Late], first: float) -> list[int]:
    """How many are late in each bin of time, all of the bin long."""
    steps = [0] * (int((max(end for _, end, _ in late) - first) / _BIN_S) + 2)
    for late_from, late_until, _ in late:
        begin, end = ceil((late_from - first) / _BIN_S), int((late_until - first) / _BIN_S)
        if end > begin:
            steps[begin] += 1
            steps[end] -= 1
    found, count = [], 0
    for step in steps:
        count += step
        found.append(count)
    return found


def _most_within(times: Sequence[float], seconds: float) -> int:
    """The most of some sorted times in any span of this length."""
    return max(bisect_right(times, time + seconds) - place for place, time in enumerate(times))


def _enough_late(counts: Sequence[int], seconds: float) -> int:
    """How many late requests at a moment chance does not explain. Their mean number is that of the other bins, so that a stall does not explain
    itself; and not less than in half of all bins, because late requests of a closed loop become more over time."""
    bins = max(len(counts), int(seconds / _BIN_S))
    often = sorted([0] * (bins - len(counts)) + list(counts))[bins // 2]
    enough = _FEWEST + 1
    while True:  # what is left out depends on the mean
        usual = [count for count in counts if count < enough]
        mean = fsum(usual) / max(1, bins - (len(counts) - len(usual)))
        more = _enough(max(_LEAST_MEAN, mean, often))
        if more <= enough:
            return enough
        enough = more


def _enough(mean: float) -> int:
    """The number that a Poisson law exceeds with almost no chance."""
    term = exp(-mean)
    left, number = 1.0 - term, 1
    while left > _CHANCE and number < 10_000:
        term *= mean / number
        left -= term
        number += 1
    return number
