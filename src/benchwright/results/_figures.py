"""The figures of a run, its headline metric, and the formatting of numbers, times and counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import floor, log10
from typing import Any, TypeAlias

from benchwright.core import (
    JsonObject,
    JsonValue,
    MetricSummary,
    Note,
    NoteGrade,
    Outcome,
    RunSummary,
    late_pattern,
    listed,
    percent,
    printable,
)
from benchwright.stats import FEWEST
from benchwright.store import MetricTotals, RunRecord

MetricFigures: TypeAlias = MetricTotals
"""All points of one metric of a workflow run."""

ALL_REPLIES = "pass@1"
"""The group of means over all replies. With `--pass-k 1`, the figure `pass@1` has the same values."""

_RENAMED = {
    "value": "mean",
    "ci_low": "ci95_low",
    "ci_high": "ci95_high",
    "with_failures": "mean_failures_as_wrong",
    "with_failures_count": "count_failures_as_wrong",
}
METRIC_NAMES = {name: _RENAMED.get(name, name) for name in MetricSummary.__struct_fields__}
"""The names of a metric's figures in files."""


def summary_of(run: RunRecord) -> RunSummary | None:
    """The numbers of a benchmark run; None while it has none."""
    return None if run.summary is None else RunSummary.from_json(run.summary)


def headline_of(summary: RunSummary) -> str | None:
    """The headline of the benchmark, else a metric with a usual name, else the first; None without metrics."""
    return summary.main_metric


def figures_of(summary: RunSummary) -> dict[str, MetricSummary]:
    """All metrics of a run, then those over repeats."""
    over_repeats = {
        f"{name}, {figure}": metric
        for figure, metrics in summary.over_repeats.items()
        for name, metric in metrics.items()
    }
    return {**summary.metrics, **over_repeats}


def figures_to_show(summary: RunSummary) -> tuple[dict[str, MetricSummary], list[str]]:
    """The figures for a table: the headline first, then other metrics, then the headline over repeats; and the names of those that
    say the same as the headline and are left out. `avg@n` is left out if it is the mean that stands there already."""
    main = headline_of(summary)
    if main is None:
        return figures_of(summary), []
    headline = summary.metrics[main]
    shown, equal = {main: headline}, []
    for name, metric in summary.metrics.items():
        if name == main:
            continue
        if _says_the_same(metric, headline) and metric.count == headline.count:
            equal.append(name)
        else:
            shown[name] = metric
    for figure, metrics in summary.over_repeats.items():
        if (over := metrics.get(main)) is None:
            continue
        if not _says_the_same(over, headline):
            shown[f"{main}, {figure}"] = over
        elif not figure.startswith("avg@"):
            equal.append(figure)
    return shown, equal


def _says_the_same(metric: MetricSummary, headline: MetricSummary) -> bool:
    fields = ("value", "ci_low", "ci_high", "with_failures")
    pairs = [(getattr(metric, name), getattr(headline, name)) for name in fields]
    return not metric.constant and all(
        one == other if one is None or other is None else abs(one - other) < 1e-12 for one, other in pairs
    )


def result_sentence(what: str, summary: RunSummary) -> str:
    """The result of a run in one sentence, with which every view of it begins: what was evaluated, the headline with its interval
    and n, and what limits its use."""
    size = plural(summary.rows, "row")
    if summary.repeats != 1:
        size += f" × {plural(summary.repeats, 'repeat')}"
    limits = [f"{summary.failed:,} of {plural(summary.evaluated, 'sample')} failed"] if summary.failed else []
    if summary.partial:
        limits.append(_missing(summary))
    if not summary.comparable:
        limits.append("not comparable with other runs")
    return printable("; ".join([f"{what}, {size}: {_headline_in_words(summary)}", *limits]))


def _missing(summary: RunSummary) -> str:
    """What a partial run lacks. A program may stop before it has told of all its rows, so that none is known to be missing."""
    planned = summary.rows * summary.repeats
    if summary.evaluated < planned:
        return f"only {summary.evaluated:,} of {planned:,} samples evaluated"
    return "the run is not complete"


def _headline_in_words(summary: RunSummary) -> str:
    name = headline_of(summary)
    if name is None:
        return "no scores" if summary.unscored else "no sample gave a score"
    metric = summary.metrics[name]
    interval = interval_of(metric)
    known = "" if interval is None else f"95 % interval {interval}, "
    return f"{name} {number(metric.value)} ({known}n = {metric.count:,})"


def interval_of(metric: MetricSummary) -> str | None:
    """The interval as text; None if there is none. Runs of earlier versions may have one of zero width, which is not certainty and
    counts as none."""
    if metric.ci_low is None or metric.ci_high is None or metric.ci_low == metric.ci_high:
        return None
    return f"{number(metric.ci_low)} – {number(metric.ci_high)}"


def no_interval(metric: MetricSummary) -> str:
    """The text in tables for a metric without an interval: empty for a constant, else the reason."""
    if metric.constant:
        return "–"
    return "too few" if metric.too_few or metric.count < FEWEST else "all equal"


