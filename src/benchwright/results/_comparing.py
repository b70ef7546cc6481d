"""Compares two recorded runs: refuses runs that cannot be compared, pairs the samples, and tests the metrics."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache
from itertools import islice

from benchwright.config import settings_deciding
from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    Note,
    RunSummary,
    SampleRecord,
    UsageError,
    canonical_json,
    is_share,
    is_time,
    json_differences,
    lower_is_better,
    reused_span,
)
from benchwright.results._benchmarks import benchmark_view
from benchwright.results._clusters import PairedMeans
from benchwright.results._comparison import Comparison, ComparisonOptions, Side
from benchwright.results._figures import gravest_first, no_interval, plural, reused_of
from benchwright.results._found_runs import FoundRun
from benchwright.results._metric_comparison import (
    MetricComparison,
    MetricSide,
    adjusted,
    direction_of,
    question_of,
    requested_metrics,
)
from benchwright.results._pairing import PairedSamples, paired_samples, with_texts
from benchwright.results._settings import endpoint_of, native_calling_of, sent_settings, table_of
from benchwright.stats import PairedResult, same_score, without_noise
from benchwright.store import RunRecord

_MUST_AGREE = (
    ("dataset", "fingerprint", "read other data"),
    ("fewshot", "hash", "showed other examples"),
)
"""Parts of a manifest that must be equal; otherwise a difference says nothing about the models."""
_KNOWN_OTHERWISE = frozenset(
    {
        "benchmark",
        "eval_type",
        "dataset",
        "retargeted",
        "model.url",
        "model.model_id",
        "generation.model",
    }
)
"""Settings that are compared by content, or shown as the model of each side."""
_REQUESTED_TYPE = frozenset({"model_type", "model.model_type"})
"""Settings that request a model type; the manifest has the one that was used, also if none was requested."""
_CONTENT = frozenset({"run", "git_hash", "dataset", "benchmark", "fewshot", "hub", "changes", "servers"})
"""Parts of a manifest that are compared by content, or only identify the run."""
_RULES = frozenset(settings_deciding("prompt", "columns", "questions", "scores", "everything"))
"""Settings that may be part of a benchmark's hash, besides those of its definition."""
_NOTHING: tuple[JsonValue, ...] = (None, "", [], {})


def compare_benchmarks(one: FoundRun, other: FoundRun, options: ComparisonOptions) -> Comparison:
    """Compare two benchmark runs by their samples.

    Raises UsageError for runs that cannot be compared, and NotFoundError for a metric that neither has.
    """
    a, b = one.run, other.run
    reasons = [
        *disagreements(a, b),
        *_other_grades(one, other),
        *(f"have lost records ({FoundRun.title_of(run)})" for run in (a, b) if run.lost),
    ]
    if reasons and not options.force:
        raise UsageError(
            f"{FoundRun.title_of(a)} and {FoundRun.title_of(b)} cannot be compared: they {' and '.join(reasons)}. "
            "To compare the rows that both have anyway, add --force"
        )
    first, second = _summary(a), _summary(b)
    return compared_samples(
        one,
        other,
        (first, second),
        options,
        sides=(_side(a, first), _side(b, second)),
        notes=(*_overridden(reasons), *_notes_on(a, b, first, second)),
        inputs=setting_differences(a, b, options.harmless),
    )


def compared_samples(
    one: FoundRun,
    other: FoundRun,
    summaries: tuple[RunSummary, RunSummary],
    options: ComparisonOptions,
    *,
    sides: tuple[Side, Side],
    notes: Iterable[Note],
    inputs: JsonObject,
    outputs: JsonObject | None = None,
    metrics: Sequence[MetricComparison] = (),
    effort: Sequence[MetricComparison] = (),
) -> Comparison:
    """Compare two runs by their samples. `outputs`, `metrics` and `effort` are what the runs have besides: a returned value, figures that
    come from no sample, and what they used. NotFoundError for a metric that neither has."""
    first, second = summaries
    less = {*options.lower, *first.lower_is_better, *second.lower_is_better}
    is_effort = _effort(options, less)
    headline = _headline(first, second, options.metric, is_effort)
    down = headline is not None and lower_is_better(headline, less)
    seen = paired_samples(
        one.samples,
        other.samples,
        tolerance=options.tolerance,
        listed=options.listed,
        headline=headline,
        worse=1 if down else -1,
        is_effort=is_effort,
        clusters=options.clusters,
    )
    names = [*_ordered(first), *_ordered(second), *(each.name for each in (*metrics, *effort))]
    requested = requested_metrics(names, options.metric)
    judged = [name for name in requested if not is_effort(name)]
    of_samples = [
        _metric(name, first, second, seen, options, less) for name in judged if _has(name, first, second)
    ]
    used = [_used(name, first, second) for name in requested if is_effort(name) and _has(name, first, second)]
    known = {each.name for each in used}
    used += [each for each in effort if each.name not in known and (options.metric is None)]
    tested = adjusted([*of_samples, *(each for each in metrics if each.name in judged)])
    same = outputs is None or bool(outputs["same"])
    return Comparison(
        run_a=sides[0],
        run_b=sides[1],
        differs=seen.differ
        or not same
        or any(not found.same for found in (*tested, *(used if options.times else ()))),
        regressed=any(found.worse and found.significant for found in tested),
        notes=tuple(gravest_first((*notes, *_nothing_shared(seen)))),
        metrics=tuple(tested),
        effort=tuple(used),
        steps=tuple(seen.steps),
        changed=with_texts(seen.changed, one.samples, other.samples),
        changes=seen.changes,
        both=seen.both,
        only_a=seen.only_a,
        only_b=seen.only_b,
        inputs=inputs,
        outputs={"run_a": None, "run_b": None, **(outputs or {}), "same": same and not seen.differ},
        tolerance=options.tolerance,
    )


