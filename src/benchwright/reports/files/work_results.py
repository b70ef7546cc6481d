"""The numbers of one task of a work folder, `results/<model>/<dataset>.json`; on request with every sample."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import orjson

from benchwright.core import JsonObject, MetricSummary, RunSummary, encode_json
from benchwright.reports.files.atomic import replacing
from benchwright.reports.files.work_logs import Tally, extraction
from benchwright.reports.views.figures import METRIC_NAMES, averaged, headline_of, is_fraction
from benchwright.reports.views.runs import RunDetails
from benchwright.reports.views.sample_columns import SampleView
from benchwright.reports.views.samples import RunSamples


def write_results(
    path: Path,
    run: RunDetails,
    samples: RunSamples,
    dataset: str,
    tally: Tally,
    *,
    details: bool,
    extract_rate: bool,
) -> None:
    """Write the file; with `details` in a further pass over the samples."""
    summary = run.result
    document = results_of(run, tally, extract_rate=extract_rate)
    with replacing(path) as temporary, temporary.open("wb") as file:
        head = orjson.dumps(document, option=orjson.OPT_INDENT_2)
        if not details:
            file.write(head + b"\n")
            return
        file.write(head.removesuffix(b"\n}") + b',\n  "details": [')
        headline = None if summary is None else headline_of(summary)
        for number, record in enumerate(_details(samples, dataset, headline)):
            file.write((b"," if number else b"") + b"\n    " + encode_json(record))
        file.write(b"\n  ]\n}\n")


def results_of(details: RunDetails, tally: Tally, *, extract_rate: bool = False) -> JsonObject:
    """The numbers. What is known by its metric's name comes first, as tools that read such files look for it."""
    run, summary = details.run, details.result
    named, document = ({}, {}) if summary is None else _headline(summary)
    document["samples"] = tally.samples
    if summary is not None:
        document["failed"] = summary.failed
        document["outcomes"] = dict(summary.outcomes)
    if tally.methods:
        document["extraction"] = dict(tally.methods.most_common())
    if extract_rate:
        document["extract_rate"] = _percent(tally.extracted / tally.samples) if tally.samples else None
    if summary is not None:
        document["metrics"] = {name: _metric(metric) for name, metric in summary.metrics.items()}
        document["comparable"], document["partial"] = summary.comparable, summary.partial
        document["unscored"] = summary.unscored or None
        document["notes"] = list(summary.notes)
    document["run"] = {
        "id": run.id,
        "name": run.name,
        "model": run.model or "",
        "status": run.status,
        "error": run.error,
        "rescored_from": run.rescored_from,
        "version": details.prompt_version,
    }
    # A metric may be called like a key of this file. Each of the two keeps its meaning.
    taken = {*document, "extract_rate", "details"}
    return {
        **{f"metric {name}" if name in taken else name: value for name, value in named.items()},
        **document,
    }


def _headline(summary: RunSummary) -> tuple[JsonObject, JsonObject]:
    """The headline's figures by names that come from the user's metric, and what describes it under fixed keys."""
    name = headline_of(summary)
    if name is None:
        return {}, {}
    metric = summary.metrics[name]
    share = is_fraction(metric)

    def figure(value: float) -> float:
        return _percent(value) if share else value

    named: JsonObject = {averaged(name, summary.repeats): figure(metric.value)}
    for group, metrics in summary.over_repeats.items():
        if name in metrics:
            named[group] = figure(metrics[name].value)
    found: JsonObject = {"metric": name, "unit": "percent" if share else "as scored", "n": metric.count}
    if _binary(metric):
        found["n_correct"] = round(metric.value * metric.count)
    known = metric.ci_low is not None and metric.ci_high is not None
    found["interval_95"] = [figure(metric.ci_low or 0.0), figure(metric.ci_high or 0.0)] if known else None
    if metric.too_few:
        found["too_few"] = True
    if metric.with_failures is not None:
        found["failures_as_wrong"] = figure(metric.with_failures)
    return named, found


def _binary(metric: MetricSummary) -> bool:
    """Whether the values can only be 0 and 1: then their variance is that of a share."""
    spread = metric.value * (1 - metric.value)
    return is_fraction(metric) and abs(metric.stddev**2 - spread) < 1e-9


def _metric(metric: MetricSummary) -> JsonObject:
    return {
        "value": metric.value,
        "count": metric.count,
        METRIC_NAMES["ci_low"]: metric.ci_low,
        METRIC_NAMES["ci_high"]: metric.ci_high,
        "interval": metric.interval,
        **({"too_few": True} if metric.too_few else {}),
        "failures_as_wrong": metric.with_failures,
    }


def _details(samples: RunSamples, dataset: str, headline: str | None) -> Iterator[JsonObject]:
    """Row by row: predictions, what was read out of them, expected answers, verdicts; one of each per repeat."""
    for row, views in groupby(samples, key=lambda view: view.sample_id):
        found = list(views)
        yield {
            "example_abbr": f"{dataset}_{row}",
            "pred": [view.response for view in found],
            "parsed": [extraction(view) for view in found],
            "refr": [view.target for view in found],
            "correct": [_verdict(view, headline) for view in found],
        }


def _verdict(view: SampleView, headline: str | None) -> bool | float | None:
    value = (view.scores or {}).get(headline) if headline is not None else None
    if not isinstance(value, bool | int | float):
        return None
    return bool(value) if value in (0, 1) else value


def _percent(share: float) -> float:
    return round(100 * share, 4)
