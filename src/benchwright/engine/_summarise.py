"""Computes the numbers of a run from recorded scores in one streaming pass over the store, so that a resumed run and an
uninterrupted one get the same numbers from the same records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from benchwright.benchmarks import BenchmarkSpec
from benchwright.core import (
    DEMO_NOTE,
    DEMO_REPLIES_NOTE,
    REDACTED,
    Information,
    JsonObject,
    MetricSummary,
    NoteGrade,
    Outcome,
    RecordColumns,
    RunSummary,
    SampleRecord,
    is_unanswered,
    lower_is_better,
    percent,
)
from benchwright.engine._judge_figures import judge_figures
from benchwright.engine._manifest import change_notes
from benchwright.scorers import JudgeConfig, verdicts_in
from benchwright.stats import Aggregator
from benchwright.store import Store

if TYPE_CHECKING:
    from benchwright.engine._corrections import LabelCounts
    from benchwright.stats import PanelAgreement, RepeatTally

_BLOCK_ROWS = 500
"""Records per block."""
_BLOCK_BYTES = 1_000_000
"""Bytes per block, because a record may contain a long text."""


_Clustered: TypeAlias = tuple[int, int, bytes]
"""The cluster of a sample, the number of its row, and its record."""


def summarise(
    store: Store,
    run_id: int,
    *,
    rows: int,
    repeats: int,
    failure_threshold: float,
    spec: BenchmarkSpec,
    notes: list[str],
    origins: Sequence[int] | None = None,
    copies: bool = False,
    pass_k: Sequence[int] | None = None,
    manifest: JsonObject | None = None,
    labels: LabelCounts | None = None,
) -> RunSummary:
    """Summarise what is recorded so far.

    If a plan sends rows more than once, `origins` gives the data row of each sample; copies then form one cluster of the
    interval, as repeats do. So do rows with the same content, which are looked for if the data have `copies`. `pass_k` has each k of `pass@k`; None: the number of repeats. The run's `manifest` shows
    whether the benchmark was changed between starts. `labels` counts the samples that they changed, for a run scored with them.
    """
    sums = _RunSums(spec, repeats)
    sums.labels = labels
    recorded: Iterable[_Clustered] = map(itemgetter(0, 0, 3), store.scored(run_id))
    if origins is not None:
        recorded = _by_origin(store.scored(run_id), origins)
    elif copies:
        recorded = _by_content(store.scored(run_id))
    for clusters, indices, records in _in_blocks(recorded):
        sums.add(clusters, indices, records)
    evaluated, failed = sums.counts.total(), sums.failed
    metrics = _metrics(sums, spec)
    changes = change_notes(manifest or {}, evaluated)
    partial = evaluated < rows * repeats
    share = failed / evaluated if evaluated else 0.0
    too_many = share > failure_threshold
    if spec.unscored:
        notes = [DEMO_REPLIES_NOTE if note == DEMO_NOTE else note for note in notes]
    problems = changes
    if too_many:
        problems.append(
            f"{percent(share, 1)} of the samples failed (limit {percent(failure_threshold, 1)}): not comparable with other runs"
        )
    if partial:
        problems.append(f"partial: {evaluated} of {rows * repeats} samples evaluated")
    if labels is not None:
        notes = [labels.note(), *notes]
    notes = [*notes, *_score_notes(spec, sums, metrics), *_reply_notes(sums), *problems]
    grades = {
        **{str(note): NoteGrade.INFORMATION.value for note in notes if isinstance(note, Information)},
        **dict.fromkeys(problems, NoteGrade.PROBLEM.value),
    }
    tally, derived = sums.tally, sums.derived
    judges = judge_figures(store, run_id, rows)
    return RunSummary(
        rows=rows,
        repeats=repeats,
        evaluated=evaluated,
        outcomes={outcome.value: sums.counts.get(outcome.value, 0) for outcome in Outcome},
        metrics=metrics,
        failed=failed,
        comparable=not problems,
        partial=partial,
        notes=[str(note) for note in notes],
        note_grades=grades,
        **sums.tokens(),
        headline=spec.headline,
        over_repeats={}
        if tally is None
        else _over_repeats(tally, spec.headline, repeats, pass_k or (repeats,)),
        unscored=spec.unscored,
        reasons=dict(sums.reasons.most_common()),
        cut=sums.cut,
        derived={
            **({} if derived is None else derived.figures()),
            **({} if sums.panel is None else sums.panel.figures()),
        },
        lower_is_better=[name for name in metrics if lower_is_better(name, spec.lower_is_better)],
        judges=judges,
        cached_tokens=sums.cached_tokens,
        labels=None if labels is None else labels.figures(),
    )


def _repeat_tally() -> RepeatTally:
    from benchwright.stats import RepeatTally  # for several replies to a row only

    return RepeatTally()


def _panel() -> PanelAgreement:
    from benchwright.stats import PanelAgreement  # for several judges only

    return PanelAgreement()


class _RunSums:
    """Sums over all records of a run."""

    def __init__(self, spec: BenchmarkSpec, repeats: int) -> None:
        self.aggregator = Aggregator(spec.constants)
        self.tally = _repeat_tally() if repeats > 1 else None
        self.derived = None if spec.derive is None else spec.derive()
        self.panel = _panel() if sum(map(JudgeConfig.is_key, spec.config)) > 1 else None
        self._grouped = bool(spec.partial_metrics)
        self.failed_in: Counter[str | None] = Counter()
        """Samples without scores, by group; None: of which the group is not recorded."""
        self.failed = 0
        """Samples without scores, those of rows without an answer included."""
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.redacted = self.cut = 0
        self.copied: Counter[str] = Counter()
        self._counted = self._prompt_tokens = self._completion_tokens = 0
        self.cached_tokens = 0
        self.labels: LabelCounts | None = None
        """The samples that labels changed, in a run that was scored with them."""

    def add(self, clusters: Sequence[int], indices: Sequence[int], records: RecordColumns) -> None:
        """Add many records, given with the clusters of their rows and the numbers of these."""
        self.counts.update(records.column("outcome"))
        scores: list[dict[str, Any] | None] = records.column("scores")
        self.failed += scores.count(None)
        counted = _without_unanswered(scores, records)
        if self.labels is not None:
            self.labels.add(scores, records.column("error"))
        self.aggregator.add_all(clusters, counted, records.column("constants"))
        if self.derived is not None:
            for given in scores:
                if given is not None:
                    self.derived.add(given)
        if self._grouped and None in scores:
            groups: list[str | None] = records.column("group")
            lost = [group for given, group in zip(scores, groups, strict=True) if given is None]
            self.failed_in.update(lost)
            if self.derived is not None:
                for group in lost:
                    self.derived.add_failure(group)
        if self.panel is not None:
            for given in scores:
                if given is not None and len(verdicts := verdicts_in(given)) > 1:
                    self.panel.add(verdicts)
        if self.tally is not None:
            for index, given in zip(indices, counted, strict=True):
                if given is None:
                    self.tally.add_failure(index)
                else:
                    self.tally.add(index, given)
        self.redacted += len(records.given("redacted"))
        self.reasons.update(records.given("failure"))
        self.cut += len(records.given("cut"))
        self.copied.update(records.given("copied"))
        usages = [usage for usage in records.given("usage") if usage is not None]
        if usages:
            self._counted += len(usages)
            self._prompt_tokens += sum(map(itemgetter(0), usages))
            self._completion_tokens += sum(map(itemgetter(1), usages))
            self.cached_tokens += sum(usage[2] for usage in usages if len(usage) > 2)

    def tokens(self) -> dict[str, Any]:
        """The token fields of a summary: sums over all replies, or partial counts if some replies have none."""
        counted, found = (
            self._counted,
            {"prompt_tokens": self._prompt_tokens, "completion_tokens": self._completion_tokens},
        )
        replied = self.counts.total() - sum(
            self.counts[outcome] for outcome in Outcome if not outcome.has_reply
        )
        if counted >= replied > 0:
            return {**found, "partly_counted": None}
        partly = {"samples": counted, "of": replied, **found} if counted else None
        return {"prompt_tokens": None, "completion_tokens": None, "partly_counted": partly}


def _without_unanswered(
    scores: list[dict[str, Any] | None], records: RecordColumns
) -> list[dict[str, Any] | None]:
    """The scores, with no numbers instead of a failure where the row has no answer: it is left out of both means."""
    if not records.holds("group"):
        return scores
    return [
        {} if given is None and is_unanswered(group) else given
        for given, group in zip(scores, records.column("group"), strict=True)
    ]


def _score_notes(spec: BenchmarkSpec, sums: _RunSums, metrics: dict[str, MetricSummary]) -> Iterator[str]:
    if spec.unscored:
        yield f"no scores: {spec.unscored}"
    elif sums.counts.total() > sums.failed and not metrics:
        yield "the scorer gave no number for any sample; return a bool or a number under some key"
    if sums.redacted:
        yield _redacted_note(sums.redacted)
    if spec.remarks is not None and metrics:
        yield from spec.remarks(metrics)
    if sums.derived is not None:
        yield from sums.derived.remarks()


def _redacted_note(samples: int) -> str:
    held = "the reply of 1 sample" if samples == 1 else f"replies of {samples} samples"
    return (
        f"{held} contained the value of an environment variable, which is stored and shown as {REDACTED}. Scores are "
        "those of the replies as received; they cannot be scored again"
    )


def _reply_notes(sums: _RunSums) -> Iterator[str]:
    evaluated = sums.counts.total()
    if sums.cut:
        yield (
            f"{sums.cut:,} of {evaluated:,} replies reached max_tokens, so that their ends may be missing; "
            "raise --max-tokens"
        )
    if left_out := sums.copied["left_out"]:
        yield f"events of {left_out:,} of {evaluated:,} streams came more than once; each is used once"
    if suspected := sums.copied["suspected"]:
        yield (
            f"{suspected:,} of {evaluated:,} replies may contain text twice: their streams have more pieces than tokens, and "
            "equal pieces in a row. Compare with --no-stream"
        )
    if too_long := sums.reasons["prompt_too_long"]:
        yield f"{too_long:,} of {evaluated:,} prompts were longer than the model's context and got no reply"


def _in_blocks(recorded: Iterable[_Clustered]) -> Iterator[tuple[list[int], list[int], RecordColumns]]:
    """The records with their clusters and rows, in blocks."""
    clusters: list[int] = []
    indices: list[int] = []
    outputs: list[bytes] = []
    size = 0
    for cluster, index, output in recorded:
        clusters.append(cluster)
        indices.append(index)
        outputs.append(output)
        size += len(output)
        if size >= _BLOCK_BYTES or len(outputs) >= _BLOCK_ROWS:
            yield clusters, indices, SampleRecord.columns(outputs)
            clusters, indices, outputs, size = [], [], [], 0
    if outputs:
        yield clusters, indices, SampleRecord.columns(outputs)


def _by_origin(recorded: Iterable[tuple[int, int, bytes, bytes]], origins: Sequence[int]) -> list[_Clustered]:
    """The records with their data row as cluster and as row, grouped by it. Keeps all of them in memory: about 200 bytes per
    sample."""
    # Rows that could not be read come after the others; each is a group by itself.
    rows = (
        (origins[index] if index < len(origins) else -1 - index, output) for index, _, _, output in recorded
    )
    return sorted(((row, row, output) for row, output in rows), key=itemgetter(0))


def _by_content(recorded: Iterable[tuple[int, int, bytes, bytes]]) -> list[_Clustered]:
    """The records grouped by the content of their rows; a cluster has the number of its first row. Keeps all in memory too."""
    first: dict[bytes, int] = {}
    found = [(first.setdefault(content, index), index, output) for index, _, content, output in recorded]
    return sorted(found, key=itemgetter(0, 1))


def _metrics(sums: _RunSums, spec: BenchmarkSpec) -> dict[str, MetricSummary]:
    with_failures = sums.aggregator.summaries_with_failures_as_wrong()
    metrics = {}
    for name, summary in sums.aggregator.summaries().items():
        if name in spec.partial_metrics:
            metrics[name] = _of_group(summary, sums.failed_in, name)
            continue
        # Counting a failure as 0 would give an error rate its best value.
        wrong = None if lower_is_better(name, spec.lower_is_better) else with_failures.get(name)
        if name in spec.constants:
            metrics[name] = _constant(with_failures.get(name, summary))
        else:
            metrics[name] = summary.counting_failures(wrong)
    return metrics


def _of_group(metric: MetricSummary, failed_in: Counter[str | None], name: str) -> MetricSummary:
    """The metric of a group of rows, with the failures of this group as wrong; without that figure if the groups of some failures
    are not known."""
    if failed_in[None]:
        return metric
    count = metric.count + failed_in[name]
    value = metric.value if count == metric.count else metric.value * metric.count / count
    return replace(metric, with_failures=value, with_failures_count=count)


def _over_repeats(
    tally: RepeatTally, headline: str | None, repeats: int, each_k: Sequence[int]
) -> dict[str, dict[str, MetricSummary]]:
    """Figures over repeats, by figure and metric. If a benchmark names a headline, only for that metric: the others are
    intermediate results."""
    metrics = tally.metrics()
    if headline in metrics:
        metrics = [headline]
    found: dict[str, dict[str, MetricSummary]] = {}
    for metric in metrics:
        for name, figure in tally.summaries(metric, each_k, repeats).items():
            found.setdefault(name, {})[metric] = figure
    return found


def _constant(summary: MetricSummary) -> MetricSummary:
    """The summary of a metric that was not measured. It has no error, and failures do not change it."""
    return replace(
        summary,
        stderr=0.0,
        sample_stderr=0.0,
        ci_low=None,
        ci_high=None,
        interval="constant",
        too_few=False,
    )
