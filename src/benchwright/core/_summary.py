"""The numbers of a run, which the engine computes and every report shows."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Any, ClassVar

from msgspec import Struct, ValidationError, convert, field, structs

from benchwright.core._errors import DamagedRecordError
from benchwright.core._json import JsonObject, as_json, ready
from benchwright.core._late_patterns import late_pattern


class NoteGrade(StrEnum):
    """How much a note matters to a reader of the numbers, the gravest first."""

    PROBLEM = "problem"
    """The numbers cannot be compared, or there are none."""
    CAUTION = "caution"
    """The numbers can mislead. A note without a grade has this one."""
    INFORMATION = "information"
    """A further figure, or how something was read."""


class Information(str):
    """A note that only informs: a further figure, or how something was read."""

    __slots__ = ()


class Note(Struct, frozen=True):
    """A note for readers of the numbers."""

    kind: str
    """A name that stays the same if the words change; empty if it has none."""
    text: str
    """A sentence."""
    grade: str = NoteGrade.CAUTION.value
    """How much it matters: a member of `NoteGrade`."""

    @property
    def label(self) -> str:
        """The word before it in plain text."""
        return "note" if self.grade == NoteGrade.INFORMATION else self.grade

    @classmethod
    def of(cls, text: str) -> Note:
        """A note that was written as text: a caution, unless it only informs."""
        grade = NoteGrade.INFORMATION if isinstance(text, Information) else NoteGrade.CAUTION
        return cls("", str(text), grade.value)

    @classmethod
    def problem(cls, text: str) -> Note:
        return cls("", text, NoteGrade.PROBLEM.value)


DEMO_NOTE = "These scores come from the demo model and don't describe any real model."
"""The note on every number that comes from the demo model, embedded or served by `simulate`."""
DEMO_REPLIES_NOTE = "These replies come from the demo model and don't describe any real model."
"""The same for a run without scores."""
DEMO_KIND = "demo_model"
"""The kind of this note among the notes of a load test."""


class MetricSummary(Struct, frozen=True):
    """One metric over the samples that have it."""

    LARGEST: ClassVar[float] = 1e150
    """No score is as large: squares of it could not be summed."""

    value: float
    """The headline figure: the mean over samples that have the metric, without failed samples."""
    count: int
    """Values in the mean (samples × repeats)."""
    stddev: float
    """Population standard deviation."""
    stderr: float
    """stddev / √count."""
    sample_stderr: float
    """Standard error with n-1, clustered by sample when repeated."""
    ci_low: float | None
    """Lower end of the 95 % interval; None if there are too few rows for one."""
    ci_high: float | None
    """Upper end of the 95 % interval."""
    interval: str
    """How the interval was computed: wilson, bounded, clustered, normal or none. `constant`: the metric depends on the
    rows alone and needs no interval."""
    min: float
    """Smallest value."""
    max: float
    """Largest value."""
    with_failures: float | None
    """Mean with every failed sample counted as 0; null for metrics that only some rows have, and if lower is better."""
    with_failures_count: int | None
    """Values in that mean."""
    too_few: bool = False
    """Whether there are too few rows to rely on the interval, by the rule of `benchwright.stats`. False in records of
    earlier versions, which did not store it."""

    def counting_failures(self, wrong: MetricSummary | None) -> MetricSummary:
        """With the mean of the same metric with failures counted as wrong, if that has a meaning."""
        if wrong is None:
            return self
        return structs.replace(self, with_failures=wrong.value, with_failures_count=wrong.count)

    @property
    def constant(self) -> bool:
        """Whether the metric depends on the rows alone, as the chance level does, and was not measured."""
        return self.interval == "constant"

    @property
    def is_fraction(self) -> bool:
        """Whether all values are between 0 and 1, so that a mean can be given in percent."""
        return self.min >= 0.0 and self.max <= 1.0


class RunSummary(Struct, frozen=True):
    """Everything that tables and results files show about the scores of one run. It contains no times, so two runs with
    the same results have equal summaries."""

    rows: int
    """Rows of the dataset that the run covers."""
    repeats: int
    """Times each row is sent."""
    evaluated: int
    """Samples that have an outcome; rows × repeats when the run is complete."""
    outcomes: dict[str, int]
    """Samples per outcome, with an entry for every outcome."""
    metrics: dict[str, MetricSummary]
    """Per metric, sorted by name."""
    failed: int
    """Samples without a usable score: request_failed, scorer_failed, skipped."""
    comparable: bool
    """False when too many samples failed, or the run is partial."""
    partial: bool
    """True when the run stopped before every sample had an outcome."""
    notes: list[str]
    """Notes on the numbers: few-shot overlap, threshold exceeded, stopped by budget."""
    prompt_tokens: int | None = None
    """Prompt tokens of the sample calls, if the server counted them in every reply."""
    completion_tokens: int | None = None
    """Completion tokens of the sample calls, if the server counted them in every reply."""
    headline: str | None = None
    """The metric that represents the run in one figure, if the benchmark names one."""
    over_repeats: dict[str, dict[str, MetricSummary]] = field(default_factory=dict)
    """Figures over the repeats of each row, with one value per row: `avg@n`, `pass@k`, `cons@k`, and, if the scorer returns
    answers, `maj@n` and `agree@n`, each by metric. Present only with repeats and for metrics that are right or wrong."""
    unscored: str = ""
    """Why the run was not meant to give scores: data without answers, inference only. Empty if it was."""

    reasons: dict[str, int] = field(default_factory=dict)
    """Why requests failed: the number of samples per reason, the most common first."""
    cut: int = 0
    """Replies that reached `max_tokens`: their ends may be missing."""

    derived: dict[str, float] = field(default_factory=dict)
    """Figures computed over all samples together, such as `macro_f1`, if the benchmark has any."""
    lower_is_better: list[str] = field(default_factory=list)
    """Metrics for which lower is better: declared by the benchmark, or named like an error, a loss or a time."""
    partly_counted: dict[str, int] | None = None
    """Set if the server counted tokens in some replies only: `samples` with counts, `of` the number of samples with a
    reply, and the `prompt_tokens` and `completion_tokens` of those counted, which are not totals."""
    judges: dict[str, dict[str, int]] = field(default_factory=dict)
    """The effort of each judge, by model: `requests`, those that `failed` or were `asked_again` because a verdict could not
    be read, `prompt_tokens`, `completion_tokens`, and `uncounted` replies whose tokens the server did not count."""

    cached_tokens: int = 0
    """Prompt tokens of the sample calls that the server took from its cache, if it reports them."""
    cost: dict[str, Any] | None = None
    """The cost of the replies by the prices at the start of the run: `amount`, the part of it that this run `spent` if
    some replies came from earlier runs, `currency`, `as_of`, `source`, `coverage`, `right_answers`, `per_right_answer`,
    and `judges` by model. None if no price is known."""

    reused: dict[str, Any] | None = None
    """Replies that this run did not request itself: their number as `replies`, how many of them are `older` than the run,
    and when the `oldest` and the `newest` were requested (UTC, RFC 3339). Those that a rescored run scores are older only if
    they are older than the run that they come from. None in records of earlier versions, which did not store it."""

    ttft_s: dict[str, Any] | None = None
    """Seconds to the first token of streamed replies: `mean`, `p50`, `p99` and their `count`; None: no reply was streamed."""

    labels: dict[str, dict[str, int]] | None = None
    """Of a run that was scored with people's labels: the samples that were `left_out` and `corrected`, by the kind of their label."""

    note_grades: dict[str, str] = field(default_factory=dict)
    """The grades of notes, by their texts, if they are no cautions."""

    @property
    def older_replies(self) -> int:
        """Replies that are older than the run."""
        return int((self.reused or {}).get("older") or 0)

    @property
    def main_metric(self) -> str | None:
        """The metric that represents the run: the benchmark's headline, else one with a usual name, else the first."""
        for name in (self.headline, *_USUAL):
            if name is not None and name in self.metrics:
                return name
        judged = (name for name in self.metrics if not RunSummary.is_effort(name))
        return next(judged, next(iter(self.metrics), None))

    @staticmethod
    def is_effort(name: str) -> bool:
        """Whether a metric's name shows that it measures effort: time, tokens, steps, calls or cost. More of it is neither won nor lost.

        >>> [name for name in ("latency_s", "tool_calls", "prompt_tokens", "cost_eur", "calls_right", "accuracy") if RunSummary.is_effort(name)]
        ['latency_s', 'tool_calls', 'prompt_tokens', 'cost_eur']
        """
        return is_time(name) or _EFFORT.fullmatch(name.lower()) is not None

    def to_json(self) -> JsonObject:
        """As a JSON object."""
        found: JsonObject = as_json(self)
        return found

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> RunSummary:
        """The reverse of `to_json`."""
        try:
            return convert(record, ready(cls))
        except ValidationError as error:
            raise DamagedRecordError(f"the figures of the run cannot be read: {error}") from None


