"""Turns the rules of a policy into claims about a load test: latency, goodput, errors and throughput of its levels."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from benchwright.core import ConfigError, suggest
from benchwright.perf import (
    METRICS,
    Difference,
    Distribution,
    LoadSummary,
    Requests,
    StageComparison,
    StageSummary,
    fewest_for,
    interval_at,
    latencies_of,
)
from benchwright.results._gates.decide import Claim, impossible
from benchwright.results._gates.policy import FAILED, Rule
from benchwright.results._load import stages_of_interest
from benchwright.results._load_comparison import matched_levels
from benchwright.stats import FEWEST, LimitTest, Spread

_PERCENTILES = tuple(name for name in Distribution.names if name.startswith("p"))
STATISTICS = ("mean", *_PERCENTILES, "min", "max")
"""The statistics that may follow the name of a latency: `ttft.p99`."""
ALL_STAGES = "all"
_OF_BENCHMARKS = ("level", "slices", "min_rows", "failures_as_wrong")
"""Keys of a regression that mean nothing for a load test. Load tests have no rows, and their intervals have 95 %."""


class LoadRun(Struct, frozen=True):
    """The evidence for rules about a load test."""

    summary: LoadSummary
    requests: Requests
    before: LoadSummary | None = None
    """The figures of the baseline; None: there is none."""
    requests_before: Requests | None = None
    no_pairs: str = ""
    """Why the test cannot be compared with a baseline."""


def split_figure(rule: Rule, written: str) -> tuple[str, str]:
    """Name and statistic of a figure: `ttft.p99`, `goodput`. Raises ConfigError for a figure that no load test has."""
    name, _, statistic = written.partition(".")
    if name not in METRICS:
        known = ", ".join(METRICS)
        raise ConfigError(
            f"{rule.where} figure: {name!r} is not a figure of load tests.{suggest(name, METRICS)} Known: {known}"
        )
    if METRICS[name].values is None:
        if statistic:
            raise ConfigError(
                f"{rule.where} figure: {name} is one value and has no {statistic!r}; write {name}"
            )
        return name, "value"
    if statistic not in STATISTICS:
        said = f"has no {statistic!r}" if statistic else "needs a statistic"
        raise ConfigError(
            f"{rule.where} figure: {name} {said}; write {name}.p99 or another of {', '.join(STATISTICS)}"
        )
    return name, statistic


def load_claims(rule: Rule, run: LoadRun) -> Iterator[Claim]:
    """All claims of one rule about a load test."""
    if rule.kind == "load":
        yield from _limits(rule, run)
    elif rule.kind == "regression":
        yield from _regressions(rule, run)
    else:
        subject = rule.metric or rule.figure or FAILED
        yield impossible(
            rule,
            subject,
            'the run is a load test; write the rule as [[load]], such as figure = "error_share"',
        )


def _stages(rule: Rule, run: LoadRun) -> list[StageSummary] | str:
    """The levels of a rule, or the reason why there are none."""
    stages = run.summary.stages
    labels = ", ".join(stage.label for stage in stages) or "none"
    if rule.stage == ALL_STAGES:
        return list(stages) or "the test has no levels"
    if rule.stage is not None:
        found = [stage for stage in stages if stage.label == rule.stage]
        return found or f"the test has no level {rule.stage!r}. It has: {labels}"
    if len(stages) == 1 or run.summary.search is not None:
        return list(stages_of_interest(run.summary)[:1])
    return f'the test has several levels: {labels}. Name one with stage = "…", or all'


def _limits(rule: Rule, run: LoadRun) -> Iterator[Claim]:
    name, statistic = split_figure(rule, rule.figure)
    stages = _stages(rule, run)
    if statistic in ("min", "max") and rule.bound != "value":
        stages = f'the {statistic} of a latency has no interval; use bound = "value", or a percentile'
    if isinstance(stages, str):
        yield impossible(rule, rule.figure, stages)
        return
    fewest = fewest_for(float(statistic[1:])) if statistic in _PERCENTILES else FEWEST
    for stage in stages:
        subject = rule.figure if len(run.summary.stages) == 1 else f"{rule.figure} at {stage.label}"
        for limit, side in rule.limits:
            found = _figure(run.requests, stage, name, statistic, limit, side)
            if isinstance(found, str):
                yield impossible(rule, subject, found)
            else:
                yield Claim(
                    rule=rule,
                    subject=subject,
                    found=found,
                    limit=limit,
                    side=side,
                    noun="requests",
                    fewest=fewest,
                    ranked=statistic in _PERCENTILES,
                    few=_too_few(statistic, found.spread.n, fewest),
                )


def _too_few(statistic: str, n: int, fewest: int) -> str:
    """Why a percentile of so few requests cannot be judged by its value; empty if it can."""
    if statistic not in _PERCENTILES or n >= fewest:
        return ""
    return f"{n:,} requests are too few for the {statistic[1:]}th percentile: it needs {fewest:,}"


def _figure(
    requests: Requests, stage: StageSummary, name: str, statistic: str, limit: float, side: int
) -> LimitTest | str:
    """The test of a level's figure against its limit, or the reason why there is none."""
    key = METRICS[name].key
    if name == "error_share" and stage.counts.sent:
        return LimitTest.of_share(stage.counts.failed, stage.counts.sent, limit, side, level=0.95)
    if name == "good_share" and stage.slo is not None and stage.slo.sent:
        return LimitTest.of_share(stage.slo.met, stage.slo.sent, limit, side, level=0.95)
    if statistic == "value":
        value, ends, n = stage.figures.get(key), stage.intervals.get(key), stage.counts.sent
    else:
        found = stage.metrics.get(key)
        value = None if found is None else found.figures()[statistic]
        ends = None if found is None else _ends(requests, stage, name, statistic)
        n = 0 if found is None else found.n
    if value is None:
        return f"the test has no {name}: {stage.absent.get(key) or stage.absent.get(name) or 'no request has a value'}"
    if statistic in _PERCENTILES:
        metric, percent = METRICS[METRICS[name].same_as or name], float(statistic[1:])
        values = latencies_of(requests, stage.stage, metric)
        return LimitTest.of_percentile(values, percent, limit, side, value=value, ends95=ends)
    if ends is None:
        return LimitTest(value, None, None, None, "", Spread(n, 0.0))
    return LimitTest.of_interval(value, ends, n, limit, side)


