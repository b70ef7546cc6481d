"""From two recorded runs to a comparison: refuses what cannot be compared, pairs the samples, tests the metrics."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchwright.core import (
    JsonValue,
    MetricSummary,
    NotFoundError,
    RunSummary,
    UsageError,
    is_share,
    is_time,
    lower_is_better,
    suggest,
)
from benchwright.reports.views.compared_settings import asked_differently
from benchwright.reports.views.comparing_workflows import compare_workflows
from benchwright.reports.views.comparison import (
    ChangedSample,
    Comparison,
    MetricComparison,
    MetricSide,
    Presence,
    Side,
    StepPair,
    adjusted,
    direction_of,
    title_of,
)
from benchwright.reports.views.pairing import Half, Pair, Scored, pairs_of
from benchwright.reports.views.settings import endpoint_of, model_of
from benchwright.reports.views.text import plural
from benchwright.stats import PairedResult, compare_pairs
from benchwright.store import RunRecord, Store

LISTED = 20
"""Changed samples and differing steps that are listed unless more are asked for."""

_MUST_AGREE = (
    ("dataset", "fingerprint", "read other data"),
    ("fewshot", "hash", "showed other examples"),
)
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

    def paired(self, name: str) -> PairedResult | None:
        if not self.rows:
            return None
        return compare_pairs(
            [a / n for a, _, n in self.rows.values()],
            [b / n for _, b, n in self.rows.values()],
            share=is_share(name),
        )


def compare_runs(
    store: Store | None,
    a: RunRecord,
    b: RunRecord,
    *,
    metric: str | None = None,
    tolerance: float = 0.0,
    times: bool = False,
    force: bool = False,
    listed: int | None = LISTED,
    lower: Collection[str] = (),
    harmless: Collection[str] = (),
    samples: Scored | None = None,
) -> Comparison:
    """Compare two runs of one workspace: two benchmark runs by their samples, two workflow runs by their steps.

    Args:
        store: The workspace; None where both runs are from elsewhere.
        a: The first run, the one to compare with.
        b: The second.
        metric: Only this metric; None: all.
        tolerance: Scores that are no further apart count as equal.
        times: Let differences in latency count as differences.
        force: Compare also where data, prompts or scorers differ.
        listed: Most changed samples and steps to list; None: all of them.
        lower: Metrics of which less is better, besides those that a run declares or whose names say so.
        harmless: Settings of a run, and of its model, that change no result. All others are compared.
        samples: Where the samples are; None: in the store.

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
        assert store is not None  # folders are of benchmarks
        return compare_workflows(
            store, a, b, metric=metric, tolerance=tolerance, times=times, listed=listed, lower=lower
        )
    reasons = list(_disagreements(a, b))
    if reasons and not force:
        raise UsageError(
            f"{title_of(a)} and {title_of(b)} cannot be compared: they {' and '.join(reasons)}. "
            "Compare them all the same, by the rows they share, with --force"
        )
    summaries = {run.id: _summary(run) for run in (a, b)}
    first, second = summaries[a.id], summaries[b.id]
    less = {*lower, *first.lower_is_better, *second.lower_is_better}
    headline = _headline(first, second, metric)
    down = headline is not None and lower_is_better(headline, less)
    where: Scored | None = store if samples is None else samples
    assert where is not None
    seen = _look(pairs_of(where, a.id, b.id), tolerance, listed, headline, worse=1 if down else -1)
    metrics = _metrics(first, second, seen, metric, tolerance, less)
    counted = [found for found in metrics if times or not found.noise]
    return Comparison(
        run_a=_side(a, first),
        run_b=_side(b, second),
        differs=seen.differ or any(not found.same for found in counted),
        regressed=any(found.worse and found.significant for found in counted),
        warnings=(*reasons_as_warnings(reasons), *_doubts(a, b, first, second), *_nothing_shared(seen)),
        metrics=tuple(metrics),
        steps=tuple(seen.steps),
        changed=tuple(seen.changed),
        both=seen.both,
        only_a=seen.only_a,
        only_b=seen.only_b,
        inputs=asked_differently(a, b, harmless),
        outputs={"same": not seen.differ, "run_a": None, "run_b": None},
    )