_LABELS = ("interval", "too_few")
"""Fields of a metric that are words and marks. Files keep them separate, because tools add up the numbers."""


def metric_stats(metric: MetricSummary) -> JsonObject:
    """The figures of a metric under their names in `results.yml`. All are numbers; unknown ones are left out."""
    stats = {there: getattr(metric, name) for name, there in METRIC_NAMES.items() if name not in _LABELS}
    if metric.constant:
        stats = {name: stats[name] for name in ("count", "max", "mean", "min", "stddev")}
    return {name: value for name, value in stats.items() if value is not None}


def metric_labels(metric: MetricSummary) -> JsonObject:
    """How the interval was computed, and the marks that are set."""
    labels = {name: getattr(metric, name) for name in _LABELS}
    return {name: value for name, value in labels.items() if value is not False}


def metric_of_stats(stats: Mapping[str, Any]) -> MetricSummary:
    """Read a metric from `metric_stats` and `metric_labels`. A figure that an older file lacks is None, and a mark is off."""
    known: dict[str, Any] = {
        name: stats.get(there, False if name == "too_few" else None) for name, there in METRIC_NAMES.items()
    }
    if known["interval"] == "constant":
        known |= {"stderr": 0.0, "sample_stderr": 0.0}
    return MetricSummary(**known)


def too_few_notes(summary: RunSummary) -> list[str]:
    """A note on intervals of too few rows, if there are any; it names the metrics if others have enough rows."""
    few = [name for name, metric in summary.metrics.items() if metric.too_few]
    if not few:
        return []
    measured = [name for name, metric in summary.metrics.items() if not metric.constant]
    which = "" if len(few) == len(measured) else f" of {listed(few, 3)}"
    return [f"With fewer than {FEWEST} rows, the 95 % intervals{which} are unreliable."]


_GRADES = [grade.value for grade in NoteGrade]


def gravest_first(notes: Iterable[Note]) -> list[Note]:
    """Every note once, by its grade."""
    return sorted(dict.fromkeys(notes), key=lambda note: _GRADES.index(note.grade))


def graded_notes(summary: RunSummary, stopped_because: str = "") -> list[Note]:
    """All notes on a run with their grades, the gravest first."""
    notes = {text: summary.note_grades.get(text, NoteGrade.CAUTION) for text in summary.notes}
    if stopped_because:
        notes[stopped_because] = NoteGrade.PROBLEM
    if not summary.comparable and not notes:
        notes["not comparable with other runs"] = NoteGrade.PROBLEM
    notes.update(dict.fromkeys(too_few_notes(summary), NoteGrade.CAUTION))
    return gravest_first(Note("", text, NoteGrade(grade).value) for text, grade in notes.items())


def notes_json(notes: Iterable[Note]) -> list[JsonValue]:
    """`[{grade, text}]`."""
    return [{"grade": note.grade, "text": note.text} for note in notes]


def averaged(metric: str, repeats: int) -> str:
    """The name of a mean over several replies to each row."""
    return metric if repeats == 1 else f"{metric} ({repeats} runs average)"


def first_two(values: dict[str, float]) -> str:
    """At most two metrics in words.

    >>> first_two({"a": 1.0, "b": 0.5, "c": 0.0}), first_two({})
    ('a 1.000, b 0.500, +1 more', '–')
    """
    parts = [f"{printable(name)} {value:.3f}" for name, value in list(values.items())[:2]]
    return ", ".join([*parts, *([f"+{len(values) - 2} more"] if len(values) > 2 else [])]) or "–"


_FORMULA_STARTS = "=+-@\uff1d\uff0b\uff0d\uff20|%"
_NUMBER = late_pattern(r"[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?")


def number(value: float) -> str:
    """A score, to four decimals.

    >>> number(0.75), number(1234.5)
    ('0.7500', '1,234.5000')
    """
    return f"{value:,.4f}"


def duration(seconds: float | None) -> str:
    """A span of time.

    >>> duration(0.25), duration(75), duration(4000), duration(None)
    ('250 ms', '1 min 15 s', '1 h 6 min', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def rate(per_second: float) -> str:
    """How many a second, also if they are few: a model on a laptop takes seconds for each.

    >>> rate(3049.2), rate(12.3), rate(1.26), rate(0.0462)
    ('3,049', '12', '1.3', '0.046')
    """
    return f"{per_second:,.0f}" if per_second >= 10 else f"{per_second:.2g}"


def plural(count: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "row"), plural(2, "retry")
    ('1 row', '2,000 rows', '2 retries')
    """
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else many}"


def reused_of(summary: RunSummary) -> dict[str, Any] | None:
    """The number and the times of replies that came from earlier runs; None if there are none."""
    return summary.reused if summary.reused and summary.reused.get("replies") else None


def outcome_name(outcome: str, *, unscored: bool) -> str:
    """The word for an outcome. In a run without scores, no sample is called scored.

    >>> outcome_name("scored", unscored=True), outcome_name("empty", unscored=True)
    ('replied', 'empty')
    """
    return "replied" if unscored and outcome == Outcome.SCORED else outcome


