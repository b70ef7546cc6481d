"""Tables that lose nothing in a narrow terminal. Import it where a table is made: it imports rich."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import zip_longest

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Column, Table
from rich.text import Text

_LONGEST_WORD = 12
"""Longer words may be broken before a table is given up."""


class WholeTable(Table):
    """A table. If the terminal is too narrow for its columns, each row is a block of lines, because rich would cut cells and
    leave out whole columns."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, or its rows as blocks."""
        if self.columns and self._least(console, options) > options.max_width:
            yield from self._blocks(options.max_width)
        else:
            yield from super().__rich_console__(console, options)

    def _least(self, console: Console, options: ConsoleOptions) -> int:
        """The least width in which every cell that may not be broken is whole, and the others keep their short words."""
        unlimited = options.update(max_width=10_000)
        edges = Measurement.get(console, unlimited, self).minimum
        for column in self.columns:
            longest = _longest(_words(column))
            edges -= max(longest, column.min_width or 0)
        return edges + sum(map(_needed, self.columns))

    def _calculate_column_widths(self, console: Console, options: ConsoleOptions) -> list[int]:
        """The widths that rich chooses. If it would break a word that has room, the widest columns give up what that one needs."""
        widths = super()._calculate_column_widths(console, options)
        needed = [_needed(column) + self._get_padding_width(n) for n, column in enumerate(self.columns)]
        if sum(needed) > options.max_width:
            return widths
        for number, least in enumerate(needed):
            widths[number] = max(widths[number], least)
        for _ in range(sum(widths) - options.max_width):
            spare = max(range(len(widths)), key=lambda n: widths[n] - needed[n])
            widths[spare] -= 1
        return widths

    def _blocks(self, width: int) -> RenderResult:
        labels = [" ".join(_plain(column.header).split()) for column in self.columns]
        if self.title is not None:
            yield self.title if isinstance(self.title, Text) else Text(str(self.title))
        for cells in zip_longest(*(column.cells for column in self.columns), fillvalue=""):
            block = Table.grid(padding=(0, 2, 0, 0))
            block.add_column(no_wrap=2 * _longest(labels) < width, overflow="fold")
            block.add_column(overflow="fold")
            for label, cell in zip(labels, cells, strict=True):
                if _plain(cell).strip():
                    block.add_row(Text(label, "dim"), cell)
            if block.row_count:
                yield Text()
                yield block
        yield Text()
        if self.caption is not None:
            yield Text(_plain(self.caption), "dim italic")


def _needed(column: Column) -> int:
    return _longest(_lines(column)) if column.no_wrap else min(_longest(_words(column)), _LONGEST_WORD)


def _lines(column: Column) -> list[str]:
    return [line for cell in (column.header, *column.cells) for line in _plain(cell).splitlines()]


def _words(column: Column) -> list[str]:
    return [word for line in _lines(column) for word in line.split()]


def _longest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _plain(cell: object) -> str:
    return Text.from_markup(cell).plain if isinstance(cell, str) else str(cell)
