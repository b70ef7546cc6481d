"""`report.html` of a load test: one page without external resources."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from benchwright.core import percent, rfc3339
from benchwright.perf import (
    LATENCIES,
    METRICS,
    PER_REQUEST,
    PERCENTILES,
    LoadSummary,
    Requests,
    StageSummary,
    enough_values,
    percentile_key,
)
from benchwright.reports.html.load_charts import (
    distribution_charts,
    flight_chart,
    over_time_charts,
    sweep_charts,
)
from benchwright.reports.html.load_timeline import Timeline, timeline_axis
from benchwright.reports.html.pages import page
from benchwright.results import (
    LoadView,
    around_the_slowest,
    best_of,
    best_stage,
    best_title,
    cost_lines,
    curves_over_time,
    data_notes,
    figure_notes,
    group_columns,
    groups_of,
    limit_text,
    money,
    probe_words,
    server_rows,
    short,
    timeline,
    verdicts,
)

_SETTINGS = {
    "urls": "servers",
    "drain_s": "time to drain",
    "usual_tokens": "longest reply",
}
_COLUMNS = tuple(percentile_key(percent) for percent in PERCENTILES)


class Tile(Struct, frozen=True):
    """One large figure."""

    title: str
    value: str
    unit: str
    detail: str
    about: str
    """Its definition."""


def load_page(view: LoadView, requests: Requests) -> str:
    """The complete page, without external resources."""
    summary = view.summary
    curves = curves_over_time(requests, summary)
    timelines = _timelines(requests, summary)
    best = best_stage(summary)
    return page(
        "load.html",
        styles=("style.css", "load.css"),
        script="load.js",
        title=f"Load test: {view.run.name} on {view.run.model_title}",
        view=view,
        started=rfc3339(view.run.created_at)[:16].replace("T", " "),
        notes=[*figure_notes(view), *data_notes(view)],
        verdicts=verdicts(view),
        best=best,
        # Of a search without an answer, no probe is the best one.
        chosen=None if best is None or (summary.search and summary.search.level is None) else best.stage,
        best_title=best_title(summary),
        best_of=best_of(summary),
        tiles=[*([] if best is None else tiles(best)), *cost_tiles(summary.cost)],
        levels=level_table(summary),
        sweep=list(sweep_charts(summary)),
        distributions=distribution_charts(requests, summary),
        over_time=[] if curves is None else over_time_charts(curves, summary),
        errors=error_rows(summary),
        timelines=timelines,
        flight=flight_chart(curves, timelines[0].x) if curves is not None and timelines else None,
        details=[
            (stage, metric_rows(stage), figure_rows(stage), server_rows(stage)) for stage in summary.stages
        ],
        columns=_COLUMNS,
        groups_of=groups_of,
        group_columns=group_columns,
        settings=_settings(view),
    )


def _timelines(requests: Requests, summary: LoadSummary) -> list[Timeline]:
    lines, total = timeline(requests, summary)
    if not lines:
        return []
    chosen = (
        "every request" if len(lines) == total else f"{len(lines):,} of {total:,} requests, evenly chosen"
    )
    found = [Timeline("Timeline", f"{chosen}, in the order of sending", tuple(lines), timeline_axis(lines))]
    near = around_the_slowest(requests, summary)
    if near:
        note = f"{len(near):,} requests in a row, around the one that took longest"
        found.insert(0, Timeline("Around the slowest request", note, tuple(near), timeline_axis(near)))
        found.reverse()
    return found


def error_rows(summary: LoadSummary) -> list[tuple[str, str, str, str]]:
    """Errors by class over all levels, the most frequent first: class, count, share of requests, first words."""
    counts: dict[str, int] = {}
    words: dict[str, str] = {}
    for stage in summary.stages:
        for each in stage.errors:
            counts[each.outcome] = counts.get(each.outcome, 0) + each.count
            words.setdefault(each.outcome, each.first)
    whole = sum(stage.counts.planned for stage in summary.stages)
    return [
        (outcome, f"{count:,}", percent(count / max(1, whole), 1), words[outcome])
        for outcome, count in sorted(counts.items(), key=lambda item: -item[1])
    ]


def tiles(stage: StageSummary) -> list[Tile]:
    """The figures at the top of the page."""
    found = []
    for name in ("request_throughput", "output_throughput", "goodput"):
        metric, value = METRICS[name], stage.figure(name)
        if value is None:
            continue
        ends = stage.intervals.get(metric.key)
        detail = "" if ends is None else f"95 %: {short(ends[0], metric)} – {short(ends[1], metric)}"
        if name == "goodput" and (share := stage.figure("good_share")) is not None:
            detail = f"{short(share, METRICS['good_share'])} within limits"
        found.append(Tile(metric.title, short(value, metric), metric.unit_title, detail, metric.definition))
    for name in LATENCIES:
        metric, values = METRICS[name], stage.metrics.get(METRICS[name].key)
        if values is not None and not (name == "itl" and METRICS["tpot"].key in stage.metrics):
            high = "p99" if enough_values(values.n, "p99") else "max"
            detail = f"median; {high} {short(values.shown(high), metric)} ms"
            shown = short(values.percentiles["p50"], metric)
            found.append(Tile(metric.title, shown, "ms", detail, metric.definition))
    return found


def cost_tiles(cost: dict[str, Any] | None) -> list[Tile]:
    """The cost of the test and of 1,000 such requests; empty if no price is known."""
    if cost is None:
        return []
    about = "The tokens of all whole replies, warm-ups included, at the price of the day of the price file"
    (line,) = cost_lines(cost)
    if cost["amount"] is None or cost["per_1000_requests"] is None:
        return [Tile("cost", "–", "", line, about)]
    value, _, unit = money(cost["per_1000_requests"], cost["currency"]).partition(" ")
    whole = f"{money(cost['amount'], cost['currency'])} for this test; prices of {cost['as_of']}"
    part = "" if cost["coverage"] >= 1 else f", {percent(cost['coverage'])} of the replies"
    return [Tile("cost of 1,000 requests", value, unit, whole + part, about)]


def level_table(summary: LoadSummary) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Headers with their meanings, and a row for each stage."""
    stages = summary.stages
    columns: list[tuple[str, str, list[str]]] = []

    def figure(heading: str, name: str) -> None:
        values = [short(stage.figure(name), METRICS[name]) for stage in stages]
        columns.append((heading, METRICS[name].definition, values))

    def percentiles(name: str, *keys: str) -> None:
        for key in keys:
            found = [stage.metrics.get(METRICS[name].key) for stage in stages]
            cells = [short(None if each is None else each.shown(key), METRICS[name]) for each in found]
            columns.append((f"{name} {key}", METRICS[name].definition, cells))

    if summary.search is not None:
        about = "Whether enough requests met all limits, and the server kept up; a probe does not count if the client was the limit"
        columns.append(("probe", about, probe_words(summary)))
    columns.append(
        ("sent", "Requests that were sent and count", [f"{stage.counts.sent:,}" for stage in stages])
    )
    columns.append(("failed", "Of these, not completed", [f"{stage.counts.failed:,}" for stage in stages]))
    for name in [*dict.fromkeys(name for stage in stages for name in stage.scores)][:1]:  # the headline score
        scores = [stage.scores.get(name) for stage in stages]
        cells = ["–" if each is None else f"{each.mean:.4f}" for each in scores]
        columns.append((name, "Mean score of the replies", cells))
    figure("offered/s", "offered")
    figure("requests/s", "request_throughput")
    figure("tokens/s", "output_throughput")
    percentiles("ttft", "p50", "p99")
    percentiles("tpot" if any("tpot_ms" in stage.metrics for stage in stages) else "itl", "p50", "p99")
    percentiles("e2e", "p50", "p99")
    percentiles("e2e_planned", "p99")
    figure("in flight", "mean_concurrency")
    figure("peak", "peak_concurrency")
    if any(stage.slo is not None for stage in stages):
        figure("within limits", "good_share")
        figure("goodput/s", "goodput")
    steady = [stage.steady.verdict.replace("_", " ") for stage in stages]
    columns.append(("steady", "Whether the server was steady in the steady window", steady))
    columns = [column for column in columns if set(column[2]) != {"–"}]
    headings = [(heading, about) for heading, about, _ in columns]
    return headings, [[cells[row] for _, _, cells in columns] for row in range(len(stages))]