def reused_span(reused: dict[str, Any] | None) -> str:
    """When reused replies were requested, in words; empty if there are none.

    >>> reused_span({"replies": 2, "oldest": "2026-11-16T10:00:59.5Z", "newest": "2026-11-17T08:30:00Z"})
    'oldest 2026-11-16 10:00, newest 2026-11-17 08:30 UTC'
    """
    if not reused or not reused.get("replies"):
        return ""
    times = [
        f"{end} {str(reused[end])[:16].replace('T', ' ')}" for end in ("oldest", "newest") if reused.get(end)
    ]
    return f"{', '.join(times)} UTC" if times else "of unknown age"


_USUAL = ("accuracy", "correct", "acc", "normalised_exact", "exact_match", "score")
"""The metrics that people look for first if the benchmark names no headline."""


_TIMES = ("latency", "duration", "ttft", "seconds", "_ms", "elapsed")
SECONDS_OF = {
    "ms": 1e-3, "s": 1.0, "us": 1e-6, "ns": 1e-9, "µs": 1e-6, "sec": 1.0, "second": 1.0, "seconds": 1.0, "min": 60.0, "minutes": 60.0,
    "h": 3600.0, "hours": 3600.0,
}  # fmt: skip
"""The seconds of each unit of time, by its symbols and names."""
_LOWER_IS_BETTER = late_pattern(
    r"(?:^|[^a-z])(?:wer|cer|ter|mae|mse|rmse|mape|loss|losses|nll|perplexity|ppl|brier|ece|errors?|mistakes?|distance"
    r"|hallucinat\w*|toxicity|cost)(?:[^a-z]|$)"
)

