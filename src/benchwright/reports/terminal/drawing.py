"""Draws blocks on the terminal, with rich."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich import box, rule
from rich.console import Group
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from benchwright.reports.blocks import Block, Cell, Divider, Fitting, Grid, Lines, Pieces, Table
from benchwright.reports.terminal.tables import WholeTable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType


def draw(blocks: Iterable[Block]) -> Group:
    """Blocks below one another; a rich renderable."""
    return Group(*(part for block in blocks for part in _parts(block)))


def _parts(block: Block) -> Iterator[RenderableType]:
    match block:
        case Lines(lines):
            yield from map(_text, lines)
        case Grid(rows):
            yield _grid(rows)
        case Table():
            yield _table(block)
        case Fitting(tables):
            yield _FirstThatFits(tables)
        case Divider(heading):
            yield rule.Rule(heading, align="left", style="dim")


def _text(pieces: Pieces) -> Text:
    """A text; no piece of it is read as markup, because names come from users."""
    return Text(*pieces[0]) if len(pieces) == 1 else Text.assemble(*pieces)


def _grid(rows: Iterable[tuple[str, Pieces]]) -> RichTable:
    """Labels in a dim column, with a text next to each."""
    found = RichTable.grid(padding=(0, 2))
    found.add_column(style="dim", no_wrap=True)
    found.add_column(overflow="fold")
    for label, pieces in rows:
        found.add_row(Text(label), Text.assemble(*pieces))
    return found


def _cell(cell: Cell) -> Text:
    return Text(cell) if isinstance(cell, str) else Text(*cell)


def _table(table: Table) -> WholeTable:
    tight = table.padding == "tight"
    found = WholeTable(
        box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0) if tight else (0, 1), pad_edge=table.padding == "around"
    )
    for heading in table.headings:
        found.add_column(
            Text(heading.text),
            justify="right" if heading.right else "left",
            no_wrap=heading.whole,
            overflow="ellipsis" if heading.whole else "fold",
        )
    for place, row in enumerate(table.rows):
        found.add_row(*map(_cell, row), end_section=place in table.ends)
    return found


class _FirstThatFits:
    """The first of some tables that is not too wide, else the last."""

    def __init__(self, tables: tuple[Table, ...]) -> None:
        self._tables = tables

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for each in self._tables:
            table = _table(each)
            wide = Measurement.get(console, options.update(max_width=10_000), table).maximum
            if wide <= options.max_width:
                break
        yield table
