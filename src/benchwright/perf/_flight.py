"""Requests in flight over time, arrivals of tokens, and idle time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import fsum
from typing import Any, NamedTuple

from benchwright.perf._columns import compute as pc, ones
from benchwright.perf._distributions import numbers
from benchwright.perf._requests import Requests


class InFlight(NamedTuple):
    """Requests in flight as a step function: `counts[i]` from `times[i]` to the next time."""

    times: Sequence[float]
    counts: Sequence[int]

    @classmethod
    def of(cls, requests: Requests) -> InFlight:
        """The step function of the requests that were sent and ended."""
        known = requests.where(pc.and_(pc.is_valid(requests["sent"]), pc.is_valid(requests["ended"])))
        return in_flight(known["sent"], known["ended"])

    @property
    def peak(self) -> int:
        """The most requests at once."""
        return max(self.counts, default=0)

    def first_at(self, count: int) -> float | None:
        """When this many were in flight for the first time."""
        for time, found in zip(self.times, self.counts, strict=True):
            if found >= count:
                return time
        return None

    def mean(self, start: float, end: float) -> float:
        """The mean over a span of time."""
        if end <= start:
            return 0.0
        total = []
        for place, (time, count) in enumerate(zip(self.times, self.counts, strict=True)):
            until = self.times[place + 1] if place + 1 < len(self.times) else end
            if count and until > start and time < end:
                total.append(count * (min(until, end) - max(time, start)))
        return fsum(total) / (end - start)

    def idle(self) -> list[tuple[float, float]]:
        """Spans between the first send and the last in which nothing was in flight."""
        steps = zip(self.times[:-1], self.times[1:], self.counts[:-1], strict=True)
        return [(start, end) for start, end, count in steps if not count and end > start]


def in_flight(starts: Any, ends: Any) -> InFlight:
    """The step function from Arrow arrays of sends and ends of the same requests. A request that ends when another starts is
    counted as ended first."""
    begins = numbers(starts.take(pc.sort_indices(starts)))
    stops = numbers(ends.take(pc.sort_indices(ends)))
    times: list[float] = []
    counts: list[int] = []
    stopped = 0
    for begun, time in enumerate(begins, 1):
        while stopped < len(stops) and stops[stopped] <= time and stopped < begun - 1:
            _step(times, counts, stops[stopped], begun - 2 - stopped)
            stopped += 1
        _step(times, counts, time, begun - stopped)
    for place in range(stopped, len(stops)):
        _step(times, counts, stops[place], len(begins) - place - 1)
    return InFlight(times, counts)


def _step(times: list[float], counts: list[int], time: float, count: int) -> None:
    if times and times[-1] == time:
        counts[-1] = count
    else:
        times.append(time)
        counts.append(count)


class TokenArrivals(NamedTuple):
    """When output tokens arrived: Arrow arrays of times and of tokens, one entry per content event."""

    times: Any
    tokens: Any

    def within(self, start: float, end: float) -> float:
        """Tokens that arrived in a span of time, its end not included."""
        inside = pc.and_(pc.greater_equal(self.times, start), pc.less(self.times, end))
        return fsum(numbers(self.tokens.filter(inside)))

    def most_within(self, seconds: float) -> float:
        """The most tokens in any span of this length; its end is not part of it."""
        order = pc.sort_indices(self.times)
        times, tokens = numbers(self.times.take(order)), numbers(self.tokens.take(order))
        most = inside = 0.0
        first = 0
        for time, count in zip(times, tokens, strict=True):
            while times[first] <= time - seconds:
                inside -= tokens[first]
                first += 1
            inside += count
            most = max(most, inside)
        return most

    def per_slice(self, start: float, length: float, count: int) -> list[float]:
        """Tokens in each of `count` equal slices; the end of the last one is part of it."""
        return sums_per_slice(self.times, self.tokens, start, length, count)


def token_arrivals(completed: Requests) -> TokenArrivals:
    """Arrivals of tokens of completed requests with token counts: by event if these counts are known, else spread evenly over
    the events; all at the end if the reply was not streamed."""
    import pyarrow as pa

    counted = completed.where(pc.is_valid(completed["output_tokens"]))
    streamed = counted.where(pc.greater(counted.events, 0))
    arrivals = streamed["arrivals"]
    parents = pc.list_parent_indices(arrivals)
    times = pc.add(streamed["sent"].take(parents), pc.list_flatten(arrivals))
    even = pc.divide(streamed["output_tokens"].cast(pa.float64()), streamed.events.cast(pa.float64()))
    tokens = even.take(parents)
    own = pc.fill_null(pc.equal(pc.list_value_length(streamed["event_tokens"]), streamed.events), False)
    if pc.any(own).as_py():
        tokens = _with_own(streamed, own, tokens)
    whole = counted.where(pc.equal(counted.events, 0))
    return TokenArrivals(
        pa.concat_arrays([times, whole["last_content"]]),
        pa.concat_arrays([tokens, whole["output_tokens"].cast(pa.float64())]),
    )


def _with_own(streamed: Requests, own: Any, even: Any) -> Any:
    """The tokens of events if every event of the request has a count, else the even share."""
    import pyarrow as pa

    parents = pc.list_parent_indices(streamed["arrivals"])
    mask = own.take(parents)
    counts = pc.list_flatten(streamed["event_tokens"].filter(own)).cast(pa.float64())
    return pc.replace_with_mask(even, mask, counts)


def sums_per_slice(times: Any, weights: Any | None, start: float, length: float, count: int) -> list[float]:
    """Sums of the weights of instants in `count` equal slices of time, or how many there are; instants outside are left out."""
    import pyarrow as pa

    sums = [0.0] * count
    if length <= 0 or not len(times):
        return sums
    weights = ones(len(times)) if weights is None else weights
    place = pc.divide(pc.subtract(times, start), length / count)
    slices = pc.min_element_wise(pc.floor(place), float(count - 1)).cast(pa.int64())
    inside = pc.and_(pc.greater_equal(place, 0.0), pc.less_equal(place, count + 1e-9))
    slices, weights = slices.filter(inside), weights.filter(inside)
    order = pc.sort_indices(slices)
    places, amounts = numbers(slices.take(order)), numbers(weights.take(order))
    begin = 0
    for at in range(count):
        end = bisect_right(places, at, begin)
        sums[at] = fsum(amounts[begin:end])
        begin = end
    return sums