def _effort(options: ComparisonOptions, less: Collection[str]) -> Callable[[str], bool]:
    """Which metrics are effort, and so neither won nor lost: those with such names, unless they are asked for, or declared to be better
    if lower."""
    judged = {options.metric, *options.lower, *(name for name in less if not lower_is_better(name))}
    return cache(lambda name: name not in judged and RunSummary.is_effort(name))


def _has(name: str, a: RunSummary, b: RunSummary) -> bool:
    return name in a.metrics or name in b.metrics


def _used(name: str, a: RunSummary, b: RunSummary) -> MetricComparison:
    """A metric that measures effort: both means, and no test."""
    sides = a.metrics.get(name), b.metrics.get(name)
    return effort_of(name, *(None if side is None else (side.value, side.count) for side in sides))


def effort_of(name: str, a: tuple[float, int] | None, b: tuple[float, int] | None) -> MetricComparison:
    """What two runs used of something, each with its mean and the number of values."""
    means = [None if side is None else side[0] for side in (a, b)]
    return MetricComparison(
        name=name,
        run_a=None if a is None else MetricSide(*a, None, None, no_interval="–"),
        run_b=None if b is None else MetricSide(*b, None, None, no_interval="–"),
        paired=None,
        same=a is not None and b is not None and same_score(a[0], b[0]),
        direction=direction_of(means[0], means[1], None, 0.0),
        noise=is_time(name),
        lower_is_better=True,
    )


_MOST_GRADES = 2_000
"""Samples of each run whose grades are read to tell scales apart."""


def _other_grades(one: FoundRun, other: FoundRun) -> Iterator[str]:
    """That the judges of two runs graded on scales that share no grade."""
    scales = []
    for found in (one, other):
        records = (record for *_, record in islice(found.samples.scored(), _MOST_GRADES))
        scores = (
            SampleRecord.score_fields(each).get("scores") for each in records if b'"judge_grade"' in each
        )
        scales.append({graded[0] for each in scores if (graded := SampleRecord.graded(each)) is not None})
    if all(scales) and not scales[0] & scales[1]:
        first, second = (", ".join(sorted(scale)[:8]) for scale in scales)
        yield f"have judges with other grades ({first} → {second})"


def _overridden(reasons: list[str]) -> Iterator[Note]:
    """The reasons that --force overrode."""
    for reason in reasons:
        yield Note.problem(f"the runs {reason}: a difference may come from that")


def _nothing_shared(seen: PairedSamples) -> Iterator[Note]:
    if not seen.both:
        yield Note.problem("no row is in both runs: their values cannot be compared")


def _metric(
    name: str,
    a: RunSummary,
    b: RunSummary,
    seen: PairedSamples,
    options: ComparisonOptions,
    less: Collection[str],
) -> MetricComparison:
    failures = seen.columns.failures
    left, right = a.metrics.get(name), b.metrics.get(name)
    down = lower_is_better(name, less)
    # A metric that depends on the rows alone is not tested.
    constant = any(side is not None and side.constant for side in (left, right))
    paired, question = _tested(name, None if constant else seen.columns.means(name), options, down)
    # Without this figure, a run does not tell whether its failed samples would have had the metric.
    # Where less is better, a failure counted as 0 would be the best score.
    known = (
        failures
        and not down
        and all(side is not None and side.with_failures is not None for side in (left, right))
    )
    partial = not (_of_all_samples(a, left) and _of_all_samples(b, right))
    wrong, asked = _tested(
        name, seen.columns.means_with_failures(name, partial=partial) if known else None, options, down
    )
    return MetricComparison(
        name=name,
        run_a=_metric_side(left),
        run_b=_metric_side(right),
        paired=paired,
        same=_same(left, right, paired, options.tolerance),
        direction=direction_of(_value(left), _value(right), paired, options.tolerance),
        noise=is_time(name),
        lower_is_better=down,
        failures_as_wrong=wrong,
        question=question,
        question_failures_as_wrong=asked,
    )


