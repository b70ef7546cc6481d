"""The logs of a task's two stages: when, how many, and the first failures in the words of whoever failed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from benchwright.core import printable
from benchwright.reports.files.tally import Tally
from benchwright.reports.terminal.workflows import summary_of
from benchwright.reports.views.text import duration, plural, tokens
from benchwright.store import Event, RunRecord

_STAGE_OF = {"infer": "asking", "eval": "scoring"}


def infer_log(run: RunRecord, events: Sequence[Event], tally: Tally) -> str:
    """The asking: what happened to the run, replies, times, and what went wrong."""
    summary = summary_of(run)
    lines = [_head(run, "infer")]
    source = run.settings.get("rescored_from")
    if source is not None:
        lines.append(f"no model was asked: the replies are those of run {source}")
    lines += [f"{_time(event.created_at)}  {event.kind}: {event.message}" for event in events]
    lines.append(f"samples: {tally.samples:,}")
    if summary is not None:
        lines[-1] += f" of {summary.rows * summary.repeats:,}"
        if told := tokens(summary):
            lines.append(f"tokens: {told}")
    if tally.replies:
        mean = tally.latency_s / tally.replies
        lines.append(
            f"replies: {tally.replies:,}, {mean:.3f} s each on average, {tally.slowest_s:.3f} s the slowest"
        )
    if run.finished_at is not None:
        lines.append(f"took {duration(run.finished_at - run.created_at)}, scoring included")
    return _joined([*lines, *_failures(tally.unasked, tally)])


def eval_log(run: RunRecord, tally: Tally) -> str:
    """The scoring: metrics, outcomes, notes, and what went wrong."""
    summary = summary_of(run)
    lines = [_head(run, "eval")]
    if summary is None:
        return _joined([*lines, f"no result: {run.error or run.status}"])
    if summary.unscored:
        lines.append(f"no scores: {summary.unscored}")
    groups = {"": summary.metrics, **{f", {name}": group for name, group in summary.over_repeats.items()}}
    for figure, metrics in groups.items():
        for name, metric in metrics.items():
            known = metric.ci_low is not None and metric.ci_high is not None
            interval = f"{metric.ci_low:.6g} to {metric.ci_high:.6g}" if known else "too few"
            interval += ", too few" * (known and metric.too_few)
            lines.append(f"{name}{figure}: {metric.value:.6g} (n {metric.count:,}, 95 % {interval})")
    lines.append("outcomes: " + ", ".join(f"{name} {count:,}" for name, count in summary.outcomes.items()))
    if tally.methods:
        lines.append(
            "read by: " + ", ".join(f"{name} {count:,}" for name, count in tally.methods.most_common())
        )
    lines += [f"note: {note}" for note in summary.notes]
    return _joined([*lines, *_failures(tally.unscored, tally)])


def _head(run: RunRecord, stage: str) -> str:
    return (
        f"{_time(run.created_at)}  {_STAGE_OF[stage]}: run {run.id}, {run.name} on {run.model}, {run.status}"
    )


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
