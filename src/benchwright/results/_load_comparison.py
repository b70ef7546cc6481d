"""Compares two load tests."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from msgspec import Struct, structs

from benchwright.core import JsonObject, Note, NotFoundError, UsageError, as_json, suggest
from benchwright.perf import (
    MAX_ERROR_SHARE,
    METRICS,
    Difference,
    Distribution,
    LoadSummary,
    Requests,
    ScoreDifference,
    StageComparison,
    StageSummary,
)
from benchwright.results._comparing import setting_differences
from benchwright.results._comparison import ComparisonOptions, Side, TwoRuns, field_differences
from benchwright.results._figures import plural
from benchwright.results._found_runs import FoundRun
from benchwright.results._load import (
    LoadView,
    load_view,
    outcomes_of,
    recorded_summary,
    settings_of,
    short,
    stages_of_interest,
)
from benchwright.results._settings import endpoint_of, table_of
from benchwright.store import RunRecord

_MOST_NAMES = 4
"""Figures that the first sentence names."""


class SearchComparison(Struct, frozen=True):
    """The largest loads that two searches found."""

    a: float
    b: float
    ci95_a: tuple[float, float] | None
    ci95_b: tuple[float, float] | None
    label_a: str
    label_b: str

    @property
    def significant(self) -> bool:
        """Whether the intervals do not overlap."""
        if self.ci95_a is None or self.ci95_b is None:
            return False
        return self.ci95_a[1] < self.ci95_b[0] or self.ci95_b[1] < self.ci95_a[0]

    @property
    def worse(self) -> bool:
        """Whether the second one is smaller, by chance or not."""
        return self.b < self.a

    @property
    def words(self) -> str:
        """How the largest load changed, if the intervals do not overlap."""
        ends = [f"{low:.3g} to {high:.3g}" for low, high in filter(None, (self.ci95_a, self.ci95_b))]
        return (
            f"the largest load is significantly {'smaller' if self.worse else 'larger'} ({self.label_a} → {self.label_b}; 95 % "
            f"intervals {' and '.join(ends)})"
        )

    def to_json(self) -> JsonObject:
        """All fields, and the verdict."""
        found: JsonObject = {**as_json(self), "significant": self.significant, "worse": self.worse}
        return found


class LoadComparison(TwoRuns, frozen=True, kw_only=True):
    """Two load tests, level by level."""

    levels: tuple[StageComparison, ...]
    """Levels that both have."""
    only_a: tuple[str, ...]
    """Levels that only the first has."""
    only_b: tuple[str, ...]
    """Levels that only the second has."""
    search: SearchComparison | None = None
    """The results of two searches. `levels` then compares the probes at those loads."""
    other_load: bool = False
    """Whether the only stages of both tests had different loads."""
    beyond: tuple[tuple[str, Difference | ScoreDifference], ...] = ()
    """The significant differences that count, each with its level."""
    curves: JsonObject | None = None
    """The curves of both for one picture, as `overlaid_curves` has them."""
    doubts: tuple[str, ...] = ()
    """Why the figures of a test may not be compared, for each such test."""

    @property
    def sentence(self) -> str:
        """What a reader wants to know first: which figures got worse or better, by how much, and with which interval; or why
        this cannot be told."""
        if self.doubts:
            return f"cannot tell whether they differ: {'; '.join(self.doubts)}"
        parts = ["the loads differ"] if self.other_load else []
        if self.search is not None and self.search.significant:
            parts.append(self.search.words)
        parts += [self._changes(worse) for worse in (True, False)]
        if not self.differs:
            parts.append(self._no_difference)
        return "; ".join(filter(None, parts))

    def _changes(self, worse: bool) -> str:
        """The first figure that got worse, or better, with its change, and the names of the others."""
        found: dict[str, tuple[str, Difference | ScoreDifference]] = {}
        seen = set()
        for label, each in self.beyond:
            figures = (label, getattr(each, "statistic", None), each.a, each.b, each.ci95)
            if each.worse == worse and each.name not in found and figures not in seen:
                found[each.name] = label, each
            seen.add(figures)
        if not found:
            return ""
        name, *others = found
        label, first = found[name]
        level = f" at {label}" if len(self.levels) > 1 else ""
        verdict = "worse" if worse else "better"
        words = f"{_title(first)}{level} is significantly {verdict} ({_moved(first)})"
        if others:
            left = len(others) - _MOST_NAMES
            named = ", ".join(others[:_MOST_NAMES]) + (f" and {left} more" if left > 0 else "")
            words += f", and so {'is' if len(others) == 1 else 'are'} {named}"
        return words

    @property
    def _no_difference(self) -> str:
        tested = self.tested
        if not tested:
            return "too few requests to test any figure"
        if not self.untested:
            return "no significant difference"
        which = tested[0] if len(tested) == 1 else f"the {len(tested)} figures tested"
        return f"no significant difference in {which}; too few requests to test the others"

    def __repr__(self) -> str:
        return f"<LoadComparison {self.run_b.title} vs. {self.run_a.title}: {self.sentence}>"

    @property
    def comparable(self) -> bool:
        """Whether the figures of both tests may be compared."""
        return bool(self.levels) and self.run_a.comparable and self.run_b.comparable

    @property
    def tests(self) -> int:
        """Differences for which p-values are corrected."""
        return len(
            {
                (level.label, each.statistic, each.a, each.b, each.ci95)
                for level in self.levels
                for each in level.differences
                if each.p_value is not None
            }
        )

    @property
    def tested(self) -> tuple[str, ...]:
        """Names of the figures and scores that were tested at some level."""
        figures = [each.name for each in self._differences if each.p_value is not None]
        return tuple(
            dict.fromkeys([*figures, *(score.name for level in self.levels for score in level.scores)])
        )

    @property
    def untested(self) -> tuple[str, ...]:
        """Names of the figures that both have and that were tested at no level, because there are too few requests."""
        return tuple(dict.fromkeys(each.name for each in self._differences if each.name not in self.tested))

    @property
    def _differences(self) -> list[Difference]:
        return [each for level in self.levels for each in level.differences]

    def to_json(self) -> JsonObject:
        """`{run_a, run_b, differs, regressed, comparable, warning, notes, input_comparison, search, levels, only_a, only_b, tests,
        untested, curves}`."""
        return {
            **self.verdict_json(comparable=self.comparable),
            "search": None if self.search is None else self.search.to_json(),
            "levels": [_level_json(level) for level in self.levels],
            "only_a": list(self.only_a),
            "only_b": list(self.only_b),
            "tests": self.tests,
            "untested": list(self.untested),
            "curves": self.curves,
        }


def _level_json(level: StageComparison) -> JsonObject:
    differences: list[Any] = [
        {
            **as_json(each),
            "key": METRICS[each.name].key,
            "relative": None if each.relative is None else round(each.relative, 6),
            "significant": each.significant,
            "worse": each.worse,
        }
        for each in level.differences
    ]
    scores: list[Any] = [
        {**as_json(each), "significant": each.significant, "worse": each.worse} for each in level.scores
    ]
    return {"level": level.label, "pairs": level.pairs, "differences": differences, "scores": scores}


def _title(each: Difference | ScoreDifference) -> str:
    if isinstance(each, ScoreDifference):
        return f"score {each.name}"
    return each.name if each.statistic == "value" else f"{each.name} {each.statistic}"


def _moved(each: Difference | ScoreDifference) -> str:
    """By how much a figure changed, with the interval.

    >>> _moved(Difference("ttft", "p50", 100.0, 112.5, 12.5, (10.0, 15.25), paired=True))
    'up 12.5 ms, 95 % interval 10.0 to 15.2 ms'
    >>> _moved(Difference("request_throughput", "value", 9.0, 8.0, -1.0, None, paired=False))
    'down 1.00 per s'
    >>> _moved(Difference("error_share", "value", 0.01, 0.06, 0.05, (0.02, 0.08), paired=False))
    'up 5.0 percentage points, 95 % interval 2.0 to 8.0 percentage points'
    """
    metric = None if isinstance(each, ScoreDifference) else METRICS[each.name]
    title = "" if metric is None else "percentage points" if metric.unit == "share" else metric.unit_title
    unit = f" {title}" if title else ""

    def number(value: float) -> str:
        if metric is None:
            return f"{value:.4f}"
        return f"{100 * value:.1f}" if metric.unit == "share" else short(value, metric)

    moved = f"{'up' if each.difference > 0 else 'down'} {number(abs(each.difference))}{unit}"
    if each.ci95 is None:
        return moved
    low, high = sorted(each.ci95) if each.difference > 0 else sorted((-each.ci95[0], -each.ci95[1]))
    return f"{moved}, 95 % interval {number(low)} to {number(high)}{unit}"


def compare_loads(one: FoundRun, other: FoundRun, options: ComparisonOptions) -> LoadComparison:
    """Compare two load tests. Raises NotFoundError for a figure that neither has, and UsageError if they have no level in
    common."""
    from benchwright.results._load_charts import overlaid_curves  # not for gates

    a, b = one.run, other.run
    requests = Requests.of(one.requests()), Requests.of(other.requests())
    summaries = tuple(_summary(found, each) for found, each in zip((one, other), requests, strict=True))
    matched, only_a, only_b = matched_levels(*summaries)
    if not matched:
        raise UsageError(
            f"{FoundRun.title_of(a)} has the levels {', '.join(only_a) or '–'} and {FoundRun.title_of(b)} {', '.join(only_b) or '–'}: none in common"
        )
    requested = _requested(options.metric)
    levels = StageComparison.adjusted(
        [
            _only(_shown(StageComparison.of(*requests, before, after), before, after), requested)
            for before, after in matched
        ]
    )
    if requested is not None and not any(level.differences for level in levels):
        raise NotFoundError(f"neither test has a value of {options.metric}")
    search = _searches(*summaries) if requested is None else None
    beyond: list[tuple[str, Difference | ScoreDifference]] = [
        (level.label, each)
        for level in levels
        for each in level.differences
        if each.significant and _matters(each, options)
    ]
    beyond += [(level.label, each) for level in levels for each in level.scores if each.significant]
    verdicts = [each.worse for _, each in beyond]
    if search is not None and search.significant:
        verdicts.append(search.worse)
    doubts = tuple(_doubts(a, b, *summaries))
    if doubts:  # figures that may not be compared fail nothing; the command says why, by its exit code too
        verdicts = []
    return LoadComparison(
        run_a=_side(a, summaries[0]),
        run_b=_side(b, summaries[1]),
        differs=bool(verdicts),
        regressed=any(verdicts),
        notes=(
            *map(Note.problem, doubts),
            *map(
                Note.of,
                (*_cautions(a, b, *summaries), *_drawn_again(a, requests[0]), *_drawn_again(b, requests[1])),
            ),
        ),
        doubts=doubts,
        curves=overlaid_curves((requests[0], requests[1]), (summaries[0], summaries[1]), matched),
        levels=levels,
        only_a=only_a,
        only_b=only_b,
        inputs=load_setting_differences(a, b, options.harmless),
        search=search,
        other_load=_other_load(*summaries),
        beyond=tuple(beyond),
    )


def _summary(found: FoundRun, requests: Requests) -> LoadSummary:
    run = found.run
    if found.store is not None:
        return recorded_summary(found.store, run, requests)
    if run.summary is None:
        raise UsageError(f"{FoundRun.title_of(run)} has no figures to compare: it is {run.status}")
    return LoadSummary.from_json(run.summary)


def _searches(a: LoadSummary, b: LoadSummary) -> SearchComparison | None:
    sides = [(each.search, LoadView.best_stage(each)) for each in (a, b)]
    (one, at_one), (other, at_other) = sides
    if one is None or other is None or one.level is None or other.level is None:
        return None
    assert at_one is not None  # a level was found
    assert at_other is not None
    return SearchComparison(one.level, other.level, one.ci95, other.ci95, at_one.label, at_other.label)


def _matters(each: Any, options: ComparisonOptions) -> bool:
    """Whether a difference counts: token counts are neither better nor worse, and the tolerance is allowed."""
    return METRICS[each.name].better is not None and abs(each.difference) > options.tolerance


def matched_levels(
    a: LoadSummary, b: LoadSummary
) -> tuple[list[tuple[StageSummary, StageSummary]], tuple[str, ...], tuple[str, ...]]:
    """Stages of the same level. If each side has a single stage, they are compared in any case; so are the ends of two
    searches."""
    if _searches(a, b) is not None:
        return [(stages_of_interest(a)[0], stages_of_interest(b)[0])], (), ()
    if len(a.stages) == len(b.stages) == 1:
        return [(a.stages[0], b.stages[0])], (), ()
    left, right = ({stage.label: stage for stage in each.stages} for each in (a, b))
    both = [(stage, right[label]) for label, stage in left.items() if label in right]
    return both, tuple(label for label in left if label not in right), tuple(label for label in right if label not in left)  # fmt: skip


def _requested(metric: str | None) -> str | None:
    if metric is None:
        return None
    for name, each in METRICS.items():
        if metric in (name, each.key):
            return name
    raise NotFoundError(f"no figure of a load test is called {metric!r}.{suggest(metric, METRICS)}")


def _shown(compared: StageComparison, *stages: StageSummary) -> StageComparison:
    """The comparison without percentiles that the tables of the tests themselves leave out."""

    def shown(each: Difference) -> bool:
        found = [stage.metrics.get(METRICS[each.name].key) for stage in stages]
        return all(values is None or Distribution.enough(values.n, each.statistic) for values in found)

    return structs.replace(compared, differences=tuple(filter(shown, compared.differences)))


def _only(stage: StageComparison, name: str | None) -> StageComparison:
    if name is None:
        return stage
    found = tuple(each for each in stage.differences if each.name == name)
    return StageComparison(stage.label, stage.pairs, found, ())


def _side(run: RunRecord, summary: LoadSummary) -> Side:
    view = load_view(run)
    return Side(
        run.id,
        run.name,
        run.status,
        view.model_title,
        None if view.seconds is None else round(view.seconds, 3),
        endpoint=str(endpoint_of(run).get("url") or ""),
        evaluated=summary.sent,
        failed=summary.failed,
        outcomes=outcomes_of(summary.stages),
        title=FoundRun.title_of(run),
        comparable=summary.comparable and not summary.partial,
    )


def _doubts(a: RunRecord, b: RunRecord, one: LoadSummary, other: LoadSummary) -> Iterator[str]:
    for run, summary in ((a, one), (b, other)):
        if summary.partial:
            yield f"{FoundRun.title_of(run)} did not end as planned ({run.error or run.status})"
        elif not summary.comparable:
            yield f"{FoundRun.title_of(run)} is not comparable ({_why_not(run, summary)})"


def _why_not(run: RunRecord, summary: LoadSummary) -> str:
    if summary.search is not None:
        return "its search has no answer"
    allowed = settings_of(run).max_error_share
    most = MAX_ERROR_SHARE if allowed is None else allowed
    causes = []
    if not summary.sent:
        causes.append("no request was sent")
    elif summary.failed > most * summary.sent:
        causes.append(f"{summary.failed:,} of {plural(summary.sent, 'request')} failed")
    limited = [stage.label for stage in summary.stages if stage.client_was_limit]
    if limited:
        where = "" if len(summary.stages) == 1 else f" at {', '.join(limited)}"
        causes.append(f"the client was the limit{where}")
    return " and ".join(causes)


def _cautions(a: RunRecord, b: RunRecord, one: LoadSummary, other: LoadSummary) -> Iterator[str]:
    if load_data(a) != load_data(b):
        yield "the tests sent the rows of different data"
    if _other_load(one, other):
        yield f"the loads differ: {one.stages[0].label} and {other.stages[0].label}"


def _drawn_again(run: RunRecord, requests: Requests) -> Iterator[str]:
    """Rows that were drawn with replacement: some were sent several times, at random places, which the intervals do not know."""
    sampling = table_of(table_of(run.manifest.get("dataset")).get("sampling"))
    if sampling.get("sampling_mode") != "random_with_replacement":
        return
    sent = requests.sent
    prompts = len(set(sent["prompt_hash"].to_pylist()))
    if prompts < len(sent):
        yield (
            f"{FoundRun.title_of(run)} drew its rows with replacement: {plural(len(sent), 'request')} sent {plural(prompts, 'different prompt')}. Intervals take requests for "
            "independent, so they may be too narrow, and hold for these prompts only"
        )


def _other_load(one: LoadSummary, other: LoadSummary) -> bool:
    """Whether stages with different loads are compared, because each test has only one."""
    return (
        one.search is None
        and len(one.stages) == len(other.stages) == 1
        and one.stages[0].label != other.stages[0].label
    )


def load_data(run: RunRecord) -> Any:
    """The identity of the data that a load test sent."""
    return table_of(run.manifest.get("dataset")).get("fingerprint")


def other_data(a: RunRecord, b: RunRecord) -> Iterator[str]:
    """Whether two load tests sent other data, in words."""
    if load_data(a) != load_data(b):
        yield "sent the rows of other data"


_OF_LOAD = frozenset(
    {
        "load",
        "generation.stream",
        "infer_only",
        "model.request_timeout_s",
        "model.parallelism",
        "parallelism",
        "failure_threshold",
    }
)
"""Settings of the run that the load's settings repeat, or that do not affect a load test."""


def load_setting_differences(a: RunRecord, b: RunRecord, harmless: Collection[str] = ()) -> JsonObject:
    """`{same, differences: [{path, run_a, run_b}]}` of two load tests: how they sent, then what they sent."""
    differences = field_differences(settings_of(a).to_json(), settings_of(b).to_json())
    sent: Any = setting_differences(a, b, {*_OF_LOAD, *harmless})["differences"]
    # Notes are shown next to the figures.
    differences += [each for each in sent if not each["path"].startswith(("$.notes", "$.note_grades"))]
    return {"same": not differences, "differences": differences}
