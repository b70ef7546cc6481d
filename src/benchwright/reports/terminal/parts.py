"""What several tables share: a grid of labels, sections under headings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from benchwright.core import printable

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
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
