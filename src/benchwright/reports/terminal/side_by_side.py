"""Shows the comparison of a suite on the terminal: models as columns if they fit, else a line for every run."""

from __future__ import annotations

from collections.abc import Sequence

from benchwright.core import printable
from benchwright.reports.blocks import Block, Cell, Fitting, Heading, Table, lines
from benchwright.results import SideBySide, SideCell, SideRow


def side_by_side_blocks(comparison: SideBySide) -> list[Block]:
    """The whole comparison."""
    return [
        Fitting((_columns(comparison), _lines(comparison))),
        lines((comparison.legend, *_outcomes(comparison)), "dim"),
        lines((f"note: {printable(note)}" for note in comparison.notes), "yellow"),
    ]


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
    """The number of samples of each run per outcome, for all eight outcomes."""
    cells = {(row.dataset, cell.model): cell for row in comparison.rows for cell in row.cells}
    return [
        printable(f"{dataset} on {model}: {cell.ended}")
        for (dataset, model), cell in cells.items()
        if cell.ended
    ]