def outcome_counts(outcomes: Mapping[str, int]) -> str:
    """All outcomes with their counts, in the order of tables.

    >>> outcome_counts({"scored": 2})[:24]
    'scored 2 · unparsed 0 · '
    """
    return " · ".join(f"{outcome} {outcomes.get(outcome, 0):,}" for outcome in Outcome)


def tokens(summary: RunSummary) -> str:
    """Tokens of all replies; if the server counted only some, how many those are. Empty if it counted none."""
    if summary.prompt_tokens is not None:
        return f"{summary.prompt_tokens:,} prompt, {summary.completion_tokens or 0:,} completion"
    if summary.partly_counted is None:
        return ""
    part = summary.partly_counted
    return (
        f"{part['prompt_tokens']:,} prompt, {part['completion_tokens']:,} completion in {part['samples']:,} of "
        f"{part['of']:,} samples; the server counted none in the others, so these are not totals"
    )


def money(amount: float, currency: str) -> str:
    """An amount with its currency; small amounts keep two significant digits.

    >>> money(12.5, "USD"), money(0.001234, "EUR"), money(0, "USD")
    ('12.50 USD', '0.0012 EUR', '0.00 USD')
    """
    digits = 2 if amount == 0 or amount >= 0.1 else min(12, 1 - floor(log10(amount)))
    return f"{amount:,.{digits}f} {currency}"


def cost_lines(cost: Mapping[str, Any] | None) -> list[str]:
    """The cost of the model's replies, and that of each judge."""
    if cost is None:
        return []
    lines = []
    if cost.get("amount") is not None:
        line = money(cost["amount"], cost["currency"])
        if cost.get("per_right_answer") is not None:
            line += f", {money(cost['per_right_answer'], cost['currency'])} per right answer"
        if cost.get("per_1000_requests") is not None:
            line += f", {money(cost['per_1000_requests'], cost['currency'])} per 1,000 requests"
        lines.append(line + _priced(cost) + _saved(cost))
    elif "currency" in cost:  # there may be no reply at all, so the text does not blame the server
        lines.append(f"not known: no reply has a count of tokens (prices of {cost['as_of']})")
    judges = cost.get("judges") or {}
    lines += [
        f"{printable(name)} (judge): {money(each['amount'], each['currency'])}{_priced(each)}{_saved(each)}"
        for name, each in judges.items()
        if each.get("amount") is not None
    ]
    return lines


def _saved(cost: Mapping[str, Any]) -> str:
    """The part of a cost that the run itself caused, if that is not all of it."""
    spent = cost.get("spent")
    if spent is None or spent >= cost["amount"]:
        return ""
    return (
        f"; {money(spent, cost['currency'])} spent by this run, as the other replies came from earlier ones"
    )


def _priced(cost: Mapping[str, Any]) -> str:
    covered = (
        ""
        if cost["coverage"] >= 1
        else f"; only {percent(cost['coverage'])} of the replies have a count of tokens"
    )
    return f" (prices of {cost['as_of']}{covered})"


def judge_lines(summary: RunSummary) -> list[str]:
    """The effort of each judge, and how far several judges agree."""
    lines = []
    for name, took in summary.judges.items():
        counts = [plural(took["requests"], "request")]
        counts += [
            f"{took[key]:,} {word}"
            for key, word in (("failed", "failed"), ("asked_again", "to ask again"))
            if took[key]
        ]
        counted = f"{took['prompt_tokens']:,} prompt, {took['completion_tokens']:,} completion tokens"
        if took["uncounted"]:
            counted += f" ({plural(took['uncounted'], 'reply')} not counted)"
        lines.append(f"{printable(name)}: {', '.join(counts)}; {counted}")
    kappa = summary.derived.get("judge_kappa")
    agree = summary.metrics.get("judges_agree")
    if agree is not None:
        known = "" if kappa is None else f", κ {kappa:.2f}"
        lines.append(
            f"the judges disagree on {percent(1 - agree.value, 1)} of {plural(agree.count, 'sample')}{known}"
        )
    return lines


def usage(summary: RunSummary) -> list[tuple[str, str]]:
    """What a run took: tokens, cost and the effort of judges, each with its label."""
    counted = tokens(summary)
    return [
        *([("tokens", counted)] if counted else []),
        *(("cost", each) for each in cost_lines(summary.cost)),
        *(("judge", each) for each in judge_lines(summary)),
    ]


def without_formula(value: Any) -> Any:
    """Protect a cell of a CSV file: a text that a spreadsheet would take for a formula gets an apostrophe.

    >>> without_formula("=1+1"), without_formula("-0.5"), without_formula(-0.5), without_formula("-x")
    ("'=1+1", '-0.5', -0.5, "'-x")
    """
    if not isinstance(value, str) or value.lstrip(" \t\r\n")[:1] not in _FORMULA_STARTS or not value.strip():
        return value
    if value[0] in "+-" and _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
