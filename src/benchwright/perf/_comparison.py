"""Compares two load tests: how much each figure differs, with an interval, and whether that is more than chance.

If both sent the same rows at the same places of the plan, requests are compared in pairs, and the same blocks are drawn
from both. Otherwise each side is drawn separately. Intervals cover the chance within the two tests, not changes from one
test to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import erfc, fsum, sqrt
from operator import mul
from typing import Any

from msgspec import Struct, structs

from benchwright.perf._bootstrap import (
    SEED,
    SLICES,
    Blocked,
    Interval,
    Weights,
    draws,
    fewest_for,
    interval_of,
)
from benchwright.perf._columns import compute as pc
from benchwright.perf._distributions import mean_of
from benchwright.perf._figures import StageRequests, in_blocks, rate_slices
from benchwright.perf._metrics import METRICS, PER_REQUEST, Metric
from benchwright.perf._quality import ScoreDifference, StageScores, score_differences
from benchwright.perf._requests import Requests
from benchwright.perf._slo import Limits
from benchwright.perf._stage_summary import StageSummary
from benchwright.stats import FEWEST, holm, percentile

SIGNIFICANT = 0.05
PAIRED_SHARE = 0.5
"""Share of the requests of either side that must have a partner."""


class Difference(Struct, frozen=True):
    """One figure of both tests, in its unit."""

    name: str
    """The metric."""
    statistic: str
    """`mean`, `p50`, `p99`, or `value` for a figure of the stage."""
    a: float
    b: float
    difference: float
    """b − a."""
    ci95: Interval | None
    """Interval of the difference; None: too few requests, or there is none for this figure."""
    paired: bool
    p_value: float | None = None
    """Probability of a difference at least this large by chance, adjusted by Holm's method for all comparisons."""

    @property
    def significant(self) -> bool:
        """Whether it is more than chance."""
        return self.p_value is not None and self.p_value < SIGNIFICANT

    @property
    def worse(self) -> bool:
        """Whether the second test is worse, by chance or not."""
        better = METRICS[self.name].better
        return (better == "lower" and self.difference > 0) or (better == "higher" and self.difference < 0)

    @property
    def relative(self) -> float | None:
        """The difference as a share of the first test's value."""
        return self.difference / self.a if self.a else None


class StageComparison(Struct, frozen=True):
    """One level of both tests."""

    label: str
    pairs: int
    """Requests compared in pairs; 0: the tests sent different requests and are compared as a whole."""
    differences: tuple[Difference, ...]
    scores: tuple[ScoreDifference, ...] = ()
    """Differences of scores, if both tests scored the replies."""

    @classmethod
    def of(
        cls,
        a: Requests,
        b: Requests,
        summary_a: StageSummary,
        summary_b: StageSummary,
        statistics: Sequence[str] = ("mean", "p50", "p99"),
    ) -> StageComparison:
        """Compare a stage of one test with one of another, latencies by these statistics."""
        sides = StageRequests(a.stage(summary_a.stage)), StageRequests(b.stage(summary_b.stage))
        pairs = _pairs(sides[0].measurable, sides[1].measurable)
        found = [
            each
            for name in ("request_throughput", "output_throughput", "goodput")
            if (each := _rate(name, *sides, summary_a, summary_b)) is not None
        ]
        found += [
            each
            for name in ("error_share", "good_share")
            if (each := _share(name, summary_a, summary_b)) is not None
        ]
        one, other = pairs or (sides[0].measurable, sides[1].measurable)
        for metric in PER_REQUEST:
            if metric.limit or metric.headline:
                found += _latency(metric, one, other, statistics, paired=pairs is not None)
        scores = tuple(score_differences(*(StageScores(side.completed) for side in sides)))
        return cls(summary_b.label, 0 if pairs is None else len(one), tuple(found), scores)

    @staticmethod
    def adjusted(stages: Sequence[StageComparison]) -> tuple[StageComparison, ...]:
        """Adjust p-values by Holm's method over all levels, because some of many differences are large by chance."""
        tests = {
            key: key[-1]
            for stage in stages
            for each in stage.differences
            if (key := _test(stage, each))[-1] is not None
        }
        found = dict(zip(tests, holm([*tests.values()]), strict=True))
        return tuple(
            structs.replace(
                stage,
                differences=tuple(
                    structs.replace(each, p_value=found.get(_test(stage, each))) for each in stage.differences
                ),
            )
            for stage in stages
        )


def _test(stage: StageComparison, each: Difference) -> tuple[Any, ...]:
    """The identity of a test. Equal values, such as ttft and ttft_answer without reasoning, are one test."""
    return stage.label, each.statistic, each.a, each.b, each.ci95, each.p_value


def _pairs(a: Requests, b: Requests) -> tuple[Requests, Requests] | None:
    """The requests at the same places of both plans, in the order of the plan; None: the plans sent different rows."""
    if not len(a) or not len(b):
        return None
    places = [pc.subtract(each["number"], pc.min(each["number"])) for each in (a, b)]
    # Look-ups instead of `Table.join`, which loads pyarrow.dataset and with it pandas.
    order = pc.sort_indices(places[0])
    partners = pc.index_in(places[0].take(order), value_set=places[1])
    met = pc.is_valid(partners)
    one, other = (
        Requests(each.table.take(at.filter(met)).combine_chunks()) for each, at in ((a, order), (b, partners))
    )
    tokens = [pc.fill_null(each["requested_tokens"], -1) for each in (one, other)]
    same = pc.and_(pc.equal(one["row"], other["row"]), pc.equal(*tokens))
    if len(one) < PAIRED_SHARE * max(len(a), len(b)) or not pc.all(same).as_py():
        return None
    return one, other


