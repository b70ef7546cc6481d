"""Shows the comparison of a suite on the terminal: models as columns if they fit, else a line for every run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from benchwright.core import printable
from benchwright.reports.views.figures import outcome_counts
from benchwright.reports.views.side_by_side import SideBySide, SideCell, SideRow

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text


class SideBySideTable:
    """A rich renderable that adapts to the width."""

    def __init__(self, comparison: SideBySide) -> None:
        self._comparison = comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement
        from rich.text import Text

        comparison = self._comparison
        table = _columns(comparison)
        wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
        yield table if wide <= options.max_width else _lines(comparison)
        for text in (comparison.legend, *_outcomes(comparison)):
            yield Text(text, "dim")
        for note in comparison.notes:
            yield Text(f"note: {printable(note)}", "yellow")


def _columns(comparison: SideBySide) -> Table:
    """One column per model."""
    from rich.text import Text

    table = _table()
    table.add_column("dataset", no_wrap=True)
    table.add_column("metric", no_wrap=True)
    for model in comparison.models:
        table.add_column(printable(model), no_wrap=True)
    shown = None
    for place, row in enumerate(comparison.rows):
        cells = {cell.model: cell for cell in row.cells}
        values = [_text(cells.get(model)) for model in comparison.models]
        style = "bold" if row.headline else ""
        table.add_row(Text(_dataset(row, shown), "bold"), Text(_metric(row), style), *values)
        shown = row.dataset
        following = comparison.rows[place + 1 : place + 2]
        if not following or following[0].dataset != row.dataset:
            counts = [cells[model].counts if model in cells else "" for model in comparison.models]
            table.add_row("", _dim("samples"), *map(_dim, counts), end_section=True)
    return table


def _lines(comparison: SideBySide) -> Table:
    """One line per model and metric, below the dataset's name: for more models than fit side by side."""
    from rich.text import Text

    table = _table()
    table.add_column("dataset, metric", overflow="fold")
    table.add_column("model", overflow="fold")
    table.add_column("mean", no_wrap=True)
    table.add_column("samples", overflow="fold")
    shown = None
    for place, row in enumerate(comparison.rows):
        if row.dataset != shown:
            table.add_row(Text(printable(row.dataset), "bold"))
            shown = row.dataset
        following = comparison.rows[place + 1 : place + 2]
        ends = not following or following[0].dataset != row.dataset
        for index, cell in enumerate(row.cells):
            table.add_row(
                Text(f"  {_metric(row)}" if index == 0 else "", "bold" if row.headline else ""),
                Text(printable(cell.model)),
                Text(cell.text, _style(cell)),
                _dim(cell.counts),
                end_section=ends and index + 1 == len(row.cells),
            )
    return table


def _table() -> Table:
    from rich import box

    from benchwright.reports.terminal.tables import WholeTable

    return WholeTable(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)


def _text(cell: SideCell | None) -> Text:
    from rich.text import Text

    return Text() if cell is None else Text(cell.text, _style(cell))


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
        printable(f"{dataset} on {model}: {outcome_counts(cell.outcomes)}")
        for (dataset, model), cell in cells.items()
        if cell.outcomes
    ]


def _dim(text: str) -> RenderableType:
    from rich.text import Text

    return Text(text, "dim")