def metric_rows(stage: StageSummary) -> list[dict[str, Any]]:
    """The distributions of a stage, for its table."""
    found = []
    for metric in PER_REQUEST:
        values = stage.metrics.get(metric.key)
        if values is None:
            continue
        mean, p99 = values.mean_ci95, values.p99_ci95 if enough_values(values.n, "p99") else None
        found.append(
            {
                "metric": metric,
                "cells": {name: short(values.shown(name), metric) for name in values.figures()},
                "n": f"{values.n:,}",
                "interval": "" if mean is None else f"{short(mean[0], metric)} – {short(mean[1], metric)}",
                "p99_interval": "" if p99 is None else f"{short(p99[0], metric)} – {short(p99[1], metric)}",
            }
        )
    return found


def figure_rows(stage: StageSummary) -> list[tuple[str, str, str, str]]:
    """Figures of a stage as a whole: title, value with unit, interval, definition."""
    found = []
    for name, metric in METRICS.items():
        value = stage.figures.get(metric.key)
        if value is not None and name in METRICS:
            unit = metric.unit_title
            ends = stage.intervals.get(metric.key)
            interval = "" if ends is None else f"{short(ends[0], metric)} – {short(ends[1], metric)}"
            found.append(
                (metric.title, f"{short(value, metric)} {unit}".strip(), interval, metric.definition)
            )
    return found


def _settings(view: LoadView) -> list[tuple[str, str]]:
    """Descriptions of the settings, without those that are off."""
    rows = [("target", view.run.target), ("model", view.run.model_title)]
    url = view.endpoint.get("url")
    rows += [("address", str(url))] if url and not view.settings.urls else []
    for name, value in view.settings.to_json().items():
        if value in (None, (), [], {}, 0, False) and name not in ("seed", "warmup"):
            continue
        if name == "search":
            value = ", ".join(
                f"{key.replace('_', ' ')} {each:g}"
                for key, each in value.items()
                if each is not None and key != "sized"
            )
        elif name == "slo":
            value = ", ".join(f"{limit} ≤ {limit_text(seconds)}" for limit, seconds in value)
        elif isinstance(value, list | tuple):
            value = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in value)
        elif isinstance(value, bool):
            value = "yes"
        elif isinstance(value, float):
            value = f"{value:g}"
        title, unit = (name.removesuffix("_s"), " s") if name.endswith("_s") else (name, "")
        rows.append((_SETTINGS.get(name, title.replace("_", " ")), f"{value}{unit}"))
    return rows