def _latency(
    metric: Metric, a: Requests, b: Requests, statistics: Sequence[str], *, paired: bool
) -> list[Difference]:
    assert metric.values is not None
    both = None
    if paired and metric.pooled:
        gaps = pc.and_(pc.greater(a.events, 1), pc.greater(b.events, 1))
        a, b = a.where(gaps), b.where(gaps)
    elif paired:
        both = pc.and_(pc.is_valid(metric.values(a)), pc.is_valid(metric.values(b)))
    sides: list[_Side] = []
    few = min(len(a), len(b))
    for requests in (a, b):
        values, blocked, count = in_blocks(requests, metric, both)
        if blocked is None:
            return []
        sides.append((values, blocked, blocked.ordered))
        few = min(few, count)
    found = []
    for statistic in statistics:
        fewest = FEWEST if statistic == "mean" else fewest_for(float(statistic[1:]))
        one, other = (_value(side, statistic) for side in sides)
        estimates = _drawn(sides, statistic, paired) if few >= fewest else None
        found.append(
            _difference(
                metric, statistic, one, other, estimates, min(each[1].count for each in sides), paired
            )
        )
    return found


_Side = tuple[Any, Blocked, Sequence[float]]
"""Values in order, the same in blocks, and the same sorted."""


def _value(side: _Side, statistic: str) -> float:
    return mean_of(side[0]) if statistic == "mean" else percentile(side[2], float(statistic[1:]))


def _drawn(sides: Sequence[_Side], statistic: str, paired: bool) -> list[float]:
    """The difference in each draw."""
    one, other = (_estimator(side[1], statistic) for side in sides)
    first = draws(sides[0][1].count)
    second = first if paired else draws(sides[1][1].count, SEED + 1)
    return [other(w) - one(v) for v, w in zip(first, second, strict=True)]


def _estimator(blocked: Blocked, statistic: str) -> Callable[[Weights], float]:
    if statistic == "mean":
        return blocked.mean
    percent = float(statistic[1:])
    return lambda weights: blocked.percentile(weights, percent)


def _difference(
    metric: Metric,
    statistic: str,
    a: float,
    b: float,
    estimates: Sequence[float] | None,
    blocks: int,
    paired: bool,
) -> Difference:
    """The difference in the unit of the metric, rounded as in files."""

    def shown(value: float) -> float:
        return metric.rounded(value * metric.scale)

    ci95, p_value = None, None
    if estimates is not None:
        low, high = interval_of(estimates, blocks)
        ci95, p_value = (shown(low), shown(high)), _p_value(b - a, estimates, blocks)
    return Difference(metric.name, statistic, shown(a), shown(b), shown(b - a), ci95, paired, p_value)


def _p_value(difference: float, estimates: Sequence[float], blocks: int) -> float:
    """The p-value by the spread of the draws, widened like the interval."""
    mean = fsum(estimates) / len(estimates)
    spread = sqrt(
        fsum((each - mean) ** 2 for each in estimates) / (len(estimates) - 1) * blocks / (blocks - 1)
    )
    if spread <= 1e-12 * abs(difference):
        return 0.0 if difference else 1.0
    return erfc(abs(difference) / spread / sqrt(2))


def _rate(
    name: str, a: StageRequests, b: StageRequests, summary_a: StageSummary, summary_b: StageSummary
) -> Difference | None:
    metric = METRICS[name]
    values = summary_a.figures.get(metric.key), summary_b.figures.get(metric.key)
    if values[0] is None or values[1] is None:
        return None
    slices = [
        rate_slices(side, _limits(summary) if name == "goodput" else ()).get(name)
        for side, summary in ((a, summary_a), (b, summary_b))
    ]
    estimates = None
    if slices[0] is not None and slices[1] is not None:
        first, second = draws(SLICES), draws(SLICES, SEED + 1)
        estimates = [
            fsum(map(mul, w, slices[1])) / SLICES - fsum(map(mul, v, slices[0])) / SLICES
            for v, w in zip(first, second, strict=True)
        ]
    return _difference(metric, "value", values[0], values[1], estimates, SLICES, paired=False)


def _limits(summary: StageSummary) -> Limits:
    return (
        ()
        if summary.slo is None
        else tuple((name, limit / 1000) for name, (limit, _) in summary.slo.limits.items())
    )


def _share(name: str, a: StageSummary, b: StageSummary) -> Difference | None:
    """Shares of requests: Newcombe's interval of the difference, and the test of two proportions."""
    from benchwright.stats import wilson_interval

    metric = METRICS[name]
    counts = [_count(name, stage) for stage in (a, b)]
    if counts[0] is None or counts[1] is None:
        return None
    (hits_a, n_a), (hits_b, n_b) = counts[0], counts[1]
    p, q = hits_a / n_a, hits_b / n_b
    (low_p, high_p), (low_q, high_q) = wilson_interval(hits_a, n_a), wilson_interval(hits_b, n_b)
    difference = q - p
    low = difference - sqrt((q - low_q) ** 2 + (high_p - p) ** 2)
    high = difference + sqrt((high_q - q) ** 2 + (p - low_p) ** 2)
    pooled = (hits_a + hits_b) / (n_a + n_b)
    error = sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    p_value = erfc(abs(difference) / error / sqrt(2)) if error else 1.0
    ends = (metric.rounded(low), metric.rounded(high))
    return Difference(
        name, "value", metric.rounded(p), metric.rounded(q), metric.rounded(difference), ends, False, p_value
    )


def _count(name: str, stage: StageSummary) -> tuple[int, int] | None:
    if not stage.counts.sent:
        return None
    if name == "error_share":
        return stage.counts.failed, stage.counts.sent
    return None if stage.slo is None else (stage.slo.met, stage.slo.sent)