_EFFORT = late_pattern(
    r"(?:(?:n|num|total|mean|avg|max|model|tool|llm|agent|prompt|completion|input|output|reasoning|used)_)*"
    r"(?:steps?|calls?|tokens?|turns?|rounds?|attempts?|retries|requests?|costs?|price|usd|eur)(?:_(?:used|total|count|mean|usd|eur|per_row))*"
)


def is_time(name: str) -> bool:
    """Whether a metric's name shows that it measures time. Such numbers differ from run to run.

    >>> is_time("latency_ms"), is_time("accuracy")
    (True, False)
    """
    return any(word in name.lower() for word in _TIMES)


def lower_is_better(name: str, declared: Collection[str] = ()) -> bool:
    """Whether lower values of a metric are better: it is declared so, or named like an error, a loss or a time.

    >>> lower_is_better("wer"), lower_is_better("error_rate"), lower_is_better("answer"), lower_is_better("x", ["x"])
    (True, True, False, True)
    """
    return name in declared or is_time(name) or _LOWER_IS_BETTER.search(name.lower()) is not None


DATA_SCORES = frozenset({"chance"})
"""Scores of question files that depend on the rows alone and not on replies. Failures do not change them."""


def is_share(name: str) -> bool:
    """Whether a metric with values between 0 and 1 can be treated as a share, which never exceeds 1. Times, losses and
    distances cannot.

    >>> is_share("accuracy"), is_share("error_rate"), is_share("latency_s"), is_share("wer")
    (True, True, False, False)
    """
    return not is_time(name) and ("rate" in name.lower() or not lower_is_better(name))
