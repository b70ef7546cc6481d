"""Finds stalls: spans in which nothing arrived although requests were in flight that usually get on in much less time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any

from msgspec import Struct

from benchwright.perf._columns import compute as pc
from benchwright.perf._flight import InFlight
from benchwright.perf._requests import Requests

SHORTEST_S = 0.5
"""Shorter pauses are not reported."""
_TIMES_THE_GAP = 10.0
"""How much longer than the usual gap between two events of a stream a pause inside one is."""
_TIMES_THE_WAIT = 3.0
"""How much longer than usual a request waits that a stall holds up."""
_MOST = 1_000


class Stall(Struct, frozen=True):
    """One span, on the clock of the records."""

    start: float
    end: float
    in_flight: int
    """Requests that were in flight all the time."""

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
    usual = _Usual(known)
    found = []
    for start, end in _quiet(known):
        there = known.where(pc.and_(pc.less(known["sent"], end), pc.greater_equal(known["ended"], end)))
        if len(there) < max(1.0, least):
            continue
        start = max(start, pc.min(there["sent"]).as_py())
        held = there.where(pc.less_equal(there["sent"], start))
        if end - start >= SHORTEST_S and len(held) and usual.held_up(held, start, end):
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
    """How long the requests of a stage usually wait."""

    def __init__(self, known: Requests) -> None:
        self._gap = _median(known.gaps.seconds)
        self._first = _median(known.seconds("sent", "first_token").drop_null())
        self._whole = _median(known.seconds("sent", "ended").drop_null())

    def held_up(self, held: Requests, start: float, end: float) -> bool:
        """Whether most of the requests in flight got on later than usual."""
        late = []
        columns = (held[name].to_pylist() for name in ("sent", "first_token", "ended", "last_content"))
        for sent, first, ended, last in zip(*columns, strict=True):
            if first is not None and first <= start and (last is None or last >= end):
                usual = self._gap
                late.append(usual is not None and end - start > _TIMES_THE_GAP * usual)
            elif first is not None and first > start:
                late.append(self._first is not None and first - sent > _TIMES_THE_WAIT * self._first)
            else:
                late.append(self._whole is not None and ended - sent > _TIMES_THE_WAIT * self._whole)
        return 2 * sum(late) > len(late)


def _median(values: Any) -> float | None:
    return None if not len(values) else float(pc.quantile(values, q=0.5)[0].as_py())


def stall_words(stalls: Sequence[Stall], zero: float) -> str:
    """When and how long nothing arrived: `for 2.01 s, from 4.31 s on, while 16 requests were in flight`."""
    longest = max(stalls, key=lambda stall: stall.seconds)
    flying = f"{longest.in_flight:,} request{'s were' if longest.in_flight > 1 else ' was'} in flight"
    when = f"{longest.start - zero:,.2f} s after the start of the level"
    if len(stalls) == 1:
        return f"nothing arrived for {longest.seconds:,.2f} s, {when}, while {flying}"
    total = fsum(stall.seconds for stall in stalls)
    return (
        f"nothing arrived {len(stalls):,} times, for {total:,.2f} s in all, while requests were in flight; the longest was "
        f"{longest.seconds:,.2f} s, {when}, while {flying}"
    )
