"""Shows the comparison of two load tests on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchwright.core import p_text, printable
from benchwright.perf import (
    METRICS,
    Difference,
    ScoreDifference,
    StageComparison,
)
from benchwright.reports.terminal.comparison import capital
from benchwright.reports.terminal.result import grid
from benchwright.reports.views.figures import plural
from benchwright.reports.views.load import (
    short,
)
from benchwright.reports.views.load_comparison import LoadComparison, SearchComparison

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table
    from rich.text import Text


def load_comparison_table(comparison: LoadComparison) -> Group:
    """Each figure of both tests with the difference and its interval."""
    from rich.console import Group
    from rich.text import Text

    a, b = comparison.run_a, comparison.run_b
    parts: list[RenderableType] = [
        Text(),
        Text.assemble(
            (printable(capital(b.title)), "bold"),
            " vs. ",
            (printable(a.title), "bold"),
            ": ",
            (printable(comparison.sentence), _style(comparison)),
        ),
    ]
    parts += [Text(f"warning: {printable(text)}", "yellow") for text in comparison.warnings]
    differing = comparison.inputs.get("differences")
    if isinstance(differing, list) and differing:
        named = [str(each["path"]).removeprefix("$.") for each in differing if isinstance(each, dict)]
        parts.append(Text(f"settings that differ: {', '.join(named)}", "yellow"))
    parts.append(
        grid(
            (printable(side.title), printable(f"{side.workflow_name} on {side.model_name}: {side.evaluated or 0:,} requests, {side.failed or 0:,} failed"))
            for side in (a, b)
        )
    )  # fmt: skip
    if comparison.search is not None:
        parts.append(_searches(comparison.search))
    for level in comparison.levels:
        how = (
            f"{plural(level.pairs, 'pair')} of requests"
            if level.pairs
            else "not paired: other requests were sent"
        )
        parts += [Text(), Text.assemble((level.label, "bold"), f", {how}"), _level(comparison, level)]
    for title, labels in ((a.title, comparison.only_a), (b.title, comparison.only_b)):
        if labels:
            parts.append(Text(f"only in {title}: {', '.join(labels)}", "dim"))
    if comparison.tested and comparison.untested:
        parts.append(Text(f"not tested, too few requests: {', '.join(comparison.untested)}", "dim"))
    parts.append(
        Text(
            f"p is corrected for {plural(comparison.tests, 'test')} by Holm's method. Intervals cover chance within the two tests, "
            "not the variation from one test to the next: repeat a test to see it",
            "dim",
        )
    )
    return Group(*parts)


def _style(comparison: LoadComparison) -> str:
    if comparison.regressed:
        return "red"
    doubtful = comparison.differs or comparison.other_load or comparison.untested or not comparison.tested
    return "yellow" if doubtful else "green"


def _searches(search: SearchComparison) -> Text:
    from rich.text import Text

    sides = [
        label if ends is None else f"{label} (95 % {ends[0]:.3g} – {ends[1]:.3g})"
        for label, ends in ((search.label_a, search.ci95_a), (search.label_b, search.ci95_b))
    ]
    verdict = ("smaller" if search.worse else "larger") if search.significant else "the intervals overlap"
    style = "" if not search.significant else "red" if search.worse else "green"
    return Text.assemble("largest load: ", " → ".join(sides), ": ", (verdict, style))


def _level(comparison: LoadComparison, level: StageComparison) -> Table:
    from rich import box

    from benchwright.reports.terminal.tables import WholeTable

    table = WholeTable(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("", no_wrap=True)
    for heading in (comparison.run_a.title, comparison.run_b.title, "difference", "", "95 % interval", "p"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    seen = set()
    for each in level.differences:
        values = (each.statistic, each.a, each.b, each.ci95, METRICS[each.name].unit)
        if (
            each.statistic == "value" or values not in seen
        ):  # figures that are equal by definition are shown once
            seen.add(values)
            table.add_row(*_row(each))
    for score in level.scores:
        table.add_row(*_score_row(score))
    return table


def _score_row(each: ScoreDifference) -> list[Text]:
    from rich.text import Text

    ends = "–" if each.ci95 is None else f"{each.ci95[0]:+.4f} … {each.ci95[1]:+.4f}"
    p_value = p_text(each.p_value)
    verdict = ("worse" if each.worse else "better") if each.significant else ""
    cells = [
        f"score {printable(each.name)}",
        f"{each.a:.4f}",
        f"{each.b:.4f}",
        f"{each.difference:+.4f}",
        "",
        ends,
        p_value,
    ]
    return [*map(Text, cells), Text(verdict, "red" if each.worse else "green")]


def _row(each: Difference) -> list[Text]:
    from rich.text import Text

    metric = METRICS[each.name]
    unit = metric.unit_title
    name = each.name if each.statistic == "value" else f"{each.name} {each.statistic}"
    sign = "+" if each.difference > 0 else ""
    ends = "–" if each.ci95 is None else f"{_signed(each.ci95[0], each)} … {_signed(each.ci95[1], each)}"
    relative = "" if each.relative is None or metric.unit == "share" else f"{100 * each.relative:+.1f} %"
    verdict = ("worse" if each.worse else "better") if each.significant and each.difference else ""
    p_value = "–" if each.p_value is None else p_text(each.p_value)
    cells = [
        f"{name}, {unit}" if unit else name,
        short(each.a, metric),
        short(each.b, metric),
        f"{sign}{short(each.difference, metric)}",
        relative,
        ends,
        p_value,
    ]
    return [*map(Text, cells), Text(verdict, "red" if each.worse else "green")]


def _signed(value: float, each: Difference) -> str:
    return f"{'+' if value > 0 else ''}{short(value, METRICS[each.name])}"