def _ends(requests: Requests, stage: StageSummary, name: str, statistic: str) -> tuple[float, float] | None:
    """The 95 % interval of a latency. The smallest and the largest have none."""
    found = stage.metrics[METRICS[name].key]
    if statistic in ("mean", "p99"):
        return found.mean_ci95 if statistic == "mean" else found.p99_ci95
    metric = METRICS[METRICS[name].same_as or name]
    return (
        interval_at(requests, stage.stage, metric, float(statistic[1:]))
        if statistic in _PERCENTILES
        else None
    )


def _regressions(rule: Rule, run: LoadRun) -> Iterator[Claim]:
    if run.no_pairs or run.before is None or run.requests_before is None:
        problem = (
            run.no_pairs
            or "there is no baseline to compare with; name one with --baseline (a first one: benchwright export RUN --baseline FILE)"
        )
        yield impossible(rule, rule.metric, problem)
        return
    plain = Rule(kind=rule.kind, where="")
    if given := [key for key in _OF_BENCHMARKS if getattr(rule, key) != getattr(plain, key)]:
        problem = (
            f"the run is a load test, for which a regression has no {' and no '.join(given)}; leave it out"
        )
        yield impossible(rule, rule.metric, problem)
        return
    try:
        name, statistic = split_figure(rule, rule.metric)
    except ConfigError as error:  # the policy may be meant for benchmarks, whose metrics have any name
        yield impossible(rule, rule.metric, str(error).partition("figure: ")[2])
        return
    if statistic in ("min", "max"):
        problem = f"tests are compared by means and percentiles of latencies, not by {statistic}"
        yield impossible(rule, rule.metric, problem)
        return
    matched, _, _ = matched_levels(run.before, run.summary)
    levels = [(a, b) for a, b in matched if rule.stage in (None, ALL_STAGES, b.label)]
    if not levels:
        yield impossible(rule, rule.metric, "the baseline has no level in common with the test")
    for a, b in levels:
        subject = rule.metric if len(matched) == 1 else f"{rule.metric} at {b.label}"
        compared = StageComparison.of(
            run.requests_before, run.requests, a, b, () if statistic == "value" else (statistic,)
        )
        found = [each for each in compared.differences if (each.name, each.statistic) == (name, statistic)]
        if not found:
            yield impossible(rule, subject, f"the tests have no difference of {rule.metric}")
        else:
            fewer = min((a, b), key=lambda stage: stage.counts.sent)
            yield _regression(rule, subject, found[0], fewer)


def _regression(rule: Rule, subject: str, found: Difference, stage: StageSummary) -> Claim:
    better = METRICS[found.name].better
    down = (better == "lower") if rule.lower_is_better is None else rule.lower_is_better
    margin = rule.margin if rule.margin_percent is None else abs(found.a) * rule.margin_percent / 100
    gain = -found.difference if down else found.difference
    title = f"{subject} against the baseline"
    n = stage.counts.sent
    if found.ci95 is None:
        test = LimitTest(gain, None, None, None, "", Spread(n, 0.0))
    else:
        ends = (-found.ci95[1], -found.ci95[0]) if down else found.ci95
        test = LimitTest.of_interval(gain, ends, n, -margin, 1)
    few, fewest = "", FEWEST
    if found.statistic in _PERCENTILES:
        fewest = fewest_for(float(found.statistic[1:]))
        few = _too_few(found.statistic, n, fewest)
    return Claim(
        rule=rule,
        subject=title,
        found=test,
        limit=-margin,
        allowed=margin,
        noun="requests",
        fewest=fewest,
        few=few,
    )
