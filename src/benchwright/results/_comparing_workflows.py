"""Compares two workflow runs: by their rows, as samples are compared; or by their steps, matched by key, with values per step in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from benchwright.core import (
    SAMPLE_STEP,
    SECONDS_OF,
    JsonObject,
    JsonValue,
    Note,
    RunSummary,
    SampleRecord,
    is_share,
    is_time,
    lower_is_better,
)
from benchwright.results._comparing import compared_samples, effort_of
from benchwright.results._comparison import (
    ChangedSample,
    Comparison,
    ComparisonOptions,
    Side,
    StepPair,
    field_differences,
)
from benchwright.results._figures import gravest_first, plural
from benchwright.results._found_runs import FoundRun
from benchwright.results._metric_comparison import (
    MetricComparison,
    MetricSide,
    adjusted,
    direction_of,
    question_of,
    requested_metrics,
)
from benchwright.results._settings import table_of
from benchwright.results._workflow_rows import rows_summary
from benchwright.results._workflows import StepView, step_views, workflow_view
from benchwright.stats import PairedResult, same_score, without_noise
from benchwright.store import MetricTotals, RunRecord, Store


def compare_workflows(one: FoundRun, other: FoundRun, options: ComparisonOptions) -> Comparison:
    """Compare two workflow runs: by their rows, as benchmark runs are compared by their samples; if one has no rows, by their steps.
    NotFoundError for a metric that neither has."""
    a, b, store = one.run, other.run, one.store
    assert store is not None  # files of runs are of benchmarks and load tests
    left = {view.step.key: view for view in step_views(store, a.id)}
    right = {view.step.key: view for view in step_views(store, b.id)}
    given = [run.input if run.input is not None else {} for run in (a, b)]
    inputs = _sides_of(*given)
    outputs = _sides_of(*(one if options.times else _without_times(one) for one in (a.output, b.output)))
    outputs |= {"run_a": a.output, "run_b": b.output}
    notes = (*_incomplete(a, b), *map(Note.of, (*_cautions(a, b), *_other_data(left, right))))
    first, second = (rows_summary(store, run)[0] for run in (a, b))
    if first is not None and second is not None:
        scores = {*first.metrics, *second.metrics}
        emitted = [found for found in _emitted(store, a, b, left, right, options) if found.name not in scores]
        return compared_samples(
            one,
            other,
            (first, second),
            options,
            sides=(_side(a, first), _side(b, second)),
            notes=(*notes, *_of_rows(first, a), *_of_rows(second, b), *_other_rows(store, a, b)),
            inputs=inputs,
            outputs=outputs,
            metrics=[found for found in emitted if not _is_effort(found, options)],
            effort=[
                *(found for found in emitted if _is_effort(found, options)),
                *_used(first, second, left, right),
            ],
        )
    keys = list(dict.fromkeys([*left, *right]))
    compared = (_step(key, left.get(key), right.get(key), times=options.times) for key in keys)
    pairs = [pair for pair in compared if pair is not None]
    found = _emitted(store, a, b, left, right, options)
    requested_metrics([each.name for each in found], options.metric)
    wanted = [each for each in found if options.metric in (None, each.name)]
    effort = [each for each in wanted if _is_effort(each, options)]
    metrics = adjusted(each for each in wanted if not _is_effort(each, options))
    changed = [
        ChangedSample(pair.step, None, left[pair.step].output, right[pair.step].output)
        for pair in pairs
        if pair.present == "both" and pair.output == "differs"
    ]
    return Comparison(
        run_a=_side(a, None),
        run_b=_side(b, None),
        differs=bool(pairs)
        or not (inputs["same"] and outputs["same"])
        or any(not each.same for each in (*metrics, *(effort if options.times else ()))),
        regressed=any(each.worse and each.significant for each in metrics),
        notes=tuple(gravest_first(notes)),
        metrics=tuple(metrics),
        effort=tuple(replace(each, paired=None) for each in effort),
        steps=tuple(pairs[: options.listed]),
        changed=tuple(changed[: options.listed]),
        changes=len(changed),
        both=sum(key in left and key in right for key in keys),
        only_a=sum(key not in right for key in keys),
        only_b=sum(key not in left for key in keys),
        inputs=inputs,
        outputs=outputs,
        tolerance=options.tolerance,
        noun="step",
    )


def _is_effort(metric: MetricComparison, options: ComparisonOptions) -> bool:
    return metric.name not in (options.metric, *options.lower) and (
        metric.noise or RunSummary.is_effort(metric.name)
    )


def _used(
    a: RunSummary, b: RunSummary, left: Mapping[str, StepView], right: Mapping[str, StepView]
) -> Iterator[MetricComparison]:
    """Steps and tokens of each row, and how long its steps took, as means over the rows."""
    rows = a.evaluated, b.evaluated
    own = [
        [view for key, view in steps.items() if not key.startswith(SAMPLE_STEP)] for steps in (left, right)
    ]
    counts: dict[str, list[float | None]] = {
        "steps": [len(steps) for steps in own],
        "step_seconds": [sum(view.seconds or 0.0 for view in steps) for steps in own],
        "prompt_tokens": [a.prompt_tokens, b.prompt_tokens],
        "completion_tokens": [a.completion_tokens, b.completion_tokens],
    }
    for name, totals in counts.items():
        if any(total is not None for total in totals):
            sides = [
                None if total is None else (total / of, of) for total, of in zip(totals, rows, strict=True)
            ]
            yield effort_of(f"{name}_per_row", *sides)


def _of_rows(summary: RunSummary, run: RunRecord) -> Iterator[Note]:
    if not summary.comparable and not summary.partial:
        failed = f"{summary.failed} of {plural(summary.evaluated, 'row')} failed"
        yield Note.problem(f"{FoundRun.title_of(run)} is not comparable: {failed}")


def _other_rows(store: Store, a: RunRecord, b: RunRecord) -> Iterator[Note]:
    """Rows that have the same name and other content: they may be other rows, and are not paired."""
    first, second = (
        {
            str(SampleRecord.score_fields(text).get("name")): digest
            for _, _, digest, text in store.scored(run.id)
        }
        for run in (a, b)
    )
    held = set(first.values()) & set(second.values())
    other = [
        name for name, digest in first.items() if second.get(name, digest) != digest and digest not in held
    ]
    if other:
        some = ", ".join(other[:3]) + (", …" if len(other) > 3 else "")
        yield Note.problem(
            f"{plural(len(other), 'row')} with the same name in both runs have other content ({some}) and are not paired: a row is "
            "recognised by what ctx.sample was given as its row, so give it the row of the data only"
        )


_TIME_OF_REPLY = "latency_s"
"""The field of a model's reply that differs from run to run, whatever the model answered."""


