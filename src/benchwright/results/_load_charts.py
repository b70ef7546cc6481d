"""The numbers of a load test's charts: few enough for a page, no matter how many requests there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchwright.core import JsonObject, JsonValue
from benchwright.perf import (
    METRICS,
    InFlight,
    LoadSummary,
    Metric,
    Requests,
    StageSummary,
    compute as pc,
    sorted_values,
)
from benchwright.results._load import stages_of_interest
from benchwright.stats import percentile

PERCENTS = (*(each / 2 for each in range(198)), *(99 + each / 20 for each in range(21)))
"""The percentiles at which distributions are drawn: every half percent, and finer in the tail."""
MOST_SPANS = 120
"""The most spans of time in a curve."""
FEWEST_SPANS = 12
REQUESTS_PER_SPAN = 8
"""Requests per span. With only a few, rates jump between zero and a multiple of the true rate."""
_DISTRIBUTIONS = {
    "ttft": "Time to first token",
    "itl": "Inter-token latency, all gaps",
    "tpot": "Time per output token",
    "e2e": "End-to-end latency",
}
LINES = 240
"""Most requests that the timeline draws."""
NEAR = 120
"""Requests drawn around the slowest one."""
_DIGITS = 4
"""Decimals of values: more than a chart can show."""


def load_charts(requests: Requests, summary: LoadSummary) -> JsonObject:
    """All curves: the distributions of latencies, the course of the test, and the timeline of its requests."""
    over_time = _over_time(requests, summary)
    return {
        "percents": list(PERCENTS),
        "distributions": [
            {"name": name, "title": title, "curves": curves, "planned": _distributions(requests, summary, f"{name}_planned")}
            for name, title in _DISTRIBUTIONS.items()
            if (curves := _distributions(requests, summary, name))
        ],
        "over_time": over_time,
        "timeline": _timeline(requests, summary),
    }  # fmt: skip


def _distributions(requests: Requests, summary: LoadSummary, name: str) -> list[JsonValue]:
    """The distributions of one metric, one per stage: its value at each of `PERCENTS`. Stages without it are left out."""
    metric = METRICS.get(name)
    found: list[JsonValue] = []
    for stage in stages_of_interest(summary) if metric is not None else ():
        values = sorted_values(requests, stage.stage, METRICS[name])
        if len(values):
            at: list[JsonValue] = [
                round(percentile(values, percent) * METRICS[name].scale, _DIGITS) for percent in PERCENTS
            ]
            found.append({"label": stage.label, "values": at})
    return found


_OVERLAID = (*range(0, 99, 2), 99, 99.5, 99.9, 100)
"""The percentiles of distributions that are drawn over each other."""


def overlaid_curves(
    requests: tuple[Requests, Requests],
    summaries: tuple[LoadSummary, LoadSummary],
    matched: Sequence[tuple[StageSummary, StageSummary]],
) -> JsonObject:
    """The curves of two tests for one picture: `percents` and `distributions` of latencies at the last level that both have, in
    milliseconds; and `sweep`, the throughput and the latencies of every level of each test."""
    last = matched[-1]

    def values(metric: Metric) -> list[list[JsonValue]]:
        found = [sorted_values(each, stage.stage, metric) for each, stage in zip(requests, last, strict=True)]
        return [
            [round(percentile(each, percent) * metric.scale, _DIGITS) for percent in _OVERLAID]
            for each in found
            if len(each)
        ]

    curves = (
        (name, title, values(METRICS[name])) for name, title in _DISTRIBUTIONS.items() if name in METRICS
    )
    return {
        "percents": list(_OVERLAID),
        "level": last[0].label if last[0].label == last[1].label else f"{last[0].label} and {last[1].label}",
        "distributions": [
            {"name": name, "title": title, "run_a": found[0], "run_b": found[1]}
            for name, title, found in curves
            if len(found) == 2
        ],
        "sweep": {
            side: [_level(stage) for stage in summary.stages]
            for side, summary in zip(("run_a", "run_b"), summaries, strict=True)
        },
    }


def _level(stage: StageSummary) -> JsonObject:
    known = {key: stage.metrics.get(key) for key in (METRICS[name].key for name in ("ttft", "e2e"))}
    latencies: JsonObject = {
        key: None if found is None else {"p50": found.shown("p50"), "p99": found.shown("p99")}
        for key, found in known.items()
    }
    return {
        "label": stage.label,
        "level": stage.level,
        "request_throughput_per_s": stage.figures.get("request_throughput_per_s"),
        **latencies,
    }


def _over_time(requests: Requests, summary: LoadSummary) -> JsonObject | None:
    """Curves over the time of the test, one value per span; None if nothing was sent. Rates are per second, tokens are empty if
    they are unknown, latencies are the 50th and 99th percentile in milliseconds of requests sent (or planned) in the span, requests
    in flight their mean and peak. Stages have their first send and last end."""
    from benchwright.perf import sums_per_slice, token_arrivals

    sent = requests.sent
    sent = sent.where(pc.is_valid(sent["ended"]))
    if not len(sent):
        return None
    start, end = pc.min(_begun(sent)).as_py(), pc.max(sent["ended"]).as_py()
    spans = min(MOST_SPANS, max(FEWEST_SPANS, len(sent) // REQUESTS_PER_SPAN))
    step = max(end - start, 1e-6) / spans
    done = sent.completed
    failed = sent.where(pc.not_equal(sent["outcome"], "ok"))

    def per_second(times: Any, weights: Any = None) -> list[JsonValue]:
        sums = sums_per_slice(times, weights, start, step * spans, spans)
        return [round(amount / step, _DIGITS) for amount in sums]

    known = len(done) and not done["output_tokens"].null_count
    arrivals = token_arrivals(done) if known else None
    return {
        "start": start,
        "step": step,
        "requests": per_second(done["ended"]),
        "failures": per_second(failed["ended"]),
        "tokens": [] if arrivals is None else per_second(arrivals.times, arrivals.tokens),
        "ttft": _latencies(done, "sent", "first_token", start, step, spans),
        "e2e": _latencies(done, "sent", "last_content", start, step, spans),
        "e2e_planned": _latencies(done, "planned", "last_content", start, step, spans),
        "in_flight": _in_flight(InFlight.of(sent), start, step, spans),
        "stages": _spans(sent, summary),
    }


def _begun(requests: Requests) -> Any:
    """When each request was sent, or when its connection was known to have failed."""
    return pc.coalesce(requests["sent"], requests["ended"])


def _latencies(
    done: Requests, since: str, until: str, start: float, step: float, spans: int
) -> list[JsonValue]:
    groups: list[list[float]] = [[] for _ in range(spans)]
    for at, end in zip(done[since].to_pylist(), done[until].to_pylist(), strict=True):
        if at is not None and end is not None:
            groups[max(0, min(spans - 1, int((at - start) / step)))].append((end - at) * 1000)
    return [
        [round(percentile(ordered, each), _DIGITS) for each in (50, 99)]
        if (ordered := sorted(group))
        else None
        for group in groups
    ]


def _in_flight(flight: InFlight, start: float, step: float, spans: int) -> list[JsonValue]:
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
    return [[round(total / step, _DIGITS), peak] for total, peak in zip(sums, peaks, strict=True)]


def _spans(sent: Requests, summary: LoadSummary) -> list[JsonValue]:
    found: list[JsonValue] = []
    for stage in summary.stages:
        own = sent.stage(stage.stage)
        if len(own):
            found.append([stage.label, pc.min(_begun(own)).as_py(), pc.max(own["ended"]).as_py()])
    return found


def _timeline(requests: Requests, summary: LoadSummary) -> JsonObject:
    """Requests in the order of sending, evenly thinned out for a page; every one of a short while around the slowest, if they are not
    all there anyway; and their total number."""
    sent = requests.sent
    sent = sent.where(pc.and_(pc.is_valid(sent["sent"]), pc.is_valid(sent["ended"]))).in_order("sent")
    total = len(sent)
    if total <= LINES:
        return {"lines": _lines(sent, range(total), summary), "near": [], "total": total}
    starts = pc.coalesce(sent["planned"], sent["sent"])
    lasted = pc.if_else(pc.equal(sent["outcome"], "ok"), pc.subtract(sent["ended"], starts), 0.0)
    slowest = pc.index(lasted, pc.max(lasted)).as_py()
    first = max(0, min(total - NEAR, slowest - NEAR // 3))
    return {
        "lines": _lines(sent, [place * total // LINES for place in range(LINES)], summary),
        "near": _lines(sent, range(first, min(total, first + NEAR)), summary),
        "total": total,
    }


def _lines(sent: Requests, picked: Sequence[int], summary: LoadSummary) -> list[JsonValue]:
    labels = {stage.stage: stage.label for stage in summary.stages}
    rows = sent.at(picked).table.to_pylist() if len(sent) else []
    return [
        {
            "number": row["number"],
            "label": labels.get(row["stage"], ""),
            **{name: row[f"{name}_s"] for name in ("planned", "sent", "first_token", "ended")},
            "outcome": row["outcome"],
            "phase": row["phase"],
        }
        for row in rows
    ]
