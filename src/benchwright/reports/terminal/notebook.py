"""What a notebook shows: the table of the terminal as HTML."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

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