def _without_times(value: JsonValue) -> JsonValue:
    """A JSON value without the times of the replies in it.

    >>> _without_times([{"text": "4", "latency_s": 0.25}, {"latency_s": "late"}])
    [{'text': '4'}, {'latency_s': 'late'}]
    """
    if isinstance(value, list):
        return [_without_times(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _without_times(item)
        for name, item in value.items()
        if not (name == _TIME_OF_REPLY and isinstance(item, int | float))
    }


def _step(key: str, a: StepView | None, b: StepView | None, *, times: bool) -> StepPair | None:
    """How a step differs; None: it does not."""
    if a is None or b is None:
        return StepPair(key, "only_a" if b is None else "only_b", "differs", "differs", "differs")
    given = a.step.input_hash == b.step.input_hash
    status = a.step.status == b.step.status
    output = (
        a.step.output == b.step.output
        or a.output == b.output
        or (not times and _without_times(a.output) == _without_times(b.output))
    )
    if given and status and output:
        return None
    return StepPair(
        key,
        "both",
        "same" if given else "differs",
        "same" if status else "differs",
        "same" if output else "differs",
    )


def _emitted(
    store: Store,
    a: RunRecord,
    b: RunRecord,
    left: Mapping[str, StepView],
    right: Mapping[str, StepView],
    options: ComparisonOptions,
) -> list[MetricComparison]:
    """The metrics that steps and the runs themselves emitted, with a test where steps pair them."""
    totals_a, totals_b = store.metric_totals(a.id), store.metric_totals(b.id)
    names = dict.fromkeys([*totals_a, *totals_b])
    tolerance = options.tolerance
    found = []
    for name in names:
        one, other = totals_a.get(name), totals_b.get(name)
        keys, values_a, values_b = _paired_values(name, left, right)
        down = lower_is_better(name, options.lower)
        paired = (
            PairedResult.of(values_a, values_b, share=is_share(name), tolerance=tolerance) if keys else None
        )
        if paired is not None and down:
            paired = paired.turned()
        means = [None if totals is None else totals.mean for totals in (one, other)]
        found.append(
            MetricComparison(
                name=name,
                run_a=_metric_side(one),
                run_b=_metric_side(other),
                paired=paired,
                same=one is not None
                and other is not None
                and (same_score(one.mean, other.mean, tolerance) if paired is None else not paired.differing),
                direction=direction_of(means[0], means[1], paired, tolerance),
                noise=is_time(name) or any(t is not None and t.unit in SECONDS_OF for t in (one, other)),
                lower_is_better=down,
                question=question_of("\0".join(map(str, keys)).encode(), without_noise(values_a, values_b))
                if keys
                else b"",
            )
        )
    return found


def _paired_values(
    name: str, left: Mapping[str, StepView], right: Mapping[str, StepView]
) -> tuple[Sequence[str], Sequence[float], Sequence[float]]:
    """The steps that have the metric in both runs, and both values."""
    keys = [
        key
        for key, view in left.items()
        if name in view.metrics and key in right and name in right[key].metrics
    ]
    return keys, [left[key].metrics[name] for key in keys], [right[key].metrics[name] for key in keys]


def _metric_side(totals: MetricTotals | None) -> MetricSide | None:
    return None if totals is None else MetricSide(totals.mean, totals.count, None, None, no_interval="–")


def _sides_of(a: JsonValue, b: JsonValue) -> JsonObject:
    differences = field_differences(a, b)
    return {"same": not differences, "differences": differences}


def _side(run: RunRecord, rows: RunSummary | None) -> Side:
    view = workflow_view(run)
    side = Side(
        run.id,
        run.name,
        run.status,
        view.model_title,
        None if view.seconds is None else round(view.seconds, 3),
        comparable=run.status == "completed" and (rows is None or rows.comparable),
        title=FoundRun.title_of(run),
    )
    if rows is None:
        return side
    return replace(
        side,
        rows=rows.rows,
        repeats=rows.repeats,
        evaluated=rows.evaluated,
        failed=rows.failed,
        outcomes=dict(rows.outcomes),
    )


def _incomplete(*runs: RunRecord) -> Iterator[Note]:
    for run in runs:
        if run.status != "completed":
            yield Note.problem(f"run {run.id} is not complete: {run.status}")


def _cautions(a: RunRecord, b: RunRecord) -> Iterator[str]:
    if a.name != b.name:
        yield f"run {a.id} is of {a.name}, run {b.id} of {b.name}"
    for what in (*other_code(a, b), *_other_versions(a, b)):
        yield f"the runs {what}: a difference may come from that"


def other_code(a: RunRecord, b: RunRecord) -> Iterator[str]:
    """Files of the program that differ: its main file, and files that it imports from its folder."""
    one, other = table_of(a.manifest.get("entry")), table_of(b.manifest.get("entry"))
    if one.get("sha256") != other.get("sha256"):
        yield f"are of different code ({one.get('path') or '–'}, {other.get('path') or '–'})"
    before, after = table_of(a.manifest.get("modules")), table_of(b.manifest.get("modules"))
    if "modules" in a.manifest and "modules" in b.manifest and before != after:
        changed = sorted(name for name in {**before, **after} if before.get(name) != after.get(name))
        yield f"imported different code ({', '.join(changed)})"


def _other_versions(a: RunRecord, b: RunRecord) -> Iterator[str]:
    """Packages for which the runs recorded different versions. A package that a run had not loaded at its start has no
    recorded version, which is not a difference."""
    before, after = table_of(a.manifest.get("versions")), table_of(b.manifest.get("versions"))
    changed = [name for name in before if name in after and before[name] != after[name]]
    if changed:
        versions = ", ".join(f"{name} {before[name]} and {after[name]}" for name in changed)
        yield f"had different versions of packages ({versions})"


def _other_data(left: Mapping[str, StepView], right: Mapping[str, StepView]) -> Iterator[str]:
    """Datasets under the same key that differ: another file, commit, split or size."""
    for key, view in left.items():
        if key not in right:
            continue
        before, after = table_of(view.output), table_of(right[key].output)
        if "identity" in before and "identity" in after and before != after:
            changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            versions = ", ".join(f"{name} {before.get(name)} and {after.get(name)}" for name in changed)
            yield f"the runs read other data at {key} ({versions}): a difference may come from that"
