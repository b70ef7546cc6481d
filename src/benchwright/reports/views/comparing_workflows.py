"""Two workflow runs side by side: steps matched by key, metrics by name, what both measured per step tested in pairs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from benchwright.core import JsonObject, JsonValue, NotFoundError, is_share, is_time, lower_is_better, suggest
from benchwright.reports.views.comparison import (
    ChangedSample,
    Comparison,
    MetricComparison,
    MetricSide,
    Side,
    StepPair,
    adjusted,
    direction_of,
    field_differences,
    title_of,
)
from benchwright.reports.views.steps import StepView, step_views
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
    lower: Collection[str] = (),
) -> Comparison:
    """Compare two workflow runs; `compare_runs` explains the options."""
    left = {view.step.key: view for view in step_views(store, a.id)}
    right = {view.step.key: view for view in step_views(store, b.id)}
    keys = list(dict.fromkeys([*left, *right]))
    pairs = [pair for pair in (_step(key, left.get(key), right.get(key)) for key in keys) if pair is not None]
    metrics = _metrics(store, a, b, left, right, metric, tolerance, lower)
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
        regressed=any(found.worse and found.significant for found in counted),
        warnings=(*_doubts(a, b), *_other_data(left, right)),
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
    lower: Collection[str],
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
        paired = compare_pairs(*values, share=is_share(name)) if values[0] else None
        means = [None if totals is None else totals.mean for totals in (one, other)]
        found.append(
            MetricComparison(
                name=name,
                run_a=_metric_side(one),
                run_b=_metric_side(other),
                paired=paired,
                same=one is not None and other is not None and abs(other.mean - one.mean) <= tolerance,
                direction=direction_of(means[0], means[1], paired, tolerance),
                noise=is_time(name) or any(t is not None and t.unit in _TIME_UNITS for t in (one, other)),
                lower_is_better=lower_is_better(name, lower),
            )
        )
    return adjusted(found)


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


def _sides_of(a: JsonValue, b: JsonValue) -> JsonObject:
    differences = field_differences(a, b)
    return {"same": not differences, "differences": differences}


def _side(run: RunRecord) -> Side:
    model = run.input.get("model") if isinstance(run.input, dict) else None
    duration = None if run.finished_at is None else round(run.finished_at - run.created_at, 3)
    return Side(
        run.id,
        run.name,
        run.status,
        model if isinstance(model, str) else "",
        duration,
        comparable=run.status == "completed",
        title=title_of(run),
    )


def _doubts(a: RunRecord, b: RunRecord) -> Iterator[str]:
    if a.name != b.name:
        yield f"run {a.id} is of {a.name}, run {b.id} of {b.name}"
    for run in (a, b):
        if run.status != "completed":
            yield f"run {run.id} is not complete: {run.status}"
    for what in (*_other_code(a, b), *_other_versions(a, b)):
        yield f"the runs {what}: a difference may come of that"


def _other_code(a: RunRecord, b: RunRecord) -> Iterator[str]:
    """Files of the program that are not the same: its own, and those that it imports from its folder."""
    one, other = _table(a.manifest.get("entry")), _table(b.manifest.get("entry"))
    if one.get("sha256") != other.get("sha256"):
        yield f"are of different code ({one.get('path') or '–'}, {other.get('path') or '–'})"
    before, after = _table(a.manifest.get("modules")), _table(b.manifest.get("modules"))
    if "modules" in a.manifest and "modules" in b.manifest and before != after:
        changed = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
        yield f"imported different code ({', '.join(changed)})"


def _other_versions(a: RunRecord, b: RunRecord) -> Iterator[str]:
    before, after = _table(a.manifest.get("versions")), _table(b.manifest.get("versions"))
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    if changed:
        told = ", ".join(f"{name} {before.get(name) or '–'} and {after.get(name) or '–'}" for name in changed)
        yield f"had different versions of packages ({told})"


def _other_data(left: Mapping[str, StepView], right: Mapping[str, StepView]) -> Iterator[str]:
    """Datasets that were opened under the same key and are not the same: another file, commit, split or size."""
    for key, view in left.items():
        if key not in right:
            continue
        before, after = _table(view.output), _table(right[key].output)
        if "identity" in before and "identity" in after and before != after:
            changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            told = ", ".join(f"{name} {before.get(name)} and {after.get(name)}" for name in changed)
            yield f"the runs read other data at {key} ({told}): a difference may come of that"


def _table(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
