"""Finds stalls: spans in which nothing arrived although requests were in flight that usually get on in much less time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import fsum, inf
from typing import Any

from msgspec import Struct

from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import numbers
from benchwright.perf._flight import InFlight
from benchwright.perf._requests import Requests
from benchwright.perf._silence import Silence

SHORTEST_S = 0.5
"""Shorter pauses are not reported."""
TIMES_THE_GAP = 10.0
"""How much longer than a long gap between two events of a stream a pause inside one is."""
TIMES_THE_WAIT = 3.0
"""How much longer than a long wait a request waits that a stall holds up."""
_TIMES_OTHERS = 3.0
"""How much longer than the other spans around it a span without the end of a reply is that stands alone."""
_LITTLE = 1.25
"""How much longer than a long wait a request waits that such a span holds up. Replies that are not streamed show nothing else."""
HIGH = 0.9
"""The quantile of gaps and waits that is long, and not unusual."""
_FEW = 3
"""Requests held up that may be unusual by chance."""
_NEAR = 50
"""Requests on either side of a span that tell what is usual."""
_FEWEST = 5
_MOST = 1_000


class Stall(Struct, frozen=True):
    """One span, on the clock of the records."""

    start: float
    end: float
    in_flight: int
    """Requests that were in flight all the time, and got nothing."""
    others: int = 0
    """Requests that were sent and answered in the meantime."""

    @property
    def seconds(self) -> float:
        """Its length."""
        return self.end - self.start


def stalls_of(sent: Requests, flight: InFlight) -> list[Stall]:
    """The stalls of a stage, from its requests that were sent. A few that lag behind are not one: at least half of the usual number
    must be in flight when it ends."""
    first, last = pc.min(sent["sent"]).as_py(), pc.max(sent["sent"]).as_py()
    least = 1.0 if first is None else flight.mean(first, last) / 2
    known = sent.where(pc.and_(pc.is_valid(sent["sent"]), pc.is_valid(sent["ended"])))
    by_end, by_send = known.in_order("ended"), known.in_order("sent")
    ends, sends = numbers(by_end["ended"]), numbers(by_send["sent"])
    streamed = len(known.gaps) > 0
    found = []
    silence: Silence | None = None
    for start, end in _quiet(known):
        there = known.where(pc.and_(pc.less(known["sent"], end), pc.greater_equal(known["ended"], end)))
        if len(there) < max(1.0, least):
            continue
        start = max(start, pc.min(there["sent"]).as_py())
        held = there.where(pc.less_equal(there["sent"], start))
        if end - start < SHORTEST_S or not len(held):
            continue
        past, future = bisect_right(ends, start), bisect_left(sends, end)
        usual = _Usual(
            by_end.at(range(max(0, past - _NEAR), past)),
            by_send.at(range(future, min(len(sends), future + _NEAR))),
        )
        alone = not streamed and end - start > _TIMES_OTHERS * _longest(
            ends[max(0, past - _NEAR) : past], ends[past : past + _NEAR]
        )
        if usual.held_up(held, start, end, _LITTLE if alone else TIMES_THE_WAIT):
            silence = silence or Silence(known)
            if silence.by_chance(there, start, end):
                continue
            found.append(Stall(start, end, len(held)))
    return found


def _quiet(known: Requests) -> Iterator[tuple[float, float]]:
    """The longer spans between two moments at which part of a reply arrived, or a request ended."""
    import pyarrow as pa

    arrivals = known["arrivals"]
    if not len(known):
        return
    starts = known["sent"].take(pc.list_parent_indices(arrivals))
    moments = pa.concat_arrays(
        [pc.add(starts, pc.list_flatten(arrivals)), known["ended"], known["sent"].slice(0, 1)]
    )
    moments = moments.take(pc.sort_indices(moments))
    later, earlier = moments.slice(1), moments.slice(0, len(moments) - 1)
    long = pc.greater_equal(pc.subtract(later, earlier), SHORTEST_S)
    yield from zip(
        earlier.filter(long).slice(0, _MOST).to_pylist(),
        later.filter(long).slice(0, _MOST).to_pylist(),
        strict=True,
    )


class _Usual:
    """How long requests usually wait shortly before a span of time, or shortly after it if that is less. Latency that drifts over a
    test, or varies all the time, is then no stall."""

    def __init__(self, before: Requests, after: Requests) -> None:
        sides = [side for side in (before, after) if len(side) >= _FEWEST]
        self._gap = _usual(side.gaps for side in sides)
        self._first = _usual(side.seconds("sent", "first_token").drop_null() for side in sides)
        self._whole = _usual(side.seconds("sent", "ended").drop_null() for side in sides)

    def held_up(self, held: Requests, start: float, end: float, times: float) -> bool:
        """Whether most of the requests in flight waited so many times longer than usual."""
        late = []
        few = len(held) <= _FEW
        columns = (held[name].to_pylist() for name in ("sent", "first_token", "ended", "last_content"))
        for sent, first, ended, last in zip(*columns, strict=True):
            if first is not None and first <= start and (last is None or last >= end):
                late.append(_beyond(end - start, self._gap, TIMES_THE_GAP, few=few))
            elif first is not None and first > start:
                late.append(_beyond(first - sent, self._first, times, few=few))
            else:
                late.append(_beyond(ended - sent, self._whole, times, few=few))
        return 2 * sum(late) > len(late)


def _beyond(seconds: float, usual: tuple[float, float] | None, times: float, *, few: bool) -> bool:
    """Whether a wait is so many times the usual one. A few requests may also be those that wait longest by chance."""
    if usual is None:
        return False
    high, longest = usual
    return seconds > max(times * high, TIMES_THE_WAIT * longest if few else 0.0)


def _usual(sides: Iterable[Any]) -> tuple[float, float] | None:
    """A long wait and the longest, of the side where they are shorter; None if there are none."""
    found = [
        (float(pc.quantile(side, q=HIGH)[0].as_py()), float(pc.max(side).as_py()))
        for side in sides
        if len(side)
    ]
    return min(found, default=None)


def _longest(*sides: Sequence[float]) -> float:
    """The longest span between two ends on either side; infinite if there are too few to tell."""
    spans = [after - before for side in sides for before, after in pairwise(side)]
    return max(spans) if len(spans) >= _FEWEST else inf


def stall_words(stalls: Sequence[Stall], zero: float) -> str:
    """When and how long nothing arrived: `nothing arrived for 2.01 s, 4.31 s after the start of the level, while 16 requests were in flight`."""
    longest = max(stalls, key=lambda stall: stall.seconds)
    number = f"{longest.in_flight:,} request{'s' if longest.in_flight > 1 else ''}"
    when = f"{longest.start - zero:,.2f} s after the start of the level"
    if longest.others:
        flying = f"for {number}, while others went on"
    else:
        flying = f"while {number} {'were' if longest.in_flight > 1 else 'was'} in flight"
    if len(stalls) == 1:
        return f"nothing arrived for {longest.seconds:,.2f} s, {when}, {flying}"
    total = fsum(stall.seconds for stall in stalls)
    return (
        f"nothing arrived {len(stalls):,} times, for {total:,.2f} s in all, while requests were in flight; the longest was "
        f"{longest.seconds:,.2f} s, {when}, {flying}"
    )
