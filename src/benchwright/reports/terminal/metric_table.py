"""The metrics of a comparison as a table: one line each where they fit, else with names on several lines, else with
intervals below their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchwright.core import printable
from benchwright.reports.views.comparison import Comparison
from benchwright.reports.views.metric_comparison import MetricComparison, MetricSide, differing
from benchwright.stats import PairedResult

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table

_NAME_WIDTH = 10
"""Of a metric's name in a narrow terminal: what the numbers leave of eighty characters."""


class MetricTable:
    """A rich renderable that suits the width it is given; numbers are never broken."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        for short, narrow in ((False, False), (True, False), (True, True)):
            table = _table(self._comparison, short=short, narrow=narrow)
            wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
            if wide <= options.max_width:
                break
        yield table


def _table(comparison: Comparison, *, short: bool, narrow: bool) -> Table:
    """`short` breaks names and shortens p; `narrow` puts intervals below their numbers."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    break_ = "\n" if narrow else " "
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("metric", overflow="fold")
    headings = (
        printable(comparison.run_a.title),
        printable(comparison.run_b.title),
        f"difference{break_}(95 %)",
        "won/lost\ntied" if narrow else "won/lost/tied",
        "p",
    )
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for metric in comparison.metrics:
        name, paired = printable(metric.name), metric.paired
        style = ("red" if metric.worse else "green") if metric.significant else ""
        counts = "–"
        if paired is not None:
            counts = f"{paired.wins:,}/{paired.losses:,}{break_.strip(' ') or '/'}{paired.ties:,}"
        table.add_row(
            Text(_broken(name) if short else name),
            _value(metric.run_a, break_),
            _value(metric.run_b, break_),
            Text(_difference(metric, break_) if comparison.both or comparison.noun == "step" else "–", style),
            counts,
            _p_value(paired, metric.p_adjusted, short=short),
        )
        if metric.failures_as_wrong is not None:
            _add_failures(table, metric, break_, short=short)
    return table


def _add_failures(table: Table, metric: MetricComparison, break_: str, *, short: bool) -> None:
    """The same metric with failed samples as wrong: leaving them out flatters a run that fails on hard rows."""
    from rich.text import Text

    paired = metric.failures_as_wrong
    assert paired is not None
    sides = (metric.run_a, metric.run_b)
    known = [None if side is None else side.failures_as_wrong for side in sides]
    table.add_row(
        Text("failures\nas wrong" if short else "  failures as wrong", "dim"),
        *("–" if value is None else short_number(value) for value in known),
        _paired_difference(paired, break_),
        f"{paired.wins:,}/{paired.losses:,}{break_.strip(' ') or '/'}{paired.ties:,}",
        _p_value(paired, metric.p_adjusted_failures_as_wrong, short=short),
    )


def _p_value(paired: PairedResult | None, corrected: float | None, *, short: bool) -> str:
    """The corrected p-value; of a time, which is not corrected, its own; none where no pair differs."""
    if paired is None or not differing(paired):
        return "–"
    return _short_p(paired.p_value if corrected is None else corrected, short=short)


def _short_p(value: float, *, short: bool) -> str:
    """Exact where there is room; a table that is short of room needs it for the names of the metrics.

    >>> _short_p(2.38e-07, short=True), _short_p(0.0496, short=True), _short_p(2.38e-07, short=False)
    ('<0.001', '0.0496', '2.38e-07')
    """
    text = f"{value:.3g}"
    if not short or len(text) <= len("0.0496"):
        return text
    return "<0.001" if value < 0.001 else f"{value:.4f}"


def _broken(name: str) -> str:
    """A long name on several lines, broken before its underscores.

    >>> _broken("accuracy_with_fallback"), _broken("extraction_rate")
    ('accuracy\\n_with\\n_fallback', 'extraction\\n_rate')
    """
    lines = [""]
    for part in name.replace("_", "\0_").split("\0"):
        if len(lines[-1]) + len(part) <= _NAME_WIDTH:
            lines[-1] += part
        else:
            lines.append(part)
    return "\n".join(filter(None, lines))


def _value(side: MetricSide | None, break_: str) -> str:
    if side is None:
        return "–"
    if side.ci_low is None or side.ci_high is None or side.ci_low == side.ci_high:
        told = side.count and side.no_interval != "–"
        return f"{short_number(side.value)}{break_}[{side.no_interval}]" if told else short_number(side.value)
    return f"{short_number(side.value)}{break_}[{side.ci_low:.3f}, {side.ci_high:.3f}]"


def _difference(metric: MetricComparison, break_: str) -> str:
    paired = metric.paired
    if metric.run_a is None or metric.run_b is None:
        return "–"
    if paired is None:
        return f"{metric.run_b.value - metric.run_a.value:+.4g}"
    return _paired_difference(paired, break_)


def _paired_difference(paired: PairedResult, break_: str) -> str:
    if paired.ci_low is None or paired.ci_high is None:
        return f"{paired.difference:+.4f}{break_}[too few]"
    return f"{paired.difference:+.4f}{break_}[{paired.ci_low:+.3f}, {paired.ci_high:+.3f}]"


def short_number(value: float) -> str:
    """Four decimals; six below a thousandth.

    >>> short_number(0.5), short_number(0.00012345), short_number(12.0)
    ('0.5000', '0.000123', '12.0000')
    """
    return f"{value:.6f}" if 0 < abs(value) < 0.001 else f"{value:.4f}"