def reasons_as_warnings(reasons: list[str]) -> Iterator[str]:
    """What was forced, said beside the numbers."""
    for reason in reasons:
        yield f"the runs {reason}: a difference may come of that"


def _nothing_shared(seen: _Seen) -> Iterator[str]:
    if not seen.both:
        yield "no row is in both runs: their values cannot be compared"


@dataclass(slots=True)
class _Seen:
    tallies: dict[str, _Tally] = field(default_factory=dict)
    steps: list[StepPair] = field(default_factory=list)
    changed: list[ChangedSample] = field(default_factory=list)
    both: int = 0
    only_a: int = 0
    only_b: int = 0
    differ: bool = False
    failed: dict[str, _Tally] = field(default_factory=dict)
    """As `tallies`, with failed samples as 0."""
    lost: list[int] = field(default_factory=list)
    """Rows of samples that failed in both runs."""
    failures: bool = False
    """Whether a paired sample failed."""

    def with_failures(self, name: str) -> PairedResult | None:
        """The pairs of a metric, failed samples counted as 0; None where none failed."""
        if not self.failures or name not in self.failed:
            return None
        tally = self.failed[name]
        for row in self.lost:
            tally.add(row, 0.0, 0.0)
        return tally.paired(name)


def _look(
    pairs: Iterator[Pair], tolerance: float, listed: int | None, headline: str | None, *, worse: int
) -> _Seen:
    """`worse` is the sign of a change of the headline to the worse."""
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
        failed_a, failed_b = _failed(a), _failed(b)
        seen.failures = seen.failures or failed_a or failed_b
        if failed_a and failed_b:
            seen.lost.append(b.row)
        for name in {**scores_a, **scores_b}:
            if name in scores_a and name in scores_b:
                seen.tallies.setdefault(name, _Tally()).add(b.row, scores_a[name], scores_b[name])
            if (name in scores_a or failed_a) and (name in scores_b or failed_b):
                wrong = seen.failed.setdefault(name, _Tally())
                wrong.add(b.row, scores_a.get(name, 0.0), scores_b.get(name, 0.0))
        outcome = a.record.outcome == b.record.outcome
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
        change_of = scores_b.get(headline or "", 0.0) - scores_a.get(headline or "", 0.0)
        lost = headline is None or change_of * worse > 0
        _list(seen.changed if lost else won, change, listed)
    for change in won:
        _list(seen.changed, change, listed)
    return seen


