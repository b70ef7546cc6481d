"""The files of one task in a work folder: its numbers in `results/<model>/<dataset>.json`, on request with every sample, and
the logs of its two stages."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import orjson

from benchwright.core import JsonObject, MetricSummary, Outcome, RunSummary, encode_json, printable, replacing
from benchwright.results import (
    METRIC_NAMES,
    RunDetails,
    RunSamples,
    RunView,
    SampleView,
    averaged,
    duration,
    figures_of,
    graded_notes,
    headline_of,
    no_interval,
    plural,
    tokens,
)

_STAGE_OF = {"infer": "asking", "eval": "scoring"}
_FIRST = 10
"""The most failures that a log quotes."""


class Tally:
    """Counters of one run, in constant memory."""

    def __init__(self) -> None:
        self.samples = 0
        self.kinds: Counter[str] = Counter()
        """Failures by kind."""
        self.methods: Counter[str] = Counter()
        """Samples by the rule that read the answer; empty if scorers name none."""
        self.extracted = 0
        """Samples with an answer that was read from the reply."""
        self.failed_requests: list[str] = []
        """The first failures of requests, in the server's words."""
        self.unscored: list[str] = []
        """The first failures of scoring."""
        self.replies = 0
        self.latency_s = 0.0
        self.slowest_s = 0.0

    def add(self, view: SampleView, error: JsonObject | None) -> None:
        """Count a sample and its error."""
        self.samples += 1
        if error is not None:
            self.kinds[str(error["kind"])] += 1
            quoted = self.unscored if Outcome(view.outcome).has_reply else self.failed_requests
            if len(quoted) < _FIRST:
                quoted.append(f"row {view.sample_id}/{view.repeat}: {view.error}")
        if view.latency_s is not None and Outcome(view.outcome).has_reply:
            self.replies += 1
            self.latency_s += view.latency_s
            self.slowest_s = max(self.slowest_s, view.latency_s)
        scores = view.scores or {}
        method = scores.get("method")
        if isinstance(method, str):
            self.methods[method] += 1
        if extraction(view):
            self.extracted += 1


def extraction(view: SampleView) -> str | None:
    """The answer read from a reply: as the scorer gives it, else the reply; None if nothing was read."""
    scores = view.scores or {}
    if "extracted" in scores:
        found = scores["extracted"]
        return str(found) if found not in (None, "") else None
    if scores.get("parsed") is False:
        return None
    return view.response or None


def infer_log(details: RunDetails, tally: Tally) -> str:
    """The log of the requests: events, replies, times and failures."""
    run, summary = details.run, details.result
    lines = [_head(run, "infer")]
    if run.rescored_from is not None:
        lines.append(f"no model was called: the replies are those of run {run.rescored_from}")
    lines += [f"{_time(event.created_at)}  {event.kind}: {event.message}" for event in details.events]
    lines.append(f"samples: {tally.samples:,}")
    if summary is not None:
        lines[-1] += f" of {summary.rows * summary.repeats:,}"
        if counted := tokens(summary):
            lines.append(f"tokens: {counted}")
    if tally.replies:
        mean = tally.latency_s / tally.replies
        lines.append(
            f"replies: {tally.replies:,}, {mean:.3f} s each on average, {tally.slowest_s:.3f} s the slowest"
        )
    if run.seconds is not None:
        lines.append(f"took {duration(run.seconds)}, scoring included")
    return _joined([*lines, *_failures(tally.failed_requests, tally)])


def eval_log(details: RunDetails, tally: Tally) -> str:
    """The log of the scoring: metrics, outcomes, notes and failures."""
    run, summary = details.run, details.result
    lines = [_head(run, "eval")]
    if summary is None:
        return _joined([*lines, f"no result: {run.error or run.status}"])
    if summary.unscored:
        lines.append(f"no scores: {summary.unscored}")
    for name, metric in figures_of(summary).items():
        known = metric.ci_low is not None and metric.ci_high is not None
        interval = f"{metric.ci_low:.6g} to {metric.ci_high:.6g}" if known else no_interval(metric)
        interval += ", too few" * (known and metric.too_few)
        error = "" if metric.constant else f", 95 % {interval}"
        lines.append(f"{name}: {metric.value:.6g} (n {metric.count:,}{error})")
    lines.append("outcomes: " + ", ".join(f"{name} {count:,}" for name, count in summary.outcomes.items()))
    if tally.methods:
        lines.append(
            "read by: " + ", ".join(f"{name} {count:,}" for name, count in tally.methods.most_common())
        )
    lines += [f"{note.label}: {note.text}" for note in graded_notes(summary, run.error or "")]
    return _joined([*lines, *_failures(tally.unscored, tally)])


def _head(run: RunView, stage: str) -> str:
    return f"{_time(run.created_at)}  {_STAGE_OF[stage]}: run {run.id}, {run.name}{f' on {run.model}' if run.model else ''}, {run.status}"


def _failures(quoted: Sequence[str], tally: Tally) -> list[str]:
    if not quoted:
        return []
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in tally.kinds.most_common())
    noun = plural(tally.kinds.total(), "failed sample")
    return [f"{noun}: {kinds}", "the first of this stage:", *(f"  {quote}" for quote in quoted)]


def _joined(lines: Iterable[str]) -> str:
    return "".join(f"{printable(line)}\n" for line in lines)


def _time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


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
    """Write the file. `details` takes another pass over the samples."""
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
    """The numbers. Figures under the name of their metric come first, where tools that read such files expect them."""
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
        if summary.note_grades:
            document["note_grades"] = dict(summary.note_grades)
    document["run"] = {
        **run.identity(),
        "status": run.status,
        "error": run.error,
        "rescored_from": run.rescored_from,
        "version": details.prompt_version,
    }
    # A metric may have the same name as a key of this file. Both keep their meaning.
    taken = {*document, "extract_rate", "details"}
    return {
        **{f"metric {name}" if name in taken else name: value for name, value in named.items()},
        **document,
    }


def _headline(summary: RunSummary) -> tuple[JsonObject, JsonObject]:
    """The headline's figures under names from the user's metric, and its description under fixed keys."""
    name = headline_of(summary)
    if name is None:
        return {}, {}
    metric = summary.metrics[name]
    share = metric.is_fraction

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
    """Whether the values can only be 0 and 1, so that their variance is that of a share."""
    spread = metric.value * (1 - metric.value)
    return metric.is_fraction and abs(metric.stddev**2 - spread) < 1e-9


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
    """Each row with predictions, answers read from them, expected answers and verdicts; one of each per repeat."""
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
