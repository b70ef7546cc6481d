"""What a notebook shows: the table of the terminal as HTML."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import TYPE_CHECKING, Any

from benchwright.results import Comparison, LoadComparison, Verdict

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 110
"""Characters per line; a cell of a notebook scrolls if it is narrower."""
_FRAME = '<pre style="white-space:pre;overflow-x:auto;line-height:1.3">{code}</pre>'


def notebook_html(shown: RenderableType) -> str:
    """A rich renderable as a piece of HTML, with every text in it escaped."""
    from rich.console import Console

    console = Console(
        file=StringIO(),
        record=True,
        width=_WIDTH,
        force_jupyter=False,
        force_terminal=True,
        legacy_windows=False,
    )
    console.print(shown)
    return console.export_html(inline_styles=True, code_format=_FRAME)


def in_notebook(view: object) -> str:
    """A value that is shown in notebooks, as HTML."""
    from benchwright.reports.terminal.comparison import comparison_table
    from benchwright.reports.terminal.load_comparison import load_comparison_table
    from benchwright.reports.terminal.verdict import verdict_table

    draw: dict[type, Callable[[Any], RenderableType]] = {
        Comparison: comparison_table,
        LoadComparison: load_comparison_table,
        Verdict: verdict_table,
    }
    return notebook_html(draw[type(view)](view))
