"""No table loses a cell or a heading, however narrow the terminal is."""

from __future__ import annotations

import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from rich import box
from rich.console import Console
from rich.text import Text

import benchwright
from benchwright.reports import drawn as shown_verdict
from benchwright.reports.terminal.tables import WholeTable
from benchwright.results import RuleRow, Verdict, Word

WORDS = st.text("abcdefgh0123", min_size=1, max_size=9)
CELLS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)


class Drawn(st.DataObject):
    """Values of one example, in the order in which they are drawn."""

    def __init__(self, values: list[object]) -> None:
        self.values = iter(values)

    def draw(self, strategy: st.SearchStrategy[Any], label: Any = None) -> Any:
        return next(self.values)


def shown(table: WholeTable, width: int) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert max(map(len, text.splitlines())) <= width
    return str(text)


def drawn(data: st.DataObject, headings: st.SearchStrategy[str]) -> tuple[WholeTable, str]:
    """A table, and the text of all its headings and cells."""
    table = WholeTable(box=box.SIMPLE_HEAD)
    cells: list[str] = []
    columns = data.draw(st.integers(1, 8))
    for _ in range(columns):
        cells.append(data.draw(headings))
        table.add_column(cells[-1], no_wrap=data.draw(st.booleans()), overflow="fold")
    for _ in range(data.draw(st.integers(1, 4))):
        row = [data.draw(CELLS) for _ in range(columns)]
        cells += row
        table.add_row(*map(Text, row))
    return table, " ".join(cells)


@given(st.data(), st.integers(30, 120))
@example(Drawn([3, "h0", False, "h1", False, "h2", False, 1, "0 0", "0 0 00 00", "000000000"]), 30)
def test_every_cell_is_shown(data: st.DataObject, width: int) -> None:
    table, cells = drawn(data, st.sampled_from(["h0", "h1", "of h2"]))
    text = shown(table, width).split()
    for word in cells.split():
        assert word in text


@given(st.data(), st.integers(8, 60))
def test_no_character_is_lost_in_any_width(data: st.DataObject, width: int) -> None:
    table, cells = drawn(data, CELLS)
    text = shown(table, width)
    assert not Counter("".join(cells.split())) - Counter(text)


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
    plain = []
    for file in sorted(package.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        names = {name or "Table" for name in re.findall(r"from rich\.table import Table(?: as (\w+))?", text)}
        if file.name != "tables.py" and any(re.search(rf"(?<!\w){name}\(", text) for name in names):
            plain.append(str(file.relative_to(package)))
    assert plain == []


@pytest.mark.parametrize("width", [80, 100])
def test_a_gate_breaks_names_of_figures_only_at_underscores(width: int) -> None:
    names = ("request_throughput", "peak_output_throughput", "repeated_prompt_share")
    rows = tuple(
        RuleRow(
            rule=name, kind="limit", where="", needed="≥ 12.5", verdict=Word.NO_GO, observed=10.25, p=0.0012, p_holm=0.0024,
            reason="the figure is below the limit by more than chance explains",
        )
        for name in names
    )  # fmt: skip
    verdict = Verdict(
        verdict=Word.NO_GO, run="run 2", run_id=2, name="qa", baseline=None, policy="gate.toml", alpha=0.05, power=0.8,
        tests=3, rows=rows,
    )  # fmt: skip
    out = io.StringIO()
    Console(file=out, width=width, color_system=None).print(shown_verdict(verdict))
    text = out.getvalue()
    for name in names:
        for part in name.split("_"):
            assert part in text
