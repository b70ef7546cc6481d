"""No table loses a cell or a heading, however narrow the terminal is."""

from __future__ import annotations

import io
import re
from pathlib import Path

from hypothesis import given, strategies as st
from rich import box
from rich.console import Console
from rich.text import Text

import benchwright
from benchwright.reports.terminal.tables import WholeTable

WORDS = st.text("abcdefgh0123", min_size=1, max_size=9)
CELLS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


def shown(table: WholeTable, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    return str(text)


@given(st.data(), st.integers(1, 8), st.integers(1, 4), st.integers(30, 120))
def test_every_cell_is_shown(data: st.DataObject, columns: int, rows: int, width: int) -> None:
    table = WholeTable(box=box.SIMPLE_HEAD)
    cells: list[str] = []
    for number in range(columns):
        cells.append(f"h{number}")
        table.add_column(cells[-1], no_wrap=data.draw(st.booleans()), overflow="fold")
    for _ in range(rows):
        row = [data.draw(CELLS) for _ in range(columns)]
        cells += row
        table.add_row(*map(Text, row))
    text = shown(table, width)
    for word in (word for cell in cells for word in cell.split()):
        assert word in text.split()


def test_a_table_that_fits_stays_a_table() -> None:
    table = WholeTable("name", "value", box=box.SIMPLE_HEAD, caption="all of them")
    table.add_row("one", "1")
    assert re.search(r"name +value", shown(table, 30))
    table.add_column("a long heading", no_wrap=True)
    text = shown(table, 20)
    assert re.search(r"name +one\n", text)
    assert "all of them" in text


def test_every_table_of_the_terminal_is_such_a_table() -> None:
    package = Path(benchwright.__file__).parent
    plain = [
        str(file.relative_to(package))
        for file in sorted(package.rglob("*.py"))
        if re.search(r"\bTable\((?!Table\))", file.read_text(encoding="utf-8").replace("WholeTable(", ""))
        and file.name not in ("tables.py",)
        and "from rich.table import Table" in file.read_text(encoding="utf-8")
    ]
    assert plain == []
