"""Values that a notebook shows as a table."""

from __future__ import annotations

from importlib import import_module


class ShownInNotebooks:
    """A value that notebooks show as the terminal does. Its room does not know who draws it: `reports` is found by name, when a
    notebook asks."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """The HTML that a notebook shows."""
        shown: str = import_module("benchwright.reports").in_notebook(self)
        return shown