def _tested(
    name: str, means: PairedMeans | None, options: ComparisonOptions, down: bool
) -> tuple[PairedResult | None, bytes]:
    """The test of a metric by rows, and the hash of its differences; None if no row has the metric in both runs."""
    if means is None or not means[0]:
        return None, b""
    found = PairedResult.of(*means[1:], share=is_share(name), tolerance=options.tolerance)
    question = b""
    if found.differing:
        question = question_of(array("i", means[0]).tobytes(), without_noise(*means[1:]))
    return found.turned() if down else found, question


def _same(
    left: MetricSummary | None, right: MetricSummary | None, paired: PairedResult | None, tolerance: float
) -> bool:
    """Whether no row differs by more than the tolerance; without common rows, whether the values of the runs do not."""
    if left is None or right is None:
        return False
    return same_score(left.value, right.value, tolerance) if paired is None else not paired.differing


def _of_all_samples(summary: RunSummary, metric: MetricSummary | None) -> bool:
    """Whether every sample, failed or not, counts in a metric with failures as wrong."""
    most = max((each.with_failures_count or 0 for each in summary.metrics.values()), default=0)
    return metric is not None and metric.with_failures is not None and metric.with_failures_count == most


def _value(metric: MetricSummary | None) -> float | None:
    return None if metric is None else metric.value


def _ordered(summary: RunSummary) -> list[str]:
    """The headline first, then the others by name."""
    return sorted(summary.metrics, key=lambda name: name != summary.main_metric)


def _headline(
    a: RunSummary, b: RunSummary, requested: str | None, is_effort: Callable[[str], bool]
) -> str | None:
    for name in (requested, b.headline, a.headline, "correct", "accuracy"):
        if name is not None and (name in a.metrics or name in b.metrics):
            return name
    return next((name for name in b.metrics if not is_effort(name)), None)


def _metric_side(metric: MetricSummary | None) -> MetricSide | None:
    if metric is None:
        return None
    return MetricSide(
        metric.value,
        metric.count,
        metric.ci_low,
        metric.ci_high,
        metric.with_failures,
        metric.too_few,
        no_interval(metric),
    )


def _summary(run: RunRecord) -> RunSummary:
    if run.summary is None:
        raise UsageError(
            f"run {run.id} ({run.name}) has no result yet: it is {run.status}. Finish it first: benchwright resume {run.id}"
        )
    return RunSummary.from_json(run.summary)


def disagreements(a: RunRecord, b: RunRecord, *, prompt_may_differ: bool = False) -> Iterator[str]:
    """Reasons why a difference between two runs says nothing about their models: `read other data`, and so on."""
    for part, what, words in _MUST_AGREE:
        if _part(a, part, what) != _part(b, part, what):
            yield words
    only_prompt = differ_in_prompt_only(a, b)
    if not _same_benchmark(a, b) and not (only_prompt and prompt_may_differ):
        names = _rules_that_differ(a, b)
        yield (
            ("prompted" if only_prompt else "prompted or scored")
            + " in another way"
            + (f" ({', '.join(names)})" if names else "")
        )
    before, after = _part(a, "benchmark", "modules"), _part(b, "benchmark", "modules")
    if isinstance(before, dict) and isinstance(after, dict) and before != after:  # older runs record none
        changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        yield f"imported other code ({', '.join(sorted(changed))})"
    if changed := _changed_files(a, b):
        yield f"used other files ({', '.join(changed)})"


def rules_key(run: RunRecord) -> int:
    """A number that two runs of one process share if they have the same model, data, examples, prompts and scoring code: in lists, where
    `disagreements` of all pairs would take too long."""
    parts = [_part(run, part, what) for part, what, _ in _MUST_AGREE]
    parts += [_part(run, "benchmark", "own_hash") or _part(run, "benchmark", "hash")]
    parts += [_part(run, "benchmark", what) for what in ("modules", "files")]
    return hash(canonical_json([run.model, *parts]))


