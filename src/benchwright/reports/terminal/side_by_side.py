"""Shows the comparison of a suite on the terminal: models as columns if they fit, else a line for every run."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from benchwright.core import Outcome, printable
from benchwright.reports.blocks import Block, Cell, Fitting, Heading, Table, lines
from benchwright.reports.terminal.result import note_lines
from benchwright.results import SideBySide, SideCell, SideRow


def side_by_side_blocks(comparison: SideBySide) -> list[Block]:
    """The whole comparison, without metrics that are equal to the headline."""
    comparison, equal = _folded(comparison)
    return [
        *([lines(map(printable, comparison.verdicts), "bold")] if comparison.verdicts else []),
        Fitting((_columns(comparison), _lines(comparison))),
        lines((comparison.legend, *equal, *_outcomes(comparison)), "dim"),
        note_lines(comparison.notes),
    ]


def _folded(comparison: SideBySide) -> tuple[SideBySide, list[str]]:
    """The comparison without the metrics whose figures are those of the headline for every model, and a line about them for each dataset."""
    rows, same = [], dict[str, list[str]]()
    headline: SideRow | None = None
    for row in comparison.rows:
        if row.headline:
            headline = row
        elif headline is not None and row.dataset == headline.dataset and _figures(row) == _figures(headline):
            same.setdefault(row.dataset, []).append(_metric(row))
            continue
        rows.append(row)
    said = [
        f"{printable(row.dataset)}: {', '.join(same[row.dataset])}: the same as {_metric(row)}"
        for row in rows
        if row.headline and row.dataset in same
    ]
    return replace(comparison, rows=tuple(rows)), said


def _figures(row: SideRow) -> list[tuple[float | None, float | None, float | None, int]]:
    return [(cell.value, cell.ci_low, cell.ci_high, cell.n) for cell in row.cells]


def _columns(comparison: SideBySide) -> Table:
    """One column per model."""
    rows: list[Sequence[Cell]] = []
    ends = set()
    shown = None
    for place, row in enumerate(comparison.rows):
        cells = {cell.model: cell for cell in row.cells}
        values = [_value(cells[model]) if model in cells else "" for model in comparison.models]
        style = "bold" if row.headline else ""
        rows.append(((_dataset(row, shown), "bold"), (_metric(row), style), *values))
        shown = row.dataset
        if _last_of_dataset(comparison, place):
            counts = [cells[model].counts if model in cells else "" for model in comparison.models]
            ends.add(len(rows))
            rows.append(("", ("samples", "dim"), *((text, "dim") for text in counts)))
    titles = ("dataset", "metric", *map(printable, comparison.models))
    headings = tuple(Heading(title, whole=True) for title in titles)
    return Table(headings, tuple(rows), padding="inside", ends=frozenset(ends))


def _lines(comparison: SideBySide) -> Table:
    """One line per model and metric, below the dataset's name: for more models than fit side by side."""
    rows: list[Sequence[Cell]] = []
    ends = set()
    shown = None
    for place, row in enumerate(comparison.rows):
        if row.dataset != shown:
            rows.append(((printable(row.dataset), "bold"), "", "", ""))
            shown = row.dataset
        for index, cell in enumerate(row.cells):
            name = f"  {_metric(row)}" if index == 0 else "", "bold" if row.headline else ""
            rows.append((name, printable(cell.model), _value(cell), (cell.counts, "dim")))
        if _last_of_dataset(comparison, place):
            ends.add(len(rows) - 1)
    headings = Heading("dataset, metric"), Heading("model"), Heading("mean", whole=True), Heading("samples")
    return Table(headings, tuple(rows), padding="inside", ends=frozenset(ends))


def _last_of_dataset(comparison: SideBySide, place: int) -> bool:
    following = comparison.rows[place + 1 : place + 2]
    return not following or following[0].dataset != comparison.rows[place].dataset


def _value(cell: SideCell) -> Cell:
    return cell.text, _style(cell)


def _dataset(row: SideRow, shown: str | None) -> str:
    return "" if row.dataset == shown else printable(row.dataset)


def _metric(row: SideRow) -> str:
    return "–" if row.metric is None else printable(row.metric)


def _style(cell: SideCell) -> str:
    if "failed" in cell.marks:
        return "red"
    return "yellow" if cell.marks else ""


def _outcomes(comparison: SideBySide) -> list[str]:
    """The number of samples of each run per outcome, for all eight outcomes; runs in which every sample was scored have one line."""
    cells = {(row.dataset, cell.model): cell for row in comparison.rows for cell in row.cells}
    told = {pair: cell for pair, cell in cells.items() if cell.ended}
    plain = [pair for pair, cell in told.items() if cell.outcomes.get(Outcome.SCORED) == cell.evaluated > 0]
    found = [
        printable(f"{dataset} on {model}: {cell.ended}")
        for (dataset, model), cell in told.items()
        if (dataset, model) not in plain
    ]
    if not plain:
        return found
    which = (
        "all runs"
        if len(plain) == len(told)
        else ", ".join(f"{dataset} on {model}" for dataset, model in plain)
    )
    return [*found, printable(f"{which}: all samples scored")]
