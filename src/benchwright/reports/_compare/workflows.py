"""Two workflow runs side by side: steps matched by key, metrics by name, what both measured per step tested in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from benchwright.core import JsonObject, JsonValue, NotFoundError, suggest
from benchwright.reports._compare.noise import is_time
from benchwright.reports._compare.values import (
    ChangedSample,
    Comparison,
    Direction,
    MetricComparison,
    MetricSide,
    Side,
    StepPair,
    field_differences,
)
from benchwright.reports._workflow_steps import StepView, step_views
from benchwright.stats import compare_pairs
from benchwright.store import MetricTotals, RunRecord, Store

_TIME_UNITS = ("ns", "us", "µs", "ms", "s", "sec", "second", "seconds", "min", "minutes", "h", "hours")


def compare_workflows(
    store: Store,
    a: RunRecord,
    b: RunRecord,
    *,
    metric: str | None,
    tolerance: float,
    times: bool,
    listed: int | None,
) -> Comparison:
    """Compare two workflow runs; `compare_runs` explains the options."""
    left = {view.step.key: view for view in step_views(store, a.id)}
    right = {view.step.key: view for view in step_views(store, b.id)}
    keys = list(dict.fromkeys([*left, *right]))
    pairs = [pair for pair in (_step(key, left.get(key), right.get(key)) for key in keys) if pair is not None]
    metrics = _metrics(store, a, b, left, right, metric, tolerance)
    counted = [found for found in metrics if times or not found.noise]
    inputs, outputs = _sides_of(a.input, b.input), _sides_of(a.output, b.output)
    changed = [
        ChangedSample(pair.step, None, left[pair.step].output, right[pair.step].output)
        for pair in pairs
        if pair.present == "both" and pair.output == "differs"
    ]
    return Comparison(
        run_a=_side(a),
        run_b=_side(b),
        differs=bool(pairs)
        or not (inputs["same"] and outputs["same"])
        or any(not found.same for found in counted),
        regressed=any(
            found.paired is not None and found.paired.difference < 0 and found.paired.significant
            for found in counted
        ),
        warnings=tuple(_doubts(a, b)),
        metrics=tuple(metrics),
        steps=tuple(pairs[:listed]),
        changed=tuple(changed[:listed]),
        both=sum(key in left and key in right for key in keys),
        only_a=sum(key not in right for key in keys),
        only_b=sum(key not in left for key in keys),
        inputs=inputs,
        outputs={**outputs, "run_a": a.output, "run_b": b.output},
        noun="step",
    )


def _step(key: str, a: StepView | None, b: StepView | None) -> StepPair | None:
    """How a step differs; None: it does not."""
    if a is None or b is None:
        return StepPair(key, "only_a" if b is None else "only_b", "differs", "differs", "differs")
    given = a.step.input_hash == b.step.input_hash
    status = a.step.status == b.step.status
    output = a.step.output == b.step.output or a.output == b.output
    if given and status and output:
        return None
    return StepPair(
        key,
        "both",
        "same" if given else "differs",
        "same" if status else "differs",
        "same" if output else "differs",
    )


def _metrics(
    store: Store,
    a: RunRecord,
    b: RunRecord,
    left: Mapping[str, StepView],
    right: Mapping[str, StepView],
    only: str | None,
    tolerance: float,
) -> list[MetricComparison]:
    totals_a, totals_b = store.metric_totals(a.id), store.metric_totals(b.id)
    names = list(dict.fromkeys([*totals_a, *totals_b]))
    if only is not None:
        if only not in names:
            known = ", ".join(names) or "none"
            raise NotFoundError(
                f"neither run has a metric {only!r}.{suggest(only, names)} They have: {known}"
            )
        names = [only]
    found = []
    for name in names:
        one, other = totals_a.get(name), totals_b.get(name)
        values = _paired_values(name, left, right)
        found.append(
            MetricComparison(
                name=name,
                run_a=_metric_side(one),
                run_b=_metric_side(other),
                paired=compare_pairs(*values) if values[0] else None,
                same=one is not None and other is not None and abs(other.mean - one.mean) <= tolerance,
                direction=_direction(one, other, tolerance),
                noise=is_time(name) or any(t is not None and t.unit in _TIME_UNITS for t in (one, other)),
            )
        )
    return found


def _paired_values(
    name: str, left: Mapping[str, StepView], right: Mapping[str, StepView]
) -> tuple[Sequence[float], Sequence[float]]:
    """Values of the steps that have the metric in both runs."""
    keys = [
        key
        for key, view in left.items()
        if name in view.metrics and key in right and name in right[key].metrics
    ]
    return [left[key].metrics[name] for key in keys], [right[key].metrics[name] for key in keys]


def _metric_side(totals: MetricTotals | None) -> MetricSide | None:
    return None if totals is None else MetricSide(totals.mean, totals.count, None, None)


def _direction(a: MetricTotals | None, b: MetricTotals | None, tolerance: float) -> Direction:
    if a is None or b is None:
        return "mixed"
    if abs(b.mean - a.mean) <= tolerance:
        return "same"
    return "up" if b.mean > a.mean else "down"


def _sides_of(a: JsonValue, b: JsonValue) -> JsonObject:
    differences = field_differences(a, b)
    return {"same": not differences, "differences": differences}


def _side(run: RunRecord) -> Side:
    model = run.input.get("model") if isinstance(run.input, dict) else None
    duration = None if run.finished_at is None else round(run.finished_at - run.created_at, 3)
    return Side(run.id, run.name, run.status, model if isinstance(model, str) else "", duration)


def _doubts(a: RunRecord, b: RunRecord) -> Iterator[str]:
    if a.name != b.name:
        yield f"run {a.id} is of {a.name}, run {b.id} of {b.name}"
    for run in (a, b):
        if run.status != "completed":
            yield f"run {run.id} is not complete: {run.status}"