def differ_in_prompt_only(a: RunRecord, b: RunRecord) -> bool:
    """Whether two runs of one benchmark sent other prompts and scored the replies by the same rules. Older runs cannot tell."""
    scoring = _part(a, "benchmark", "scoring_hash"), _part(b, "benchmark", "scoring_hash")
    return not _same_benchmark(a, b) and scoring[0] is not None and scoring[0] == scoring[1]


def _changed_files(a: RunRecord, b: RunRecord) -> list[str]:
    """The files that the benchmark's code uses and that changed between the runs. Which files it reads while scoring may depend
    on the replies, so of those only one that both runs read can have changed."""
    before, after = _part(a, "benchmark", "files"), _part(b, "benchmark", "files")
    if not isinstance(before, dict) or not isinstance(after, dict):
        return []
    changed = {name for name in {**before, **after} if before.get(name) != after.get(name)}
    read = [{**files, **_read_files(run)} for files, run in ((before, a), (after, b))]
    return sorted(
        changed | {name for name in read[0].keys() & read[1].keys() if read[0][name] != read[1][name]}
    )


def _read_files(run: RunRecord) -> JsonObject:
    """The files that the benchmark's code read while the run scored."""
    return table_of(_part(run, "benchmark", "files_read"))


def _rules_that_differ(a: RunRecord, b: RunRecord) -> list[str]:
    """The settings of prompts, scores and judges that differ, with both values; none if the difference is in the benchmark's code."""
    first, second = (
        {n: v for n, v in {**sent_settings(run), **_defined(run)}.items() if n in (_RULES | {*_defined(run)})}
        for run in (a, b)
    )
    kinds = tuple(f"{kind}." for kind in (*_defined(a), *_defined(b)))
    names = []
    for place, _, old, new in json_differences(first, second):
        path = place.removeprefix("$.")
        names.append(f"{path.partition('.')[2] if path.startswith(kinds) else path} {_both(old, new)}")
    if any(name.startswith("judge") for name in names):
        return names
    before, after = (table_of(_part(run, "benchmark", "judges")) for run in (a, b))
    asked = json_differences(before, after)
    return [*names, *(f"{place.removeprefix('$.')} {_both(old, new)}" for place, _, old, new in asked)]


_LONGEST_VALUE = 60
"""Characters of a value in a reason."""


def _both(old: JsonValue, new: JsonValue) -> str:
    """Both values of a setting."""
    texts = [
        "not set"
        if value in _NOTHING
        else value
        if isinstance(value, str)
        else canonical_json(value).decode()
        for value in (old, new)
    ]
    return " → ".join(text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}…" for text in texts)


def _defined(run: RunRecord) -> JsonObject:
    """The settings of the run's definition, by its kind. Where the benchmark is loaded from is compared by content."""
    definition = table_of(run.settings.get("definition"))
    return {str(definition["kind"]): definition.get("settings")} if definition else {}


def _same_benchmark(a: RunRecord, b: RunRecord) -> bool:
    """Whether prompts and scores follow the same rules.

    The system message of a model is a setting, which is listed; older versions do not record it separately."""
    own = [_part(run, "benchmark", "own_hash") for run in (a, b)]
    name = "own_hash" if all(own) else "hash"
    return _part(a, "benchmark", name) == _part(b, "benchmark", name)


def _part(run: RunRecord, part: str, what: str) -> JsonValue:
    table = run.manifest.get(part)
    return table.get(what) if isinstance(table, dict) else None


def _notes_on(a: RunRecord, b: RunRecord, first: RunSummary, second: RunSummary) -> Iterator[Note]:
    yield from map(Note.of, _cautions(a, b, first, second))
    for run, summary in ((a, first), (b, second)):
        if summary.partial:
            yield Note.problem(f"{FoundRun.title_of(run)} is partial: {summary.evaluated} samples")
        elif not summary.comparable:
            failed = f"{summary.failed} of {summary.evaluated} samples failed"
            yield Note.problem(f"{FoundRun.title_of(run)} is not comparable: {failed}")


