"""A comparison on the terminal: both sides, each metric with its interval and test, and the samples that changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.core import JsonValue
from benchwright.reports._compare.values import Comparison, MetricComparison, MetricSide
from benchwright.reports._compare.workflow_view import workflow_parts
from benchwright.reports._text import duration, printable

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

_COLOURS = {"up": "green", "down": "red"}


def comparison_view(comparison: Comparison) -> Group:
    """Everything a reader needs to decide; a rich renderable."""
    from rich.console import Group
    from rich.text import Text

    a, b = comparison.run_a, comparison.run_b
    title = Text.assemble(
        "run ", (str(a.id), "bold"), " → run ", (str(b.id), "bold"), ": ",
        ("the same" if not comparison.differs else "they differ", "green" if not comparison.differs else "yellow"),
    )  # fmt: skip
    parts: list[RenderableType] = [Text(), title]
    parts += [Text(f"warning: {printable(text)}", "yellow") for text in comparison.warnings]
    parts.append(_sides(comparison))
    if comparison.metrics:
        parts.append(_metrics(comparison))
    shared = f"{comparison.both:,} {comparison.noun}s in both"
    if comparison.only_a or comparison.only_b:
        shared += f", {comparison.only_a:,} only in run {a.id}, {comparison.only_b:,} only in run {b.id}"
    parts.append(Text(shared, "dim"))
    parts += [Text(sentence) for sentence in _sentences(comparison) if sentence]
    if comparison.noun == "step":
        parts += workflow_parts(comparison)
    elif comparison.changed:
        parts += [Text(), Text("changed samples, losses first", "bold"), _changed(comparison)]
    return Group(*parts)


def _sentences(comparison: Comparison) -> list[str]:
    return [_sentence(metric, comparison.noun) for metric in comparison.metrics[:1]]


def _sides(comparison: Comparison) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    a, b = comparison.run_a, comparison.run_b
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("", f"run {a.id}", f"run {b.id}"):
        table.add_column(heading, overflow="fold")
    for label, one, other in (
        ("eval", a.workflow_name, b.workflow_name),
        ("model", a.model_name, b.model_name),
        ("status", a.status, b.status),
        ("took", duration(a.duration), duration(b.duration)),
    ):
        table.add_row(Text(label, "dim"), Text(printable(one) or "–"), Text(printable(other) or "–"))
    return table


def _metrics(comparison: Comparison) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric", overflow="fold")
    for heading in (
        f"run {comparison.run_a.id}",
        f"run {comparison.run_b.id}",
        "difference (95 %)",
        "won / lost / tied",
        "p",
    ):
        table.add_column(heading, justify="right")
    for metric in comparison.metrics:
        style = (
            _COLOURS.get(metric.direction, "")
            if metric.paired is not None and metric.paired.significant
            else ""
        )
        table.add_row(
            Text(printable(metric.name)),
            _value(metric.run_a),
            _value(metric.run_b),
            Text(_difference(metric), style),
            _counts(metric),
            "–" if metric.paired is None else f"{metric.paired.p_value:.3g}",
        )
    return table


def _sentence(metric: MetricComparison, noun: str) -> str:
    paired = metric.paired
    if paired is None:
        return ""
    test = {"mcnemar": "McNemar's exact test", "wilcoxon": "Wilcoxon's signed-rank test"}[paired.test]
    verdict = "more than chance would give" if paired.significant else "within what chance would give"
    how = f", {paired.resamples:,} resamples" if paired.resamples else ""
    return (
        f"{metric.name}: {paired.difference:+.4f} on {paired.pairs:,} paired {noun}s, {verdict} "
        f"({test}, p = {paired.p_value:.3g}; {paired.interval} interval{how})"
    )


def _value(side: MetricSide | None) -> str:
    if side is None:
        return "–"
    if side.ci_low is None or side.ci_high is None:
        return short_number(side.value)
    return f"{short_number(side.value)} [{side.ci_low:.3f}, {side.ci_high:.3f}]"


def _difference(metric: MetricComparison) -> str:
    if metric.run_a is None or metric.run_b is None:
        return "–"
    if metric.paired is None:
        return f"{metric.run_b.value - metric.run_a.value:+.4g}"
    return f"{metric.paired.difference:+.4f} [{metric.paired.ci_low:+.3f}, {metric.paired.ci_high:+.3f}]"


def _counts(metric: MetricComparison) -> str:
    paired = metric.paired
    return "–" if paired is None else f"{paired.wins:,} / {paired.losses:,} / {paired.ties:,}"


def _changed(comparison: Comparison) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("sample", justify="right", no_wrap=True)
    for heading in (f"run {comparison.run_a.id}", f"run {comparison.run_b.id}"):
        table.add_column(heading, overflow="fold")
    for change in comparison.changed:
        told = (_told(change.run_a, change.metric), _told(change.run_b, change.metric))
        table.add_row(change.step, *(Text(printable(text)) for text in told))
    return table


def _told(side: JsonValue, metric: str | None) -> str:
    if not isinstance(side, dict):
        return str(side)
    scores = side.get("scores")
    if not isinstance(scores, dict):
        return f"{side.get('outcome')}: {side.get('error') or ''}"
    value = scores.get(metric or "")
    return f"{side.get('outcome')}, {metric} {value}" if metric in scores else f"{side.get('outcome')}"


def short_number(value: float) -> str:
    """Four decimals, six below a thousandth, zeros at the end trimmed.

    >>> short_number(0.5), short_number(0.00012345), short_number(12.0)
    ('0.5', '0.000123', '12')
    """
    text = f"{value:.6f}" if 0 < abs(value) < 0.001 else f"{value:.4f}"
    return text.rstrip("0").rstrip(".") or "0"
