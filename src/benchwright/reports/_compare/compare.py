"""From two recorded runs to a comparison: refuses what cannot be compared, pairs the samples, tests the metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    NotFoundError,
    RunSummary,
    UsageError,
    suggest,
)
from benchwright.reports._compare.noise import is_time
from benchwright.reports._compare.pairing import Half, Pair, pairs_of
from benchwright.reports._compare.values import (
    ChangedSample,
    Comparison,
    Direction,
    MetricComparison,
    MetricSide,
    Presence,
    Side,
    StepPair,
    field_differences,
)
from benchwright.reports._compare.workflows import compare_workflows
from benchwright.reports._settings import endpoint_of, params_of
from benchwright.stats import PairedResult, compare_pairs
from benchwright.store import RunRecord, Store

LISTED = 20
"""Changed samples and differing steps that are listed unless more are asked for."""

_MUST_AGREE = {
    "dataset": ("fingerprint", "read other data"),
    "benchmark": ("hash", "asked or scored in another way"),
    "fewshot": ("hash", "showed other examples"),
}
"""Parts of a manifest without whose agreement a difference says nothing about the models."""


@dataclass(slots=True)
class _Tally:
    """The values of one metric, row by row: sums and counts of both sides, since rows may be repeated."""

    rows: dict[int, list[float]] = field(default_factory=dict)

    def add(self, row: int, a: float, b: float) -> None:
        sums = self.rows.setdefault(row, [0.0, 0.0, 0.0])
        sums[0] += a
        sums[1] += b
        sums[2] += 1

    def paired(self) -> PairedResult | None:
        if not self.rows:
            return None
        return compare_pairs(
            [a / n for a, _, n in self.rows.values()], [b / n for _, b, n in self.rows.values()]
        )


def compare_runs(
    store: Store,
    a: RunRecord,
    b: RunRecord,
    *,
    metric: str | None = None,
    tolerance: float = 0.0,
    times: bool = False,
    force: bool = False,
    listed: int | None = LISTED,
) -> Comparison:
    """Compare two runs of one workspace: two benchmark runs by their samples, two workflow runs by their steps.

    Args:
        store: The workspace.
        a: The first run, the one to compare with.
        b: The second.
        metric: Only this metric; None: all.
        tolerance: Scores that are no further apart count as equal.
        times: Let differences in latency count as differences.
        force: Compare also where data, prompts or scorers differ.
        listed: Most changed samples and steps to list; None: all of them.

    UsageError for a run compared with itself and for runs that cannot be compared; NotFoundError for a metric
    that neither has.
    """
    if a.id == b.id:
        raise UsageError(f"run {a.id} is compared with itself; name two runs (see: benchwright list)")
    if a.kind != b.kind:
        workflow, other = (a, b) if a.kind == "workflow" else (b, a)
        raise UsageError(
            f"run {workflow.id} is a workflow and run {other.id} a benchmark: they have nothing in common to compare"
        )
    if a.kind == "workflow":
        return compare_workflows(store, a, b, metric=metric, tolerance=tolerance, times=times, listed=listed)
    reasons = list(_disagreements(a, b))
    if reasons and not force:
        raise UsageError(
            f"runs {a.id} and {b.id} cannot be compared: they {' and '.join(reasons)}. "
            "Compare them all the same, by the rows they share, with --force"
        )
    summaries = {run.id: _summary(run) for run in (a, b)}
    seen = _look(
        pairs_of(store, a.id, b.id), tolerance, listed, _headline(summaries[a.id], summaries[b.id], metric)
    )
    metrics = _metrics(summaries[a.id], summaries[b.id], seen.tallies, metric, tolerance)
    counted = [found for found in metrics if times or not found.noise]
    return Comparison(
        run_a=_side(a),
        run_b=_side(b),
        differs=seen.differ or any(not found.same for found in counted),
        regressed=any(_regressed(found) for found in counted),
        warnings=(*reasons_as_warnings(reasons), *_doubts(a, b, summaries[a.id], summaries[b.id])),
        metrics=tuple(metrics),
        steps=tuple(seen.steps),
        changed=tuple(seen.changed),
        both=seen.both,
        only_a=seen.only_a,
        only_b=seen.only_b,
        inputs=_inputs(a, b),
        outputs={"same": not seen.differ, "run_a": None, "run_b": None},
    )


def reasons_as_warnings(reasons: list[str]) -> Iterator[str]:
    """What was forced, said beside the numbers."""
    for reason in reasons:
        yield f"the runs {reason}: a difference may come of that"


@dataclass(slots=True)
class _Seen:
    tallies: dict[str, _Tally] = field(default_factory=dict)
    steps: list[StepPair] = field(default_factory=list)
    changed: list[ChangedSample] = field(default_factory=list)
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    differ: bool = False


def _look(pairs: Iterator[Pair], tolerance: float, listed: int | None, headline: str | None) -> _Seen:
    seen = _Seen()
    won: list[ChangedSample] = []
    for a, b in pairs:
        if a is None or b is None:
            half = a or b
            assert half is not None
            seen.only_a += b is None
            seen.only_b += a is None
            seen.differ = True
            present: Presence = "only_a" if b is None else "only_b"
            _list(seen.steps, StepPair(_key(half), present, "differs", "differs", "differs"), listed)
            continue
        seen.both += 1
        scores_a, scores_b = _numbers(a), _numbers(b)
        for name, value in scores_a.items():
            if name in scores_b:
                seen.tallies.setdefault(name, _Tally()).add(b.row, value, scores_b[name])
        outcome = a.record["o"] == b.record["o"]
        alike = scores_a.keys() == scores_b.keys() and all(
            abs(scores_b[name] - value) <= tolerance for name, value in scores_a.items()
        )
        if outcome and alike:
            continue
        seen.differ = True
        row = a.row_hash == b.row_hash
        step = StepPair(_key(b), "both", _word(row), _word(outcome), _word(alike))
        _list(seen.steps, step, listed)
        change = ChangedSample(_key(b), headline, _told(a), _told(b))
        lost = headline is None or scores_b.get(headline, 0.0) < scores_a.get(headline, 0.0)
        _list(seen.changed if lost else won, change, listed)
    for change in won:
        _list(seen.changed, change, listed)
    return seen


def _metrics(
    a: RunSummary, b: RunSummary, tallies: Mapping[str, _Tally], only: str | None, tolerance: float
) -> list[MetricComparison]:
    names = list(dict.fromkeys([*_ordered(a), *_ordered(b)]))
    if only is not None:
        if only not in names:
            raise NotFoundError(
                f"neither run has a metric {only!r}.{suggest(only, names)} They have: {', '.join(names) or 'none'}"
            )
        names = [only]
    found = []
    for name in names:
        left, right = a.metrics.get(name), b.metrics.get(name)
        found.append(
            MetricComparison(
                name=name,
                run_a=_metric_side(left),
                run_b=_metric_side(right),
                paired=tallies[name].paired() if name in tallies else None,
                same=left is not None and right is not None and abs(right.value - left.value) <= tolerance,
                direction=_direction(left, right, tolerance),
                noise=is_time(name),
            )
        )
    return found


def _ordered(summary: RunSummary) -> list[str]:
    """The headline first, then the others by name."""
    return sorted(summary.metrics, key=lambda name: name != summary.headline)


def _headline(a: RunSummary, b: RunSummary, asked: str | None) -> str | None:
    for name in (asked, b.headline, a.headline, "correct", "accuracy"):
        if name is not None and (name in a.metrics or name in b.metrics):
            return name
    return next(iter(b.metrics), None)


def _regressed(metric: MetricComparison) -> bool:
    return metric.paired is not None and metric.paired.difference < 0 and metric.paired.significant


def _direction(a: MetricSummary | None, b: MetricSummary | None, tolerance: float) -> Direction:
    if a is None or b is None:
        return "mixed"
    if abs(b.value - a.value) <= tolerance:
        return "same"
    return "up" if b.value > a.value else "down"


def _metric_side(metric: MetricSummary | None) -> MetricSide | None:
    return None if metric is None else MetricSide(metric.value, metric.count, metric.ci_low, metric.ci_high)


def _summary(run: RunRecord) -> RunSummary:
    if run.summary is None:
        raise UsageError(
            f"run {run.id} ({run.name}) has no result yet: it is {run.status}. Finish it first: benchwright resume {run.id}"
        )
    return RunSummary.from_json(run.summary)


def _disagreements(a: RunRecord, b: RunRecord) -> Iterator[str]:
    for part, (what, words) in _MUST_AGREE.items():
        one, other = a.manifest.get(part), b.manifest.get(part)
        mine = one.get(what) if isinstance(one, dict) else None
        theirs = other.get(what) if isinstance(other, dict) else None
        if mine != theirs:
            yield words


def _doubts(a: RunRecord, b: RunRecord, first: RunSummary, second: RunSummary) -> Iterator[str]:
    if a.name != b.name:
        yield f"run {a.id} is of {a.name}, run {b.id} of {b.name}"
    for run, summary in ((a, first), (b, second)):
        if summary.partial:
            yield f"run {run.id} is partial: {summary.evaluated} samples"
        elif not summary.comparable:
            yield f"run {run.id} is not comparable: {summary.failed} of {summary.evaluated} samples failed"


def _inputs(a: RunRecord, b: RunRecord) -> JsonObject:
    differences = [
        *field_differences(params_of(a), params_of(b)),
        *field_differences(endpoint_of(a), endpoint_of(b), "$.model"),
    ]
    return {"same": not differences, "differences": differences}


def _side(run: RunRecord) -> Side:
    duration = None if run.finished_at is None else round(run.finished_at - run.created_at, 3)
    return Side(run.id, run.name, run.status, run.model, duration, str(endpoint_of(run).get("url") or ""))


def _numbers(half: Half) -> dict[str, float]:
    scores: Mapping[str, Any] = half.record.get("s") or {}
    return {name: float(value) for name, value in scores.items() if isinstance(value, bool | int | float)}


def _told(half: Half) -> JsonValue:
    record = half.record
    return {
        "outcome": record["o"],
        "scores": record.get("s"),
        "error": record.get("e"),
        "target": record.get("t"),
    }


def _key(half: Half) -> str:
    return f"{half.row}/{half.repeat}"


def _word(same: bool) -> Any:
    return "same" if same else "differs"


def _list(items: list[Any], item: Any, limit: int | None) -> None:
    if limit is None or len(items) < limit:
        items.append(item)