def _cautions(a: RunRecord, b: RunRecord, first: RunSummary, second: RunSummary) -> Iterator[str]:
    if a.name != b.name:
        yield f"{FoundRun.title_of(a)} is of {a.name}, {FoundRun.title_of(b)} of {b.name}"
    if (first.rows, first.repeats) != (second.rows, second.repeats):
        yield (
            f"{FoundRun.title_of(a)} covers {_size(first)}, {FoundRun.title_of(b)} {_size(second)}: the difference is of the rows in both, "
            "each by the mean of its repeats"
        )
    once = sorted(_read_files(a).keys() ^ _read_files(b).keys())
    if any(_part(run, "benchmark", "reads_more_files") for run in (a, b)):
        yield (
            "the scorer read so many files that not all were recorded, so a change of one between the runs may not be noticed"
        )
    elif once:
        yield f"only one of the runs read {', '.join(once[:3])}{', …' if len(once) > 3 else ''} while scoring"
    unknown = [place for run in (a, b) if not _read_files(run) for place in _unknown_reads(run)]
    if unknown:
        yield (
            f"{', '.join(dict.fromkeys(unknown))}: reads a file whose name is computed, so a change of that file between the runs "
            "would not be noticed"
        )
    served = served_models(a), served_models(b)
    if all(served) and served[0] != served[1]:
        yield f"the servers listed other models: {', '.join(served[0])} and {', '.join(served[1])}"
    for run, summary in ((a, first), (b, second)):
        if summary.older_replies:
            yield (
                f"{FoundRun.title_of(run)}: {plural(summary.older_replies, 'reply')} came from earlier runs "
                f"({reused_span(summary.reused)}), which do not show how the server answered at the time of the run"
            )


def _unknown_reads(run: RunRecord) -> list[str]:
    found = _part(run, "benchmark", "reads_unknown_files")
    return [str(place) for place in found] if isinstance(found, list) else []


def _size(summary: RunSummary) -> str:
    return f"{plural(summary.rows, 'row')} × {plural(summary.repeats, 'repeat')}"


def _side(run: RunRecord, summary: RunSummary) -> Side:
    view = benchmark_view(run)
    return Side(
        run.id,
        run.name,
        run.status,
        view.model_title,
        None if view.seconds is None else round(view.seconds, 3),
        str(endpoint_of(run).get("url") or ""),
        rows=summary.rows,
        repeats=summary.repeats,
        evaluated=summary.evaluated,
        failed=summary.failed,
        outcomes=dict(summary.outcomes),
        comparable=summary.comparable,
        title=FoundRun.title_of(run),
        cost=summary.cost,
        reused=reused_of(summary),
    )


def setting_differences(a: RunRecord, b: RunRecord, harmless: Collection[str]) -> JsonObject:
    """`{same, differences: [{path, run_a, run_b}]}`. A setting that is not named in `harmless` counts, so that a new one
    is never left out."""
    first, second = _settings(a, harmless), _settings(b, harmless)
    _show_off(first, second, {**sent_settings(a), **_defined(a)})
    _show_off(second, first, {**sent_settings(b), **_defined(b)})
    differences: list[JsonValue] = [
        {"path": path, "run_a": old, "run_b": new} for path, _, old, new in json_differences(first, second)
    ]
    return {"same": not differences, "differences": differences}


def _settings(run: RunRecord, harmless: Collection[str]) -> JsonObject:
    settings = {**sent_settings(run), **_defined(run)}
    settings.pop("definition", None)
    requested = _REQUESTED_TYPE if table_of(run.manifest.get("endpoint")).get("type") else ()
    found = _without(settings, {*_KNOWN_OTHERWISE, *harmless, *requested})
    if (native := native_calling_of(run.settings)) is not None:
        found["native_calling"] = native
    for name, value in run.manifest.items():
        if name in _CONTENT:
            continue
        if name == "endpoint" and isinstance(value, dict):
            value = {"type": value.get("type")}  # the address belongs to the model, the headers are settings
        if value not in _NOTHING:
            found[name] = value
    return found


def _without(table: JsonObject, known: Collection[str], prefix: str = "") -> JsonObject:
    """Settings that are set and not `known`. A setting that is off equals one that an older version did not have."""
    found: JsonObject = {}
    for name, value in table.items():
        if f"{prefix}{name}" in known:
            continue
        if not prefix and name in ("model", "generation") and isinstance(value, dict):
            value = _without(value, known, f"{name}.")
        if value not in _NOTHING and value is not False:
            found[name] = value
    return found


def _show_off(found: JsonObject, other: JsonObject, recorded: JsonObject) -> None:
    """Add settings that one run recorded as off and the other has, as false rather than missing."""
    for name, value in other.items():
        there = recorded.get(name)
        if there is False:
            found.setdefault(name, False)
        elif isinstance(value, dict) and isinstance(there, dict):
            inner = found.get(name)
            if isinstance(inner, dict):
                _show_off(inner, value, there)


def served_models(run: RunRecord) -> list[str]:
    """The names under which servers listed their models during the run; empty if no server did."""
    servers = table_of(run.manifest.get("servers"))
    return sorted({str(name) for found in servers.values() for name in table_of(found).get("served") or ()})