def _metrics(
    a: RunSummary,
    b: RunSummary,
    seen: _Seen,
    only: str | None,
    tolerance: float,
    less: Collection[str],
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
        paired = seen.tallies[name].paired(name) if name in seen.tallies else None
        # A metric that some samples lack has no such figure: nobody knows whether a failed one would have had it.
        everywhere = all(side is not None and side.with_failures is not None for side in (left, right))
        wrong = seen.with_failures(name) if everywhere else None
        found.append(
            MetricComparison(
                name=name,
                run_a=_metric_side(left),
                run_b=_metric_side(right),
                paired=paired,
                same=left is not None and right is not None and abs(right.value - left.value) <= tolerance,
                direction=direction_of(_value(left), _value(right), paired, tolerance),
                noise=is_time(name),
                lower_is_better=lower_is_better(name, less),
                failures_as_wrong=wrong,
            )
        )
    return adjusted(found)


def _value(metric: MetricSummary | None) -> float | None:
    return None if metric is None else metric.value


def _failed(half: Half) -> bool:
    return half.record.scores is None


def _ordered(summary: RunSummary) -> list[str]:
    """The headline first, then the others by name."""
    return sorted(summary.metrics, key=lambda name: name != summary.headline)


def _headline(a: RunSummary, b: RunSummary, asked: str | None) -> str | None:
    for name in (asked, b.headline, a.headline, "correct", "accuracy"):
        if name is not None and (name in a.metrics or name in b.metrics):
            return name
    return next(iter(b.metrics), None)


def _metric_side(metric: MetricSummary | None) -> MetricSide | None:
    if metric is None:
        return None
    return MetricSide(
        metric.value, metric.count, metric.ci_low, metric.ci_high, metric.with_failures, metric.too_few
    )


def _summary(run: RunRecord) -> RunSummary:
    if run.summary is None:
        raise UsageError(
            f"run {run.id} ({run.name}) has no result yet: it is {run.status}. Finish it first: benchwright resume {run.id}"
        )
    return RunSummary.from_json(run.summary)


def _disagreements(a: RunRecord, b: RunRecord) -> Iterator[str]:
    for part, what, words in _MUST_AGREE:
        if _part(a, part, what) != _part(b, part, what):
            yield words
    if not _same_benchmark(a, b):
        yield "asked or scored in another way"
    before, after = _part(a, "benchmark", "modules"), _part(b, "benchmark", "modules")
    if isinstance(before, dict) and isinstance(after, dict) and before != after:  # older runs know of none
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        yield f"imported other code ({', '.join(sorted(changed))})"


def _same_benchmark(a: RunRecord, b: RunRecord) -> bool:
    """Whether prompts and scores follow the same rules. A model's own system message is part of how that model was
    asked, which is listed; runs of older versions do not know it apart."""
    own = [_part(run, "benchmark", "own_hash") for run in (a, b)]
    name = "own_hash" if all(own) else "hash"
    return _part(a, "benchmark", name) == _part(b, "benchmark", name)


def _part(run: RunRecord, part: str, what: str) -> JsonValue:
    table = run.manifest.get(part)
    return table.get(what) if isinstance(table, dict) else None


def _doubts(a: RunRecord, b: RunRecord, first: RunSummary, second: RunSummary) -> Iterator[str]:
    if a.name != b.name:
        yield f"{title_of(a)} is of {a.name}, {title_of(b)} of {b.name}"
    if (first.rows, first.repeats) != (second.rows, second.repeats):
        yield (
            f"{title_of(a)} covers {_size(first)}, {title_of(b)} {_size(second)}: the values of the runs are of other "
            "samples; the difference is of those in both"
        )
    for run, summary in ((a, first), (b, second)):
        if summary.partial:
            yield f"{title_of(run)} is partial: {summary.evaluated} samples"
        elif not summary.comparable:
            yield f"{title_of(run)} is not comparable: {summary.failed} of {summary.evaluated} samples failed"


def _size(summary: RunSummary) -> str:
    return f"{plural(summary.rows, 'row')} × {plural(summary.repeats, 'repeat')}"


def _side(run: RunRecord, summary: RunSummary) -> Side:
    duration = None if run.finished_at is None else round(run.finished_at - run.created_at, 3)
    return Side(
        run.id,
        run.name,
        run.status,
        model_of(run),
        duration,
        str(endpoint_of(run).get("url") or ""),
        rows=summary.rows,
        repeats=summary.repeats,
        evaluated=summary.evaluated,
        failed=summary.failed,
        outcomes=dict(summary.outcomes),
        comparable=summary.comparable,
        title=title_of(run),
    )


def _numbers(half: Half) -> dict[str, float]:
    scores: Mapping[str, Any] = half.record.scores or {}
    return {name: float(value) for name, value in scores.items() if isinstance(value, bool | int | float)}


def _told(half: Half) -> JsonValue:
    record = half.record
    return {
        "outcome": record.outcome.value,
        "scores": record.scores,
        "error": record.error,
        "target": record.target,
    }


def _key(half: Half) -> str:
    return f"{half.row}/{half.repeat}"


def _word(same: bool) -> Any:
    return "same" if same else "differs"


def _list(items: list[Any], item: Any, limit: int | None) -> None:
    if limit is None or len(items) < limit:
        items.append(item)
