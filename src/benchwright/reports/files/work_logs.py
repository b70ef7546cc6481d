"""The logs of a task's two stages, and what they count: when, how many, and the first failures in the words of whoever
failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Sequence

from benchwright.core import WITHOUT_REPLY, printable
from benchwright.reports.views.figures import figures_of, no_interval
from benchwright.reports.views.runs import RunDetails, RunView
from benchwright.reports.views.sample_columns import SampleView
from benchwright.reports.views.samples import Predicted
from benchwright.reports.views.text import duration, plural, tokens

_STAGE_OF = {"infer": "asking", "eval": "scoring"}
_FIRST = 10
"""Failures that a log quotes."""


class Tally:
    """Counters of one run, in memory that does not grow with it."""

    def __init__(self) -> None:
        self.samples = 0
        self.kinds: Counter[str] = Counter()
        """Failures by kind."""
        self.methods: Counter[str] = Counter()
        """Samples by the rule that read the answer; empty where scorers name none."""
        self.extracted = 0
        """Samples out of whose reply an answer was read."""
        self.failed_requests: list[str] = []
        """The first failures of requests, in the server's words."""
        self.unscored: list[str] = []
        """The first failures of scoring."""
        self.replies = 0
        self.latency_s = 0.0
        self.slowest_s = 0.0

    def add(self, predicted: Predicted) -> None:
        """One more sample."""
        view = predicted.view
        self.samples += 1
        if predicted.error is not None:
            self.kinds[str(predicted.error["kind"])] += 1
            quoted = self.failed_requests if view.outcome in WITHOUT_REPLY else self.unscored
            if len(quoted) < _FIRST:
                quoted.append(f"row {view.sample_id}/{view.repeat}: {view.error}")
        if view.latency_s is not None and view.outcome not in WITHOUT_REPLY:
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
    """The answer that was read out of a reply: what the scorer says, else the reply, unless nothing was read."""
    scores = view.scores or {}
    if "extracted" in scores:
        found = scores["extracted"]
        return str(found) if found not in (None, "") else None
    if scores.get("parsed") is False:
        return None
    return view.response or None


def infer_log(details: RunDetails, tally: Tally) -> str:
    """The requests: what happened to the run, replies, times, and what went wrong."""
    run, summary = details.run, details.result
    lines = [_head(run, "infer")]
    if run.rescored_from is not None:
        lines.append(f"no model was asked: the replies are those of run {run.rescored_from}")
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
    """The scoring: metrics, outcomes, notes, and what went wrong."""
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
    lines += [f"note: {note}" for note in summary.notes]
    return _joined([*lines, *_failures(tally.unscored, tally)])


def _head(run: RunView, stage: str) -> str:
    return f"{_time(run.created_at)}  {_STAGE_OF[stage]}: run {run.id}, {run.name} on {run.model or ''}, {run.status}"


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
