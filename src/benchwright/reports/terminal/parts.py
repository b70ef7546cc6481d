"""What several tables share: a grid of labels, sections under headings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchwright.core import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, Group, RenderableType
    from rich.table import Table


def grid(rows: Iterable[tuple[str, str | RenderableType]] = ()) -> Table:
    """Labels in a dim column, and what belongs to each."""
    from rich.table import Table
    from rich.text import Text

    found = Table.grid(padding=(0, 2))
    found.add_column(style="dim", no_wrap=True)
    found.add_column(overflow="fold")
    for label, value in rows:
        found.add_row(Text(label), Text(value) if isinstance(value, str) else value)
    return found


class FittedTable:
    """Columns with their cells and weights; where there is no room, the lightest are left out. A cell is never cut."""

    def __init__(self, columns: Sequence[tuple[str, Sequence[str], int]]) -> None:
        self._columns = columns

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.measure import Measurement

        columns = list(self._columns)
        table = _lined(columns)
        while len(columns) > 2 and _width(Measurement, console, options, table) > options.max_width:
            columns.remove(min(reversed(columns), key=lambda column: column[2]))
            table = _lined(columns)
        yield table


def _width(measurement: Any, console: Console, options: ConsoleOptions, table: Table) -> int:
    return int(measurement.get(console, options.update(max_width=10_000), table).maximum)


def _lined(columns: Sequence[tuple[str, Sequence[str], int]]) -> Table:
    """The first column to the left, the others to the right."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for place, (heading, _, _) in enumerate(columns):
        table.add_column(heading, justify="right" if place else "left", no_wrap=True)
    for row in zip(*(cells for _, cells, _ in columns), strict=True):
        table.add_row(*map(Text, row))
    return table


def short_path(folder: Path) -> str:
    """Relative to the current folder where that is shorter to read."""
    try:
        return str(folder.relative_to(Path.cwd()))
    except ValueError:
        return str(folder)


class Sections:
    """A title, and texts under headings; sections without text are left out."""

    def __init__(self, title: str, style: str) -> None:
        from rich.text import Text

        self._parts: list[RenderableType] = [Text(), Text(title, style)]

    def add(self, heading: str, text: str | None, style: str = "") -> None:
        """A text of strangers: nothing in it is read as markup."""
        from rich.text import Text

        if text:
            self.add_view(heading, Text(printable(text), style))

    def add_view(self, heading: str, view: RenderableType) -> None:
        """A table or another view."""
        from rich.rule import Rule

        self._parts += [Rule(heading, align="left", style="dim"), view]

    def group(self) -> Group:
        """All of it; a rich renderable."""
        from rich.console import Group

        return Group(*self._parts)
