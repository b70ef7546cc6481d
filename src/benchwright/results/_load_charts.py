"""The numbers of a load test's charts: few enough for a page, no matter how many requests there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from benchwright.perf import METRICS, InFlight, LoadSummary, Requests, compute as pc, flight_of, sorted_values
from benchwright.results._load import stages_of_interest
from benchwright.stats import percentile

PERCENTS = (*(each / 2 for each in range(198)), *(99 + each / 20 for each in range(21)))
"""The percentiles at which distributions are drawn: every half percent, and finer in the tail."""
MOST_SPANS = 120
"""The most spans of time in a curve."""
FEWEST_SPANS = 12
REQUESTS_PER_SPAN = 8
"""Requests per span. With only a few, rates jump between zero and a multiple of the true rate."""
LINES = 240
"""Most requests that the timeline draws."""
NEAR = 120
"""Requests drawn around the slowest one."""


class Cdf(Struct, frozen=True):
    """One distribution: the value at each of `PERCENTS`."""

    label: str
    values: tuple[float, ...]
    planned: bool = False
    """Whether its times are measured from the planned send."""


class OverTime(Struct, frozen=True):
    """Curves over the time of the test, one value per span; None if nothing happened."""

    start: float
    step: float
    requests: tuple[float, ...]
    """Completed per second."""
    failures: tuple[float, ...]
    """Failed per second."""
    tokens: tuple[float, ...]
    """Output tokens per second; empty: unknown."""
    ttft: tuple[tuple[float, float] | None, ...]
    """50th and 99th percentile in milliseconds, of requests sent in the span."""
    e2e: tuple[tuple[float, float] | None, ...]
    e2e_planned: tuple[tuple[float, float] | None, ...]
    """Latencies from the planned send, of requests planned in the span."""
    in_flight: tuple[tuple[float, int], ...]
    """Mean and peak."""
    stages: tuple[tuple[str, float, float], ...]
    """Labels with the first send and the last end of their requests."""


class ChartLine(Struct, frozen=True):
    """One request of the timeline; times in seconds of the test."""

    number: int
    label: str
    planned: float | None
    sent: float
    first_token: float | None
    ended: float
    outcome: str
    phase: str


def distribution_curves(requests: Requests, summary: LoadSummary, name: str) -> list[Cdf]:
    """The distributions of one metric, one per stage; stages without it are left out."""
    found = []
    for stage in stages_of_interest(summary):
        values = sorted_values(requests, stage.stage, METRICS[name])
        if len(values):
            at = tuple(percentile(values, percent) * METRICS[name].scale for percent in PERCENTS)
            found.append(Cdf(stage.label, at, name.endswith("_planned")))
    return found


def curves_over_time(requests: Requests, summary: LoadSummary) -> OverTime | None:
    """The curves; None if nothing was sent."""
    sent = requests.sent
    sent = sent.where(pc.is_valid(sent["ended"]))
    if not len(sent):
        return None
    start, end = pc.min(_begun(sent)).as_py(), pc.max(sent["ended"]).as_py()
    spans = min(MOST_SPANS, max(FEWEST_SPANS, len(sent) // REQUESTS_PER_SPAN))
    step = max(end - start, 1e-6) / spans
    done = sent.completed
    failed = sent.where(pc.not_equal(sent["outcome"], "ok"))

    def per_second(times: Any, weights: Any = None) -> tuple[float, ...]:
        from benchwright.perf import ones, sums_per_slice

        each = ones(len(times)) if weights is None else weights
        return tuple(amount / step for amount in sums_per_slice(times, each, start, step * spans, spans))

    from benchwright.perf import token_arrivals

    known = done["output_tokens"].is_valid().true_count
    arrivals = token_arrivals(done) if known else None
    flight = flight_of(sent)
    return OverTime(
        start,
        step,
        per_second(done["ended"]),
        per_second(failed["ended"]),
        () if arrivals is None else per_second(arrivals.times, arrivals.tokens),
        _latency_over_time(done, "sent", "first_token", start, step, spans),
        _latency_over_time(done, "sent", "last_content", start, step, spans),
        _latency_over_time(done, "planned", "last_content", start, step, spans),
        _in_flight(flight, start, step, spans),
        _spans(sent, summary),
    )


def _begun(requests: Requests) -> Any:
    """When each request was sent, or when its connection was known to have failed."""
    return pc.coalesce(requests["sent"], requests["ended"])


def _latency_over_time(
    done: Requests, since: str, until: str, start: float, step: float, spans: int
) -> tuple[tuple[float, float] | None, ...]:
    groups: list[list[float]] = [[] for _ in range(spans)]
    for at, end in zip(done[since].to_pylist(), done[until].to_pylist(), strict=True):
        if at is not None and end is not None:
            groups[max(0, min(spans - 1, int((at - start) / step)))].append((end - at) * 1000)
    return tuple(
        (percentile(ordered, 50), percentile(ordered, 99)) if (ordered := sorted(group)) else None
        for group in groups
    )


def _in_flight(flight: InFlight, start: float, step: float, spans: int) -> tuple[tuple[float, int], ...]:
    """Mean and peak of each span, in one pass over the steps."""
    sums, peaks = [0.0] * spans, [0] * spans
    for place, (time, count) in enumerate(zip(flight.times, flight.counts, strict=True)):
        until = flight.times[place + 1] if place + 1 < len(flight.times) else time
        bucket = min(spans - 1, max(0, int((time - start) / step)))
        peaks[bucket] = max(peaks[bucket], count)
        at = time
        while at < until:
            edge = min(until, start + (bucket + 1) * step) if bucket < spans - 1 else until
            sums[bucket] += count * (edge - at)
            peaks[bucket] = max(peaks[bucket], count)
            if edge >= until:
                break
            at, bucket = edge, bucket + 1
    return tuple((total / step, peak) for total, peak in zip(sums, peaks, strict=True))


def _spans(sent: Requests, summary: LoadSummary) -> tuple[tuple[str, float, float], ...]:
    found = []
    for stage in summary.stages:
        own = sent.stage(stage.stage)
        if len(own):
            found.append((stage.label, pc.min(_begun(own)).as_py(), pc.max(own["ended"]).as_py()))
    return tuple(found)


def timeline(requests: Requests, summary: LoadSummary) -> tuple[list[ChartLine], int]:
    """Requests in the order of sending, evenly thinned out for a page; and their total number."""
    sent = _ended(requests)
    total = len(sent)
    picked: Sequence[int] = (
        range(total) if total <= LINES else [place * total // LINES for place in range(LINES)]
    )
    return _lines(sent, picked, summary), total


def around_the_slowest(requests: Requests, summary: LoadSummary) -> list[ChartLine]:
    """Every request of a short while around the slowest one; empty if the timeline has all requests anyway."""
    sent = _ended(requests)
    if len(sent) <= LINES:
        return []
    starts = pc.coalesce(sent["planned"], sent["sent"])
    lasted = pc.if_else(pc.equal(sent["outcome"], "ok"), pc.subtract(sent["ended"], starts), 0.0)
    slowest = pc.index(lasted, pc.max(lasted)).as_py()
    first = max(0, min(len(sent) - NEAR, slowest - NEAR // 3))
    return _lines(sent, range(first, min(len(sent), first + NEAR)), summary)


def _ended(requests: Requests) -> Requests:
    sent = requests.sent
    return sent.where(pc.and_(pc.is_valid(sent["sent"]), pc.is_valid(sent["ended"]))).in_order("sent")


def _lines(sent: Requests, picked: Sequence[int], summary: LoadSummary) -> list[ChartLine]:
    labels = {stage.stage: stage.label for stage in summary.stages}
    rows = sent.at(picked).table.to_pylist() if len(sent) else []
    return [
        ChartLine(
            row["number"],
            labels.get(row["stage"], ""),
            row["planned_s"],
            row["sent_s"],
            row["first_token_s"],
            row["ended_s"],
            row["outcome"],
            row["phase"],
        )
        for row in rows
    ]
