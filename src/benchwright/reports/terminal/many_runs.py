"""Shows the comparison of several runs on the terminal: the verdict, a line for each run, every pair, and what changed."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.core import p_text, printable
from benchwright.reports.blocks import Block, Cell, Heading, Table, line, numbers
from benchwright.reports.terminal.comparison import capital, changed_blocks
from benchwright.reports.terminal.result import note_lines
from benchwright.results import Comparison, ManyRuns, MetricComparison, MetricSide, RunPair, number


def many_runs_blocks(view: ManyRuns) -> Iterator[Block]:
    """Everything. Two runs are shown as they always were; load tests one after the other."""
    if len(view.comparisons) == 1 or view.metric is None:
        from benchwright.reports.views import blocks_of

        for each in view.comparisons:
            yield from blocks_of(each)
        yield from _slices(view)
        return
    yield line()
    yield line(capital(printable(view.sentence)), "red" if view.regressed else "bold")
    yield note_lines(view.notes)
    yield _runs(view)
    yield _pairs(view)
    tests = sum(pair.p_adjusted is not None for pair in view.pairs)
    if tests > 1:
        yield line(f"p is corrected for {tests} pairs of runs by Holm's method", "dim")
    for each in view.comparisons:
        if isinstance(each, Comparison) and each.changed:
            yield from changed_blocks(each)
    yield from _slices(view)
    if not view.comparable:
        yield line("not comparable: see the notes (exit code 3)")


def _metrics(view: ManyRuns) -> list[str]:
    found: dict[str, None] = {}
    for each in view.comparisons:
        if isinstance(each, Comparison):
            found |= dict.fromkeys(metric.name for metric, _ in each.folded[0] if not metric.noise)
    return list(found)


def _runs(view: ManyRuns) -> Table:
    """A line for each run: its model, and every metric that differs somewhere with its interval."""
    names = _metrics(view)
    rows: list[tuple[Cell, ...]] = []
    for place, side in enumerate(view.runs):
        cells = []
        for name in names:
            known = [
                metric
                for each in view.comparisons
                if isinstance(each, Comparison) and (place == 0 or each.run_b.id == side.id)
                for metric in each.metrics
                if metric.name == name
            ]
            cells.append(_value(known[0].run_a if place == 0 else known[0].run_b) if known else "–")
        rows.append((printable(side.title), printable(side.model_name), f"{side.failed or 0:,}", *cells))
    titles = (Heading("run"), Heading("model"), Heading("failed", right=True))
    return Table((*titles, *(Heading(printable(name), right=True) for name in names)), tuple(rows))


def _value(side: MetricSide | None) -> str:
    if side is None:
        return "–"
    if side.ci_low is None or side.ci_high is None or side.ci_low == side.ci_high:
        return number(side.value)
    return f"{number(side.value)} ({side.ci_low:.3f} – {side.ci_high:.3f})"


def _pairs(view: ManyRuns) -> Table:
    titles = {side.id: printable(side.title) for side in view.runs}
    headings = numbers(f"{printable(view.metric or '')}", "difference (95 %)", "won/lost/tied", "p")
    return Table(headings, tuple(_pair(pair, titles, view.lower_is_better) for pair in view.pairs))


def _pair(pair: RunPair, titles: dict[int, str], less: bool) -> tuple[Cell, ...]:
    name = f"{titles[pair.run_b]} vs. {titles[pair.run_a]}"
    found = pair.paired
    if found is None:
        return name, "no common rows", "–", "–"
    ends = (
        ""
        if found.ci_low is None or found.ci_high is None
        else f" [{MetricComparison.end(found.ci_low)}, {MetricComparison.end(found.ci_high)}]"
    )
    style = ("green" if (found.difference > 0) != less else "red") if pair.significant else ""
    return (
        name,
        (f"{found.difference:+.4f}{ends}", style),
        f"{found.wins:,}/{found.losses:,}/{found.ties:,}",
        "–" if pair.p_adjusted is None else p_text(pair.p_adjusted),
    )


def _slices(view: ManyRuns) -> Iterator[Block]:
    titles = {side.id: printable(side.title) for side in view.runs}
    for sliced in view.slices:
        name, column = f"{titles[sliced.run_b]} vs. {titles[sliced.run_a]}", printable(sliced.column)
        yield line()
        yield line(capital(f"{name}: {printable(sliced.metric)} by {column}, largest loss first"), "bold")
        rows = []
        for value, pair in sliced.slices:
            label = "(no value)" if value is None else printable(value)
            sizes = f"{0 if pair.paired is None else pair.paired.pairs:,}{' (few)' if pair.small else ''}"
            rows.append((label, sizes, *_pair(pair, titles, view.lower_is_better)[1:]))
        yield Table(numbers(column, "rows", "difference (95 %)", "won/lost/tied", "p"), tuple(rows))
        tests = sum(pair.p_adjusted is not None for _, pair in sliced.slices)
        if tests > 1:
            yield line(f"p is corrected for {tests} slices by Holm's method", "dim")
