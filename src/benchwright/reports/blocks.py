"""Blocks: what a view says, as plain values, before anybody draws it; and blocks as plain text, for logs and pipes.

A view is put into blocks once. The terminal draws them with rich (`terminal/drawing.py`). Plain text needs no library: rich takes
a sixth of a short run to load. Everything that may not be plain is left to rich: a line that does not fit, a character that may
be wide. The rules here may be too strict, but never too loose; `tests/reports/test_terminal_views.py` compares both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from benchwright.core import printable

Pieces: TypeAlias = tuple[tuple[str, str], ...]
"""A text in pieces, each with its style."""
Cell: TypeAlias = "str | tuple[str, str]"
"""A text, or a text with its style. No text is read as markup."""


class Heading(Struct, frozen=True):
    """The head of a column."""

    text: str
    right: bool = False
    """Whether the column is aligned to the right, as numbers are."""
    whole: bool = False
    """Whether no cell may be broken."""


class Table(Struct, frozen=True):
    """Cells under headings. Where it does not fit, each row is a list of its own; no cell is cut."""

    headings: tuple[Heading, ...]
    rows: tuple[Sequence[Cell], ...]
    padding: Literal["around", "inside", "tight"] = "around"
    """Space: on both sides of every cell, the same but not at the edges, or only between cells."""
    ends: frozenset[int] = frozenset()
    """Rows with a gap after them."""

    @staticmethod
    def of(
        headings: Sequence[str],
        rows: Iterable[Sequence[Cell]],
        *,
        right: Sequence[str] = (),
        whole: Sequence[str] = (),
    ) -> Table:
        """A table; `right`: the headings of numbers, `whole`: the headings of cells that may not be broken."""
        return Table(tuple(Heading(text, text in right, text in whole) for text in headings), tuple(rows))


class Fitting(Struct, frozen=True):
    """Tables of the same, the widest first: the first that fits is drawn, else the last."""

    tables: tuple[Table, ...]


class Grid(Struct, frozen=True):
    """Labels with texts next to them."""

    rows: tuple[tuple[str, Pieces], ...]


class Lines(Struct, frozen=True):
    """Texts, each on a line of its own."""

    lines: tuple[Pieces, ...]


class Divider(Struct, frozen=True):
    """A line across, with a heading."""

    heading: str


HEAVY = 9
"""The weight of a column that is never left out."""


def fitted(columns: Sequence[tuple[str, Sequence[str], int]]) -> Fitting:
    """Columns with cells and weights, the first to the left, the others to the right. If they do not fit, those without values are
    left out, then the lightest. If the heavy ones alone do not fit, each row of all that have values is a list of its own."""
    left, tables = list(columns), [_columns(columns)]
    while left and _weight(lightest := min(reversed(left), key=_weight)) < HEAVY:
        left.remove(lightest)
        tables.append(_columns(left))
    return Fitting((*tables, _columns([column for column in columns if _weight(column) >= 0])))


def _weight(column: tuple[str, Sequence[str], int]) -> int:
    return -1 if set(column[1]) == {"–"} else column[2]


def _columns(columns: Sequence[tuple[str, Sequence[str], int]]) -> Table:
    headings = (Heading(text, right=place > 0, whole=True) for place, (text, _, _) in enumerate(columns))
    return Table(
        tuple(headings), tuple(zip(*(cells for _, cells, _ in columns), strict=True)), padding="tight"
    )


Block: TypeAlias = Table | Fitting | Grid | Lines | Divider


def line(text: str = "", style: str = "") -> Lines:
    return Lines((((text, style),),))


def lines(texts: Iterable[str], style: str = "") -> Lines:
    return Lines(tuple(((text, style),) for text in texts))


def labelled(rows: Iterable[tuple[str, Cell]]) -> Grid:
    """Labels, each with a text."""
    return Grid(tuple((label, ((text, ""),) if isinstance(text, str) else (text,)) for label, text in rows))


class Sections:
    """A title, and texts under headings; sections without text are left out."""

    def __init__(self, title: str, style: str) -> None:
        self.blocks: list[Block] = [line(), line(title, style)]

    def add(self, heading: str, text: str | None, style: str = "") -> None:
        """Add a text; nothing in it is read as markup."""
        if text:
            self.add_block(heading, line(printable(text), style))

    def add_block(self, heading: str, block: Block) -> None:
        """Add a table or another block."""
        self.blocks += [Divider(heading), block]


def numbers(first: str, *others: str) -> tuple[Heading, ...]:
    """Headings of a column of names, which may be broken, and of columns of numbers, which may not."""
    return Heading(first), *(Heading(text, right=True, whole=True) for text in others)


_NARROW = str.maketrans(dict.fromkeys("–—…×·≤≥", "-"))
"""Characters in our texts that take one column, as Latin characters do."""


class _NeedsRichError(Exception):
    """The library must draw this."""


def plain(blocks: Iterable[Block], width: int) -> str | None:
    """Blocks as text in `width` columns, as a terminal without colours shows them; None if the library must draw them."""
    found: list[str] = []
    try:
        for block in blocks:
            if isinstance(block, Lines):
                for pieces in block.lines:
                    found += _wrapped(_text(pieces), width)
            elif isinstance(block, Grid):
                found += _grid(block.rows, width)
            elif isinstance(block, Table) and block.padding == "around" and not block.ends:
                found += _table(block, width)
            else:
                return None
    except _NeedsRichError:
        return None
    return "\n".join(map(str.rstrip, found))


def _text(pieces: Pieces) -> str:
    return "".join(text for text, _ in pieces)


def _check(text: str, width: int) -> None:
    known = text.translate(_NARROW)
    if len(text) > width or not known.isprintable() or max(known, default="") >= "\u0300":
        raise _NeedsRichError


def _table(table: Table, width: int) -> Iterator[str]:
    """Cells in columns, a line below the headings."""
    texts = [cell if isinstance(cell, str) else cell[0] for row in table.rows for cell in row]
    count = len(table.headings)
    rows = [[heading.text for heading in table.headings]]
    rows += [texts[at : at + count] for at in range(0, len(texts), count)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    ruled = sum(each + 3 for each in widths) - 1
    yield ""
    for place, cells in enumerate(rows):
        for cell in cells:
            _check(cell, width)
        aligned = [
            f"{cell:>{size}}" if heading.right else f"{cell:<{size}}"
            for heading, cell, size in zip(table.headings, cells, widths, strict=True)
        ]
        yield "  " + "   ".join(aligned)
        if place == 0:
            yield " " + "─" * ruled
    if ruled + 2 > width:
        raise _NeedsRichError
    yield ""


def _grid(rows: Sequence[tuple[str, Pieces]], width: int) -> Iterator[str]:
    """Labels with texts next to them; words that do not fit go to further lines."""
    indent = max(len(label) for label, _ in rows) + 2
    for label, pieces in rows:
        lead = label
        for line in _wrapped(_text(pieces), width - indent):
            yield f"{lead:<{indent}}{line}"
            lead = ""


def _wrapped(text: str, width: int) -> Iterator[str]:
    if "  " in text or text != text.strip():  # rich leaves out some spaces at line breaks
        raise _NeedsRichError
    line = ""
    for word in text.split(" "):
        _check(word, width)
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    yield line
