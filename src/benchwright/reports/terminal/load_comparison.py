"""Shows the comparison of two load tests on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchwright.core import p_text, printable
from benchwright.perf import (
    METRICS,
    Difference,
    ScoreDifference,
    StageComparison,
)
from benchwright.reports.blocks import Block, Cell, Heading, Lines, Table, labelled, line
from benchwright.reports.terminal.comparison import title_line
from benchwright.reports.terminal.result import note_lines
from benchwright.results import LoadComparison, SearchComparison, plural, short


def load_comparison_blocks(comparison: LoadComparison) -> Iterator[Block]:
    """Each figure of both tests with the difference and its interval."""
    a, b = comparison.run_a, comparison.run_b
    yield line()
    yield title_line(comparison, _style(comparison))
    yield note_lines(
        note for note in comparison.notes if note.text not in comparison.doubts
    )  # the title says those
    differing = comparison.inputs.get("differences")
    if isinstance(differing, list) and differing:
        named = [str(each["path"]).removeprefix("$.") for each in differing if isinstance(each, dict)]
        yield line(f"settings that differ: {', '.join(named)}", "yellow")
    yield labelled(
        (printable(side.title), printable(f"{side.workflow_name} on {side.model_name}: {side.evaluated or 0:,} requests, {side.failed or 0:,} failed"))
        for side in (a, b)
    )  # fmt: skip
    if comparison.search is not None:
        yield _searches(comparison.search)
    for level in comparison.levels:
        pairs = f"{plural(level.pairs, 'pair')} of requests"
        how = pairs if level.pairs else "not paired: other requests were sent"
        yield Lines(((("", ""),), ((level.label, "bold"), (f", {how}", ""))))
        yield _level(comparison, level)
    for title, labels in ((a.title, comparison.only_a), (b.title, comparison.only_b)):
        if labels:
            yield line(f"only in {title}: {', '.join(labels)}", "dim")
    if comparison.tested and comparison.untested:
        yield line(f"not tested, too few requests: {', '.join(comparison.untested)}", "dim")
    yield line(
        f"p is corrected for {plural(comparison.tests, 'test')} by Holm's method. Intervals cover chance within the two tests, "
        "not the variation from one test to the next: repeat a test to see it",
        "dim",
    )


def _style(comparison: LoadComparison) -> str:
    if comparison.doubts:
        return "yellow"
    if comparison.regressed:
        return "red"
    doubtful = comparison.differs or comparison.other_load or comparison.untested or not comparison.tested
    return "yellow" if doubtful else "green"


def _searches(search: SearchComparison) -> Lines:
    sides = [
        label if ends is None else f"{label} (95 % {ends[0]:.3g} – {ends[1]:.3g})"
        for label, ends in ((search.label_a, search.ci95_a), (search.label_b, search.ci95_b))
    ]
    verdict = ("smaller" if search.worse else "larger") if search.significant else "the intervals overlap"
    style = "" if not search.significant else "red" if search.worse else "green"
    return Lines(((("largest load: ", ""), (" → ".join(sides), ""), (": ", ""), (verdict, style)),))


def _level(comparison: LoadComparison, level: StageComparison) -> Table:
    titles = (comparison.run_a.title, comparison.run_b.title, "difference", "", "95 % interval", "p")
    headings = (
        Heading("", whole=True),
        *(Heading(title, right=True, whole=True) for title in titles),
        Heading(""),
    )
    rows: list[Sequence[Cell]] = []
    seen = set()
    for each in level.differences:
        values = (each.statistic, each.a, each.b, each.ci95, METRICS[each.name].unit)
        if (
            each.statistic == "value" or values not in seen
        ):  # figures that are equal by definition are shown once
            seen.add(values)
            rows.append(_row(each))
    rows += map(_score_row, level.scores)
    if comparison.doubts:  # no verdict
        rows = [[*row[:-1], ""] for row in rows]
    return Table(headings, tuple(rows), padding="tight")


def _score_row(each: ScoreDifference) -> list[Cell]:
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
    return [*cells, (verdict, "red" if each.worse else "green")]


def _row(each: Difference) -> list[Cell]:
    metric = METRICS[each.name]
    unit = metric.unit_title
    name = each.name if each.statistic == "value" else f"{each.name} {each.statistic}"
    share = metric.unit == "share"
    if each.ci95 is None:
        ends = "–"
    elif share:
        ends = f"{_points(each.ci95[0])} … {_points(each.ci95[1])} points"
    else:
        ends = f"{_signed(each.ci95[0], each)} … {_signed(each.ci95[1], each)}"
    relative = "" if each.relative is None or share else f"{100 * each.relative:+.1f} %"
    verdict = ("worse" if each.worse else "better") if each.significant and each.difference else ""
    p_value = "–" if each.p_value is None else p_text(each.p_value)
    cells = [
        f"{name}, {unit}" if unit else name,
        short(each.a, metric),
        short(each.b, metric),
        f"{_points(each.difference)} points" if share else _signed(each.difference, each),
        relative,
        ends,
        p_value,
    ]
    return [*cells, (verdict, "red" if each.worse else "green")]


def _points(share: float) -> str:
    """A difference of shares, in percentage points. A percentage would be read as a relative change.

    >>> _points(-0.033), _points(0.0), _points(0.0004)
    ('-3.3', '0.0', '+0.04')
    """
    points = 100 * share
    return f"{points:{'+' if points else ''}.{2 if 0 < abs(points) < 0.1 else 1}f}"


def _signed(value: float, each: Difference) -> str:
    return f"{'+' if value > 0 else ''}{short(value, METRICS[each.name])}"
