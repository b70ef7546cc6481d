"""The charts of a load test's page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.perf import METRICS, LoadSummary, Requests, StageSummary, enough_values
from benchwright.reports.html.charts import Axis, Chart, Point, Series, Tip, axis_for
from benchwright.results import PERCENTS, Cdf, OverTime, distribution_curves, limit_text, short


def _limits(summary: LoadSummary, *names: str) -> tuple[tuple[float, str], ...]:
    """The limits of `--slo` on some latencies, in milliseconds, with texts."""
    slo = next((stage.slo for stage in summary.stages if stage.slo is not None), None)
    if slo is None:
        return ()
    return tuple(
        (
            each.limit_ms,
            f"limit {limit_text(each.limit_ms / 1000)}{' from the plan' if each.name.endswith('_planned') else ''}",
        )
        for each in slo.limits
        if each.name in names
    )


def _with_limits(values: Sequence[float], limits: Sequence[tuple[float, str]]) -> list[float]:
    """The values of an axis, and the limits that are near enough to be shown with them."""
    high = max(values, default=0.0)
    return [*values, *(limit for limit, _ in limits if limit <= _NEAR_ENOUGH * high)]


_NEAR_ENOUGH = 3.0


def distribution_charts(requests: Requests, summary: LoadSummary) -> list[Chart]:
    """Cumulative distributions of the latencies that were measured."""
    found = []
    for name, more, title in (
        ("ttft", "ttft_planned", "Time to first token"),
        ("itl", None, "Inter-token latency, all gaps"),
        ("tpot", None, "Time per output token"),
        ("e2e", "e2e_planned", "End-to-end latency"),
    ):
        curves = distribution_curves(requests, summary, name)
        planned = [] if more is None else distribution_curves(requests, summary, more)
        if curves:
            found.append(_cdf_chart(title, curves, planned, _limits(summary, name, more or "")))
    return found


def _cdf_chart(
    title: str, curves: Sequence[Cdf], planned: Sequence[Cdf], limits: tuple[tuple[float, str], ...]
) -> Chart:
    everything = [*curves, *planned]
    low = min(curve.values[0] for curve in everything)
    high = max(curve.values[-1] for curve in everything)
    middle = min(curve.values[PERCENTS.index(50)] for curve in everything)
    log = low > 0 and high > 20 * middle
    several = len(curves) > 1
    series = []
    for colour, curve in enumerate(curves):
        name = curve.label if several else "from sending" if planned else "all requests"
        series.append(Series(name, tuple(zip(curve.values, PERCENTS, strict=True)), colour))
    labels = [curve.label for curve in curves]
    for curve in planned:
        colour = labels.index(curve.label) if several and curve.label in labels else 1
        name = f"{curve.label}, from the plan" if several else "from the plan"
        series.append(Series(name, tuple(zip(curve.values, PERCENTS, strict=True)), colour, dashed=True))
    tips = []
    for place, percent in enumerate(PERCENTS):
        values = "\n".join(
            f"{each.name}: {short(each.points[place][0], METRICS['ttft'])} ms" for each in series
        )
        tips.append(Tip(percent, f"{percent:g} % of values are at most\n{values}"))
    title_x = "milliseconds" + (", logarithmic" if log else "")
    x = axis_for(_with_limits([low, high], limits), title_x, log=log, zero=low < 0.5 * high)
    return Chart(
        title=title, x=x, y=Axis(0, 100, percent=True), series=tuple(series), tips=tuple(tips), along="y",
        note="" if not planned else "Dashed: from the time that the schedule had for the request.", limits=limits,
    )  # fmt: skip


def over_time_charts(curves: OverTime, summary: LoadSummary) -> list[Chart]:
    """Throughput and latency over the time of the test."""
    x = Axis(curves.start, curves.start + curves.step * len(curves.requests), "seconds of the test")
    marks = (
        tuple((max(start, x.low), label.removesuffix(" in flight")) for label, start, _ in curves.stages)
        if len(curves.stages) > 1
        else ()
    )
    times = [curves.start + (place + 0.5) * curves.step for place in range(len(curves.requests))]
    found = [_rate_chart(curves, times, x, marks)]
    if curves.tokens:
        found.append(_token_chart(curves, times, x, marks))
    if any(curves.ttft):
        limits = _limits(summary, "ttft")
        found.append(
            _latency_chart("Time to first token over time", curves.ttft, (), times, x, marks, limits)
        )
    if any(curves.e2e):
        limits = _limits(summary, "e2e", "e2e_planned")
        found.append(
            _latency_chart(
                "End-to-end latency over time", curves.e2e, curves.e2e_planned, times, x, marks, limits
            )
        )
    return found


def _rate_chart(
    curves: OverTime, times: Sequence[float], x: Axis, marks: tuple[tuple[float, str], ...]
) -> Chart:
    series = [Series("completed", _steps(curves, curves.requests), 0, "area")]
    if any(curves.failures):
        series.append(Series("failed", _steps(curves, curves.failures), 7, "area"))
    tips = tuple(
        Tip(time, f"{time:,.1f} s\n{done:,.1f} completed per second\n{lost:,.1f} failed per second")
        for time, done, lost in zip(times, curves.requests, curves.failures, strict=True)
    )
    return Chart(
        title="Requests per second", x=x, y=axis_for([*curves.requests, *curves.failures], ""), series=tuple(series), tips=tips, marks=marks
    )  # fmt: skip


def _token_chart(
    curves: OverTime, times: Sequence[float], x: Axis, marks: tuple[tuple[float, str], ...]
) -> Chart:
    tips = tuple(
        Tip(time, f"{time:,.1f} s\n{tokens:,.0f} output tokens per second")
        for time, tokens in zip(times, curves.tokens, strict=True)
    )
    series = (Series("output tokens", _steps(curves, curves.tokens), 2, "area"),)
    return Chart(
        title="Output tokens per second", x=x, y=axis_for(curves.tokens, ""), series=series, tips=tips, marks=marks, legend=False
    )  # fmt: skip


def _steps(curves: OverTime, values: Sequence[float]) -> tuple[Point, ...]:
    """Each value from the start of its span; the last one until the end."""
    found = [(curves.start + place * curves.step, value) for place, value in enumerate(values)]
    return (*found, (curves.start + len(values) * curves.step, values[-1]))


def _latency_chart(
    title: str,
    values: Sequence[tuple[float, float] | None],
    planned: Sequence[tuple[float, float] | None],
    times: Sequence[float],
    x: Axis,
    marks: tuple[tuple[float, str], ...],
    limits: tuple[tuple[float, str], ...],
) -> Chart:
    series = [
        Series("median, ms", _known(times, values, 0), 0),
        Series("99th percentile, ms", _known(times, values, 1), 4),
    ]
    if any(planned):
        series.append(Series("99th percentile from the plan, ms", _known(times, planned, 1), 1, dashed=True))
    tips = []
    for place, (time, value) in enumerate(zip(times, values, strict=True)):
        texts = [f"about {time:,.1f} s"]
        if value is not None:
            texts += [f"median {_ms(value[0])}", f"99th percentile {_ms(value[1])}"]
        late = planned[place] if planned else None
        if late is not None:
            texts.append(f"from the plan, 99th percentile {_ms(late[1])}")
        if len(texts) > 1:
            tips.append(Tip(time, "\n".join(texts)))
    y = axis_for(_with_limits([value for each in series for _, value in each.points], limits), "")
    return Chart(title=title, x=x, y=y, series=tuple(series), tips=tuple(tips), marks=marks, limits=limits)


def _known(
    times: Sequence[float], values: Sequence[tuple[float, float] | None], which: int
) -> tuple[Point, ...]:
    return tuple((time, value[which]) for time, value in zip(times, values, strict=True) if value is not None)


def _ms(value: float) -> str:
    return f"{short(value, METRICS['ttft'])} ms"


def flight_chart(curves: OverTime, x: Axis) -> Chart:
    """Requests in flight, under the timeline and with its axis."""
    means = tuple(mean for mean, _ in curves.in_flight)
    peaks = tuple(float(peak) for _, peak in curves.in_flight)
    tips = tuple(
        Tip(curves.start + (place + 0.5) * curves.step, f"{curves.start + (place + 0.5) * curves.step:,.1f} s\nin flight: {mean:,.1f} on average, {peak:,} at most")
        for place, (mean, peak) in enumerate(curves.in_flight)
    )  # fmt: skip
    return Chart(
        title="Requests in flight", x=x, y=axis_for(peaks, ""), wide=True, tips=tips,
        series=(Series("mean", _steps(curves, means), 0, "area"), Series("peak", _steps(curves, peaks), 4, "step")),
    )  # fmt: skip


def sweep_charts(summary: LoadSummary) -> Iterator[Chart]:
    """Latency against throughput, a dot for each level."""
    if len(summary.stages) < 2:
        return
    if (levels := level_chart(summary)) is not None:
        yield levels
    if (score := score_chart(summary)) is not None:
        yield score
    rate = "output_throughput" if all(stage.figure("output_throughput") is not None for stage in summary.stages) else "request_throughput"  # fmt: skip
    unit = "output tokens per second" if rate == "output_throughput" else "requests per second"
    for name, title in (
        ("ttft", "Time to first token"),
        ("tpot", "Time per output token"),
        ("e2e", "End-to-end latency"),
    ):
        stages = [
            stage
            for stage in by_level(summary)
            if METRICS[name].key in stage.metrics and stage.figure(rate) is not None
        ]
        if len(stages) > 1:
            yield _sweep_chart(
                f"{title} against throughput", name, rate, unit, stages, _limits(summary, name)
            )
    if (users := user_chart(summary)) is not None:
        yield users


def user_chart(summary: LoadSummary) -> Chart | None:
    """The speed that each user sees against that of the whole server: what more load gains in total, and costs each of them."""
    stages = [
        stage
        for stage in by_level(summary)
        if METRICS["output_speed"].key in stage.metrics and stage.figure("output_throughput") is not None
    ]
    if len(stages) < 2:
        return None
    own = [stage.metrics[METRICS["output_speed"].key].percentiles["p50"] for stage in stages]
    total = [stage.figure("output_throughput") or 0.0 for stage in stages]
    labels = tuple(f"{stage.level:g}" for stage in stages if stage.level is not None)
    tips = tuple(
        Tip(x, f"{stage.label}\n{x:,.1f} output tokens per second for one user (median)\n{y:,.0f} in total")
        for x, y, stage in zip(own, total, stages, strict=True)
    )
    return Chart(
        title="Total throughput against that of one user", x=axis_for(own, "output tokens per second of one request, median"),
        y=axis_for(total, ""), series=(Series("output tokens per second, in total", tuple(zip(own, total, strict=True)), 2, "dots", labels=labels),),
        tips=tips, note="Up: more in total. Right: faster for each user. Numbers at the dots: the load, as set.",
    )  # fmt: skip


def by_level(summary: LoadSummary) -> Sequence[StageSummary]:
    """The stages in the order of a curve: the order of the test, or of a search, the last probe of each level."""
    if summary.search is None:
        return summary.stages
    last = {stage.level: stage for stage in summary.stages}
    return sorted(last.values(), key=lambda stage: stage.level or 0.0)


def level_chart(summary: LoadSummary) -> Chart | None:
    """Throughput by level. Where it stops growing, the server is saturated. None if there are no levels."""
    stages = [
        stage
        for stage in by_level(summary)
        if stage.level is not None and stage.figure("request_throughput") is not None
    ]
    if len(stages) < 2:
        return None
    levels = [stage.level or 0.0 for stage in stages]
    rates = [stage.figure("request_throughput") or 0.0 for stage in stages]
    series = [Series("requests per second", tuple(zip(levels, rates, strict=True)), 2, "dots")]
    good = [stage.figure("goodput") for stage in stages]
    if None not in good:
        within = tuple((level, rate or 0.0) for level, rate in zip(levels, good, strict=True))
        series.append(Series("within limits", within, 3, "dots", dashed=True))
    tips = tuple(
        Tip(
            level,
            f"{stage.label}\n{rate:,.2f} requests per second"
            + ("" if kept is None else f"\n{kept:,.2f} within limits"),
        )
        for level, stage, rate, kept in zip(levels, stages, rates, good, strict=True)
    )
    return Chart(
        title="Throughput by level", x=axis_for(levels, _as_set(stages)), y=axis_for(rates, ""), series=tuple(series), tips=tips
    )  # fmt: skip


def score_chart(summary: LoadSummary) -> Chart | None:
    """The headline score by level, with its interval, which shows whether the server answers worse when it is busy."""
    stages = [stage for stage in by_level(summary) if stage.level is not None and stage.scores]
    if len({stage.level for stage in stages}) < 2:
        return None
    name = next(iter(stages[0].scores))
    scored = [(stage.level or 0.0, stage, stage.scores[name]) for stage in stages if name in stage.scores]
    series = [Series("mean", tuple((level, score.mean) for level, _, score in scored), 0, "dots")]
    ends = [(level, score.mean_ci95) for level, _, score in scored if score.mean_ci95 is not None]
    series += [
        Series("95 % interval", tuple((level, each[place]) for level, each in ends), 0, dashed=True)
        for place in ((0, 1) if len(ends) > 1 else ())
    ]
    tips = []
    for level, stage, score in scored:
        words = f"{stage.label}\n{name} {score.mean:.4f} over {score.n:,} replies"
        if score.mean_ci95 is not None:
            words += "\n95 %: {:.4f} – {:.4f}".format(*score.mean_ci95)
        tips.append(Tip(level, words))
    return Chart(
        title=f"Score by level: {name}", x=axis_for([level for level, _, _ in scored], _as_set(stages)),
        y=axis_for([y for each in series for _, y in each.points], ""), series=tuple(series), tips=tuple(tips), legend=False,
        note="Dashed: the ends of the 95 % intervals." if len(series) > 1 else "",
    )  # fmt: skip


def _as_set(stages: Sequence[StageSummary]) -> str:
    """The title of an axis of levels."""
    return "requests per second, as set" if stages[0].label.endswith("/s") else "requests in flight, as set"


def _sweep_chart(
    title: str,
    name: str,
    rate: str,
    unit: str,
    stages: Sequence[StageSummary],
    limits: tuple[tuple[float, str], ...],
) -> Chart:
    key = METRICS[name].key
    rates = [stage.figure(rate) or 0.0 for stage in stages]
    lines = []
    high = next(
        percent
        for percent in ("p99", "p95", "p90")
        if percent == "p90" or all(enough_values(stage.metrics[key].n, percent) for stage in stages)
    )
    for colour, percent in ((0, "p50"), (4, high)):
        values = [stage.metrics[key].percentiles[percent] for stage in stages]
        labels = (
            tuple(f"{stage.level:g}" for stage in stages if stage.level is not None)
            if percent == high
            else ()
        )
        lines.append(
            Series(f"{percent}, ms", tuple(zip(rates, values, strict=True)), colour, "dots", labels=labels)
        )
    tips = tuple(
        Tip(
            at,
            f"{stage.label}\n{at:,.1f} {unit}\nmedian {short(stage.metrics[key].percentiles['p50'], METRICS[name])} ms\n"
            f"{high[1:]}th percentile {short(stage.metrics[key].percentiles[high], METRICS[name])} ms",
        )
        for at, stage in zip(rates, stages, strict=True)
    )
    y = axis_for(_with_limits([y for line in lines for _, y in line.points], limits), "")
    what = stages[0].label.replace(f"{stages[0].level:g}", "").strip() if stages[0].level is not None else ""
    note = f"Numbers at the dots: {'requests per second' if what == '/s' else f'requests {what}'}, as set."
    return Chart(
        title=title, x=axis_for(rates, unit), y=y, series=tuple(lines), tips=tips, note=note, limits=limits
    )
