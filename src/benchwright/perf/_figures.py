"""The figures of one stage: distributions over its requests, and figures of the stage as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import fsum
from typing import Any

from benchwright.perf._bootstrap import (
    SLICES,
    Blocked,
    Interval,
    block_count,
    block_of,
    mean_interval,
    percentile_interval,
    rate_interval,
)
from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import Distribution, describe, numbers
from benchwright.perf._faults import faults_of
from benchwright.perf._flight import InFlight, TokenArrivals, sums_per_slice, token_arrivals
from benchwright.perf._metrics import METRICS, PER_REQUEST, Metric
from benchwright.perf._partial_stalls import partial_stalls
from benchwright.perf._requests import Requests
from benchwright.perf._slo import Limits, within
from benchwright.perf._stalls import Stall, stalls_of


class StageRequests:
    """The measured requests of a stage, in the groups for which figures are computed."""

    def __init__(self, measured: Requests) -> None:
        self.measured = measured
        self.sent = measured.sent
        self.completed = self.sent.completed

    @cached_property
    def faults(self) -> Any:
        """The fault of each completed request, null if it has none."""
        return faults_of(self.completed)

    @cached_property
    def measurable(self) -> Requests:
        """Completed at the first attempt and without a fault, in the order of sending: the requests with latencies."""
        good = pc.and_(pc.is_null(self.faults), pc.equal(self.completed["attempts"], 1))
        return self.completed.where(good).in_order("sent")

    @cached_property
    def flight(self) -> InFlight:
        """Requests in flight over time."""
        return InFlight.of(self.sent)

    @cached_property
    def stalls(self) -> list[Stall]:
        """Spans in which nothing arrived although requests were in flight."""
        found = stalls_of(self.sent, self.flight)
        return sorted([*found, *partial_stalls(self.sent, found)], key=lambda stall: stall.start)

    @cached_property
    def tokens(self) -> TokenArrivals | None:
        """When output tokens arrived; None if a reply has no token count, because the others are not all tokens."""
        good = self.completed.where(pc.is_null(self.faults))
        return token_arrivals(good) if len(good) and not good["output_tokens"].null_count else None

    @cached_property
    def span(self) -> tuple[float, float] | None:
        """From the first planned send, or the first send if nothing is planned, to the last end."""
        if not len(self.sent):
            return None
        start = pc.min(self.measured["planned"]).as_py()
        end = pc.max(self.sent["ended"]).as_py()
        start = pc.min(self.sent["sent"]).as_py() if start is None else start
        return None if start is None or end is None or end <= start else (start, end)


def distributions(stage: StageRequests) -> dict[str, Distribution]:
    """The distributions of all metrics with values, by name."""
    requests = stage.measurable
    found: dict[str, Distribution] = {}
    for metric in PER_REQUEST:
        if metric.same_as is not None:
            found |= {metric.name: found[metric.same_as]} if metric.same_as in found else {}
        elif len(requests) and (each := distribution(requests, metric)) is not None:
            found[metric.name] = each
    return found


def distribution(requests: Requests, metric: Metric) -> Distribution | None:
    """The distribution of one metric over requests in the order of sending; None if none of them has it."""
    values, blocked, count = in_blocks(requests, metric)
    if blocked is None:
        return None
    ordered, scale, digits = blocked.ordered, metric.scale, metric.digits
    if ordered[0] == ordered[-1]:  # without spread there is no basis for an interval
        return describe(values, ordered, scale, digits)
    ends = mean_interval(blocked, count), percentile_interval(blocked, count, 99)
    return describe(values, ordered, scale, digits, *ends)


def interval_at(requests: Requests, stage: int, metric: Metric, percent: float) -> Interval | None:
    """The 95 % interval of a percentile in a stage, in the unit of the metric; None: too few requests. Files have only that of
    the 99th, because each takes long and few are needed."""
    sent = StageRequests(requests.stage(stage)).measurable
    _, blocked, count = in_blocks(sent, metric)
    if blocked is None or blocked.ordered[0] == blocked.ordered[-1]:
        return None
    ends = percentile_interval(blocked, count, percent)
    return (
        None
        if ends is None
        else (metric.rounded(ends[0] * metric.scale), metric.rounded(ends[1] * metric.scale))
    )


def latencies_of(requests: Requests, stage: int, metric: Metric) -> list[float]:
    """The values of a metric in a stage, in its unit, in the order of sending."""
    assert metric.values is not None
    sent = StageRequests(requests.stage(stage)).measurable.in_order("sent")
    return [metric.rounded(value * metric.scale) for value in numbers(metric.values(sent).drop_null())]


def in_blocks(requests: Requests, metric: Metric, mask: Any = None) -> tuple[Any, Blocked | None, int]:
    """The values of a metric, where the mask is true if there is one; the same in blocks, None if no request has it; and the number
    of requests that have it. Blocks are made of these requests alone, so that every draw has values."""
    assert metric.values is not None
    values = metric.values(requests)
    known = pc.is_valid(values) if mask is None else mask
    values = values.filter(known)
    if not len(values):
        return values, None, 0
    if metric.pooled:
        parents = requests.gap_requests.filter(known)
        owners = pc.unique(parents)
        count, own = len(owners), pc.index_in(parents, value_set=owners)
        blocks = block_of(count).take(own)
    else:
        count = len(values)
        blocks = block_of(count)
    order = pc.sort_indices(values)
    return values, Blocked(values, blocks, numbers(values.take(order)), order, block_count(count)), count


def stage_figures(stage: StageRequests) -> dict[str, float]:
    """Figures of the stage by name, without those that it cannot have."""
    found: dict[str, float] = {}
    if (offered := _rate(stage.measured["planned"], stage.measured["planned"])) is not None:
        found["offered"] = offered
    if (attempted := _rate(stage.sent["sent"], stage.sent["planned"])) is not None:
        found["attempted"] = attempted
    if len(stage.sent):
        found["error_share"] = 1 - len(stage.completed) / len(stage.sent)
        found["peak_concurrency"] = float(stage.flight.peak)
    if stage.span is not None:
        start, end = stage.span
        found["duration"] = end - start
        found["request_throughput"] = len(stage.completed) / (end - start)
        found["mean_concurrency"] = fsum(numbers(stage.sent.seconds("sent", "ended").drop_null())) / (
            end - start
        )
        found |= _token_figures(stage, end - start)
    found |= _shares(stage)
    return found


def _rate(times: Any, planned: Any) -> float | None:
    """The number of instants after the first, divided by the time from the first to the last. Several may be planned as the
    first, in a burst; without a plan it is one."""
    known = len(times) - times.null_count
    if known < 2:
        return None
    length = pc.max(times).as_py() - pc.min(times).as_py()
    together = pc.equal(planned, pc.min(planned)).true_count or 1
    return (known - together) / length if length > 0 and known > together else None


def _token_figures(stage: StageRequests, seconds: float) -> dict[str, float]:
    found = {}
    inputs, outputs = (_total(stage.completed[name]) for name in ("input_tokens", "output_tokens"))
    if inputs is not None:
        found["input_throughput"] = inputs / seconds
    if outputs is not None:
        found["output_throughput"] = outputs / seconds
    if inputs is not None and outputs is not None:
        found["total_throughput"] = (inputs + outputs) / seconds
    if stage.tokens is not None and stage.span is not None and seconds >= 1:
        # If tokens come in bursts more than a second apart, every second may be below the overall mean.
        found["peak_output_throughput"] = max(
            stage.tokens.most_within(1.0), found.get("output_throughput", 0.0)
        )
    return found


def _total(counts: Any) -> int | None:
    """The sum; None if any count is unknown or impossible, because a sum over some requests is not a total."""
    if not len(counts) or counts.null_count or pc.min(counts).as_py() < 0:
        return None
    return int(pc.sum(counts).as_py())


def _shares(stage: StageRequests) -> dict[str, float]:
    found = {}
    for name, part, whole in (
        ("cached_share", "cached_tokens", "input_tokens"),
        ("output_length_share", "output_tokens", "requested_tokens"),
    ):
        if (share := _share(stage.completed, part, whole)) is not None:
            found[name] = share
    return found


def _share(requests: Requests, part: str, whole: str) -> float | None:
    both = requests.where(pc.and_(pc.is_valid(requests[part]), pc.is_valid(requests[whole])))
    below = pc.sum(both[whole]).as_py()
    return pc.sum(both[part]).as_py() / below if below else None


def rate_slices(stage: StageRequests, limits: Limits = ()) -> dict[str, list[float]]:
    """Throughputs in equal slices of the duration, by name; with limits, goodput too. Empty if there are too few requests."""
    if stage.span is None or len(stage.completed) < SLICES:
        return {}
    start, end = stage.span
    length = end - start
    ends = stage.completed["ended"].drop_null()
    slices = {"request_throughput": sums_per_slice(ends, None, start, length, SLICES)}
    if stage.tokens is not None and _total(stage.completed["output_tokens"]) is not None:
        slices["output_throughput"] = stage.tokens.per_slice(start, length, SLICES)
    if limits:
        good = within(limits, stage.measurable)["ended"].drop_null()
        slices["goodput"] = sums_per_slice(good, None, start, length, SLICES)
    return {name: [amount * SLICES / length for amount in each] for name, each in slices.items()}


def rate_intervals(stage: StageRequests, limits: Limits = ()) -> dict[str, Interval]:
    """Intervals of throughputs, by name."""
    rates = rate_slices(stage, limits)
    return {name: found for name, each in rates.items() if (found := rate_interval(each)) is not None}


def reasons_for_absence(found: dict[str, Any], slo: str | None) -> dict[str, str]:
    """Why figures are absent, by key."""
    reasons = {metric.key: metric.needs for name, metric in METRICS.items() if name not in found}
    if slo:
        reasons |= {METRICS[name].key: slo for name in ("goodput", "good_share") if name not in found}
    return {key: reason or "nothing was measured" for key, reason in reasons.items()}


def sorted_values(requests: Requests, stage: int, metric: Metric) -> Sequence[float]:
    """The values of a metric over the requests of a stage that have latencies, sorted; in seconds if it is a time."""
    assert metric.values is not None
    values = metric.values(StageRequests(requests.stage(stage)).measurable).drop_null()
    return numbers(values.take(pc.sort_indices(values)))
